/* transport/shm/segment.c - making, mapping and locking the segment.
 *
 * Address space is reserved first and mapped over later, so that all ranks can agree on the least of what each may have
 * (RLIMIT_AS). The file is sealed against shrinking: no rank can take memory from under another. */
#include "transport/shm/segment.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(tt_shm_rank) == TT_SHM_LINE, "what a rank shows is one line");
_Static_assert(sizeof(tt_shm_block) == TT_SHM_LINE, "a block's own data is its first line");
_Static_assert(offsetof(tt_shm_head, lock) % TT_SHM_LINE == 0 && offsetof(tt_shm_head, rank) % TT_SHM_LINE == 0,
               "`deaths`, which all look at, and ranks share no line with the lock");
_Static_assert(TT_SHM_PIECE % TT_SHM_PAGE == 0, "pieces are of whole pages");
#define BYTES_MINIMUM (16u << 20)
#define LOCK_TRIES 1000

/* At most a quarter of what a limit allows: the rest is the program's. */
static uint64_t within_limit(uint64_t bytes, int resource) {
  struct rlimit limit;
  if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return bytes;
  while (bytes > BYTES_MINIMUM && bytes > limit.rlim_cur / 4)
    bytes /= 2;
  return bytes;
}

/* A program under mlockall(MCL_FUTURE) may lock less than that. */
static tutti_status fail_reserve(int error) {
  return tt_fail(TUTTI_ERR_MEMORY, "mmap of %u MiB of address space for the shared segment failed: %s (see ulimit -%c)",
                 BYTES_MINIMUM >> 20, strerror(error), error == EAGAIN ? 'l' : 'v');
}

tutti_status tt_shm_reserve(uint64_t *bytes, void **base) {
  uint64_t size = within_limit(within_limit(*bytes, RLIMIT_AS), RLIMIT_FSIZE);
  void *address = MAP_FAILED;
  for (;;) {
    address = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address != MAP_FAILED || size / 2 < BYTES_MINIMUM)
      break;
    size /= 2;
  }
  if (address == MAP_FAILED)
    return fail_reserve(errno);
  munlock(address, size); /* as in map */
  *bytes = size;
  *base = address;
  return TUTTI_OK;
}

static uint64_t head_bytes(int64_t rank_count) {
  return tt_shm_round(sizeof(tt_shm_head) + (uint64_t)rank_count * sizeof(tt_shm_rank), TT_SHM_PAGE);
}

static tutti_status fail_fd(int fd, tutti_status status, const char *call, uint64_t bytes) {
  int error = errno;
  close(fd);
  return tt_fail(status, "%s of %" PRIu64 " bytes of shared memory failed: %s", call, bytes, strerror(error));
}

/* A file longer than the limit is a signal, which ends the process. */
static tutti_status check_file_limit(uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_MEMORY,
                 "the shared segment of %" PRIu64 " bytes is larger than a file may be: %" PRIu64 " (see ulimit -f)",
                 bytes, (uint64_t)limit.rlim_cur);
}

tutti_status tt_shm_create(uint64_t bytes, int64_t rank_count, int *fd) {
  tutti_status status = check_file_limit(bytes);
  if (status != TUTTI_OK)
    return status;
  int file = memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "memfd_create of the shared segment failed: %s", strerror(errno));
  if (ftruncate(file, (off_t)bytes) != 0)
    return fail_fd(file, TUTTI_ERR_SYSTEM, "ftruncate", bytes);
  if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return fail_fd(file, TUTTI_ERR_SYSTEM, "fcntl(F_ADD_SEALS)", bytes);
  int failed;
  do {
    failed = fallocate(file, 0, 0, (off_t)head_bytes(rank_count));
  } while (failed && errno == EINTR);
  if (failed)
    return fail_fd(file, TUTTI_ERR_MEMORY, "fallocate", head_bytes(rank_count));
  *fd = file;
  return TUTTI_OK;
}

