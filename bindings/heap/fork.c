/* bindings/heap/fork.c - after a fork parent and child have their own memory, as without a heap.
 *
 *     before   shared runs are mapped anew, private, over what is in the file: the system's copy on write is the
 *              snapshot, and nobody writes to these places any more. Peers that still read there find what they were to
 *     after    the parent's blocks move into the file again, to another place, when calls use them
 *     heirs    who lives of those that have inherited places: each child holds a mutex that the system opens when the
 *              child ends or runs another program. Forks are counted: a child of the n-th has what was taken before
 *              and left after it, and so have its own children */
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HEIRS = 128 };

typedef enum heir_state { HEIR_NONE, HEIR_EXPECTED, HEIR_LIVES } heir_state;

typedef struct heir { /* in memory that all of them share */
  pthread_mutex_t alive;
  _Atomic int state;
  uint32_t fork; /* of the file's owner, from which it comes */
  pid_t process;
  uint64_t namespace; /* of process numbers; 0: not known */
} heir;

static struct {
  heir at[HEIRS];
  _Atomic uint32_t expected; /* how often one was */
  _Atomic uint32_t lost[2];  /* children of these forks, and those between, could not be looked after: they live on */
} *heirs;                    /* NULL: none was ever expected */

static struct {
  uint32_t count; /* forks of the owner; a child's stays that of the fork from which it comes */
  heir *expected; /* of the fork that is under way */
  int error;      /* errno before it */
  bool blind;     /* there is no memory to look after any */
} forks;

uint32_t tt_heap_forks(void) { return forks.count; }

static bool make_heirs(void) {
  pthread_mutexattr_t robust;
  void *made = mmap(NULL, sizeof *heirs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return false;
  heirs = made;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  for (int n = 0; n < HEIRS; n++)
    pthread_mutex_init(&heirs->at[n].alive, &robust);
  pthread_mutexattr_destroy(&robust);
  return true;
}

/* ---- who lives ---- */

static uint64_t namespace_of_processes(void) {
  struct stat about;
  return stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/* The mutex is its first thread's. Whether that alone has ended, and other threads go on: its state is Z, and there are
 * others. A process that runs another program has another state, one that has ended no other thread. */
static bool goes_on(const heir *of) {
  char path[64], text[512] = "", state = '?';
  int cancel;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)of->process);
  if (of->namespace == 0 || of->namespace != namespace_of_processes())
    return true;                                           /* who knows */
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* whoever calls this has the lock */
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
  if (fd >= 0)
    close(fd);
  pthread_setcancelstate(cancel, NULL);
  const char *at = got > 0 ? strrchr(text, ')') : NULL; /* field 2 ends there */
  if (!at)
    return errno == EMFILE || errno == ENFILE;
  sscanf(at, ") %c", &state);
  for (int field = 2; at && field < 20; field++)
    at = strchr(at + 1, ' ');
  return state == 'Z' && at && strtol(at, NULL, 10) > 1;
}

/* One whose process was expected, and has not come, may still come. Several processes may look: the state changes only
 * in the hands of who has the mutex, or from none. */
static bool lives(heir *each) {
  int lived = HEIR_LIVES, result;
  if (atomic_load_explicit(&each->state, memory_order_acquire) != HEIR_LIVES)
    return atomic_load_explicit(&each->state, memory_order_acquire) != HEIR_NONE;
  if ((result = pthread_mutex_trylock(&each->alive)) == EBUSY)
    return true;
  if (result == EOWNERDEAD)
    pthread_mutex_consistent(&each->alive);
  else if (result != 0)
    return true;
  if (!goes_on(each))
    atomic_compare_exchange_strong_explicit(&each->state, &lived, HEIR_NONE, memory_order_acq_rel,
                                            memory_order_relaxed);
  pthread_mutex_unlock(&each->alive);
  return atomic_load_explicit(&each->state, memory_order_acquire) != HEIR_NONE;
}

/* A child that ends may have had children meanwhile, in places that were looked at before. */
bool tt_heap_has_heirs(uint32_t from, uint32_t to) {
  uint32_t before, after;
  if (!heirs)
    return forks.blind;
  do {
    before = atomic_load_explicit(&heirs->expected, memory_order_acquire);
    uint32_t first = atomic_load_explicit(&heirs->lost[0], memory_order_acquire);
    if (first > 0 && first <= to && atomic_load_explicit(&heirs->lost[1], memory_order_acquire) > from)
      return true;
    for (heir *each = heirs->at; each < heirs->at + HEIRS; each++)
      if (lives(each) && each->fork > from && each->fork <= to)
        return true;
    after = atomic_load_explicit(&heirs->expected, memory_order_acquire);
  } while (before != after);
  return false;
}

static bool is_taken(heir *each) {
  int none = HEIR_NONE;
  return !lives(each) && atomic_compare_exchange_strong_explicit(&each->state, &none, HEIR_EXPECTED,
                                                                 memory_order_acq_rel, memory_order_relaxed);
}

/* Of several processes the widest range stays: each only makes it wider. */
static void lose(void) {
  uint32_t first = atomic_load_explicit(&heirs->lost[0], memory_order_relaxed);
  uint32_t last = atomic_load_explicit(&heirs->lost[1], memory_order_relaxed);
  while (last < forks.count && !atomic_compare_exchange_weak_explicit(&heirs->lost[1], &last, forks.count,
                                                                      memory_order_release, memory_order_relaxed))
    ;
  while ((first == 0 || first > forks.count) &&
         !atomic_compare_exchange_weak_explicit(&heirs->lost[0], &first, forks.count, memory_order_release,
                                                memory_order_relaxed))
    ;
}

static void expect(void) {
  forks.blind = forks.blind || (!heirs && !make_heirs());
  for (int n = 0; heirs && n < HEIRS && !forks.expected; n++)
    forks.expected = is_taken(&heirs->at[n]) ? &heirs->at[n] : NULL;
  if (forks.expected) {
    forks.expected->fork = forks.count;
    forks.expected->namespace = 0;
  } else if (heirs)
    lose();
  if (heirs)
    atomic_fetch_add_explicit(&heirs->expected, 1, memory_order_release);
}

/* ---- the snapshot ---- */

/* Where the program has closed the file's descriptor: its own memory with the same contents. Threads that write to it
 * meanwhile wait, where the system can do that. */
static bool copy_out(uint32_t first, uint32_t count) {
  heap_hold held = {.fd = -1};
  size_t bytes = tt_heap_size(count);
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    return false;
  (void)tt_heap_hold(&held, tt_heap_at(first), bytes);
  memcpy(made, tt_heap_at(first), bytes);
  bool moved = syscall(SYS_mremap, made, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, tt_heap_at(first)) ==
               (long)(uintptr_t)tt_heap_at(first); /* no hook's mremap: see share.c */
  tt_heap_let_go(&held);
  return moved;
}

static void freeze_run(uint32_t first) {
  heap_granule *run = tt_heap_of(first), *last = run + run->count - 1;
  if (!tt_heap_place_map(tt_heap_at(first), run->place, run->count, false) && !copy_out(first, run->count))
    tt_heap_die("fork: no memory for the child's copy of the heap\n");
  run->kind = last->kind = HEAP_FROZEN;
}

/* Also free ones: the child could take them for a block. Returns whether there was any. */
static bool freeze(void) {
  bool any = false;
  for (uint32_t n = 0; n < tt_heap.used; n += tt_heap_of(n)->count) {
    any |= tt_heap_of(n)->kind != HEAP_PRIVATE;
    if (tt_heap_of(n)->kind == HEAP_SHARED)
      freeze_run(n);
  }
  return any;
}

static void before(void) {
  forks.error = errno;
  pthread_mutex_lock(&tt_heap.lock);
  forks.count += tt_heap.child ? 0 : 1;
  forks.expected = NULL;
  if (freeze())
    expect();
  errno = 0;
}

/* Also where there is no child: then errno says why. */
static void after_in_parent(void) {
  if (errno != 0 && forks.expected)
    atomic_store_explicit(&forks.expected->state, HEIR_NONE, memory_order_release);
  else if (errno == 0)
    errno = forks.error;
  pthread_mutex_unlock(&tt_heap.lock);
}

static void after_in_child(void) {
  heir *own = forks.expected;
  tt_heap.child = true;
  errno = forks.error;
  if (own && pthread_mutex_lock(&own->alive) == 0) { /* else it stays expected for ever */
    own->process = getpid();
    own->namespace = namespace_of_processes();
    atomic_store_explicit(&own->state, HEIR_LIVES, memory_order_release);
  }
  pthread_mutex_unlock(&tt_heap.lock);
}

void tt_heap_watch_forks(void) { pthread_atfork(before, after_in_parent, after_in_child); }