/* Under mlockall(MCL_FUTURE) the system makes memory of all that can be used, at once, and counts it as locked. */
static void *map(int fd, void *base, uint64_t bytes) {
  void *address = mmap(base, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
  if (address == MAP_FAILED)
    return MAP_FAILED;
  munlock(address, bytes);
  return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0 ? address : MAP_FAILED;
}

tutti_status tt_shm_map_take(int fd, void *base, uint64_t reserved, uint64_t bytes, tt_shm_segment **segment) {
  assert(bytes <= reserved);
  void *address = map(fd, base, bytes);
  if (address == MAP_FAILED) {
    tutti_status status = fail_fd(fd, TUTTI_ERR_MEMORY, "mmap", bytes);
    munmap(base, reserved);
    return status;
  }
  if (reserved > bytes)
    munmap((char *)base + bytes, reserved - bytes);
  madvise(address, bytes, MADV_DONTDUMP); /* a core file as long as the segment helps nobody */
  tt_shm_segment *made = calloc(1, sizeof *made);
  if (made == NULL) {
    munmap(address, bytes);
    close(fd);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the shared segment's handle");
  }
  *made = (tt_shm_segment){.head = address, .bytes = bytes, .file = tt_file_of(fd), .process = getpid()};
  atomic_init(&made->users, 1);
  *segment = made;
  return TUTTI_OK;
}

tutti_status tt_shm_head_init(tt_shm_segment *segment, int64_t rank_count) {
  tt_shm_head *head = segment->head;
  head->bytes = segment->bytes;
  head->rank_count = rank_count;
  head->bump = head_bytes(rank_count);
  assert(head->bump % TT_SHM_PAGE == 0 && head->bump < head->bytes);
  pthread_mutexattr_t attribute;
  pthread_mutexattr_init(&attribute);
  pthread_mutexattr_setpshared(&attribute, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attribute, PTHREAD_MUTEX_ROBUST);
  int error = pthread_mutex_init(&head->lock, &attribute);
  pthread_mutexattr_destroy(&attribute);
  return error == 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_SYSTEM, "pthread_mutex_init failed: %s", strerror(error));
}

void tt_shm_unmap(tt_shm_segment *segment) {
  if (segment == NULL || atomic_fetch_sub_explicit(&segment->users, 1, memory_order_acq_rel) > 1)
    return;
  munmap(segment->head, segment->bytes);
  if (tt_file_is_open(&segment->file))
    close(segment->file.fd);
  free(segment);
}

/* It is held for less time than it takes to sleep and wake up. */
static int lock_soon(pthread_mutex_t *lock) {
  int error = pthread_mutex_trylock(lock);
  for (int n = 0; error == EBUSY && n < LOCK_TRIES; n++) {
    tt_relax();
    error = pthread_mutex_trylock(lock);
  }
  return error;
}

static int lock_until(pthread_mutex_t *lock, int64_t timeout_ns) {
  int error = lock_soon(lock);
  if (error != EBUSY)
    return error;
  if (timeout_ns <= 0)
    return pthread_mutex_lock(lock);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  int64_t ns = until.tv_nsec + timeout_ns % 1000000000;
  until.tv_sec += timeout_ns / 1000000000 + ns / 1000000000;
  until.tv_nsec = ns % 1000000000;
  return pthread_mutex_timedlock(lock, &until);
}

/* A rank that is stopped under the lock, or that starves there. */
static tutti_status fail_held(const tt_shm_head *head, int64_t timeout_ns) {
  int32_t holder = atomic_load_explicit(&head->holder, memory_order_relaxed);
  int64_t rank = holder != 0 ? 0 : head->rank_count;
  while (rank < head->rank_count && head->rank[rank].pid != holder)
    rank++;
  return rank < head->rank_count
             ? tt_fail(TUTTI_ERR_TIMEOUT,
                       "rank %" PRId64 " (process %d) has held the lock of the shared segment for %" PRId64 " ms", rank,
                       holder, timeout_ns / 1000000)
             : tt_fail(TUTTI_ERR_TIMEOUT, "a rank has held the lock of the shared segment for %" PRId64 " ms",
                       timeout_ns / 1000000);
}

tutti_status tt_shm_lock(tt_shm_segment *segment) {
  pthread_mutex_t *lock = &segment->head->lock;
  int64_t given_ns = tt_options_get()->timeout_ns, timeout_ns = given_ns > 0 ? given_ns : segment->timeout_ns;
  int error = lock_until(lock, timeout_ns);
  if (error == EOWNERDEAD) /* each change is one store: what the dead rank left is whole */
    error = pthread_mutex_consistent(lock);
  if (error == ETIMEDOUT) {
    atomic_store_explicit(&segment->stuck, true, memory_order_relaxed);
    return fail_held(segment->head, timeout_ns);
  }
  if (error != 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "locking the shared segment failed: %s", strerror(error));
  atomic_store_explicit(&segment->head->holder, segment->process, memory_order_relaxed);
  atomic_store_explicit(&segment->stuck, false, memory_order_relaxed);
  return TUTTI_OK;
}

bool tt_shm_lock_to_free(tt_shm_segment *segment) {
  return !atomic_load_explicit(&segment->stuck, memory_order_relaxed) && tt_shm_lock(segment) == TUTTI_OK;
}

void tt_shm_unlock(tt_shm_segment *segment) {
  assert(tt_shm_has_lock(segment));
  atomic_store_explicit(&segment->head->holder, 0, memory_order_relaxed);
  pthread_mutex_unlock(&segment->head->lock);
}
