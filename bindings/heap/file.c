/* bindings/heap/file.c - the file that other processes map, and which of its places are free.
 *
 * It is made when the library first asks for it, and never shrinks. Places that a fork has frozen come back when no
 * process lives that has inherited them: until then nobody may write there. */
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_BYTES ((uint64_t)256 << 30) /* each rank maps those of all others */
enum { DESCRIPTOR_LEAST = 500, RANGES = 8192, LOOK_MS = 100 };

typedef struct range {
  uint32_t place, count;
} range;

typedef struct inherited { /* by processes of forks after the first `taken`, up to the first `until` */
  range at;
  uint32_t taken, until;
} inherited;

static struct {
  int fd;
  uint64_t inode, device;
  uint32_t total, used; /* granules; those from `used` on were never taken */
  range free[RANGES];   /* by place; none touches the next */
  inherited inherited[RANGES];
  uint32_t free_count, inherited_count;
  uint32_t looked_ms; /* when it was asked last who lives */
} file = {.fd = -1};

/* A file beyond the process's limit would be its end. */
static uint64_t file_bytes(void) {
  struct rlimit limit;
  uint64_t bytes = tt_heap.bytes < MOST_BYTES ? tt_heap.bytes : MOST_BYTES;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes)
    bytes = limit.rlim_cur / HEAP_GRANULE * HEAP_GRANULE;
  return bytes;
}

/* At a number where programs do not look for theirs. */
static int open_file(uint64_t bytes) {
  int low = memfd_create("tutti-heap", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  int fd = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, DESCRIPTOR_LEAST);
  if (fd >= 0)
    close(low);
  else
    fd = low;
  if (fd >= 0 && (ftruncate(fd, (off_t)bytes) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)) {
    close(fd);
    return -1;
  }
  return fd;
}

/* 0, or why there is none. */
static int make_file(void) {
  uint64_t bytes = file_bytes();
  struct stat about;
  if (file.total > 0)
    return 0;
  if (bytes == 0)
    return EFBIG;
  int fd = open_file(bytes);
  if (fd < 0 || fstat(fd, &about) != 0)
    return errno;
  file.fd = fd;
  file.inode = about.st_ino;
  file.device = about.st_dev;
  file.total = (uint32_t)(bytes / HEAP_GRANULE);
  return 0;
}

bool tt_heap_file_is_ours(void) {
  struct stat about;
  return file.fd >= 0 && fstat(file.fd, &about) == 0 && about.st_ino == file.inode && about.st_dev == file.device;
}

bool tt_heap_file_tell(tt_heap_file *made) {
  static bool told;
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  tt_heap_lock();
  int error = tt_heap.child ? 0 : make_file();
  bool there = !tt_heap.child && error == 0 && tt_heap_file_is_ours(), tell = error != 0 && !told;
  told |= tell;
  if (there) {
    tt_heap_check_statics();
    *made = (tt_heap_file){file.fd, file.inode, (uint64_t)file.total * HEAP_GRANULE};
  }
  tt_heap_unlock();
  if (tell)
    tt_heap_tell(error == EFBIG ? "the length of files is limited (ulimit -f)" : strerror(error),
                 "there is no memory that others can read");
  pthread_setcancelstate(cancel, NULL);
  return there;
}

bool tt_heap_file_is(uint64_t device, uint64_t inode) { return inode == file.inode && device == file.device; }

void *tt_heap_file_map(void *at, uint64_t offset, size_t bytes, int prot, bool shared) {
  int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE | (at ? MAP_FIXED : 0);
  if (!tt_heap_file_is_ours())
    return NULL;
  void *made = mmap(at, bytes, prot, flags, file.fd, (off_t)offset);
  return made != MAP_FAILED ? made : NULL;
}

void *tt_heap_place_map(void *at, uint32_t place, size_t bytes, bool shared) {
  return tt_heap_file_map(at, (uint64_t)place * HEAP_GRANULE, bytes, PROT_READ | PROT_WRITE, shared);
}

/* ---- places ---- */

/* Not by the C library's name, at which a thread may be cancelled, with the lock. */
bool tt_heap_place_empty(uint32_t place, uint32_t count) {
  int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return tt_heap_file_is_ours() &&
         syscall(SYS_fallocate, file.fd, mode, (off_t)(place * HEAP_GRANULE), (off_t)tt_heap_size(count)) == 0;
}

static void cut_out(uint32_t n) {
  memmove(&file.free[n], &file.free[n + 1], (--file.free_count - n) * sizeof file.free[0]);
}

/* Where there is no room for one more, the place is never used again. */
void tt_heap_place_give(uint32_t place, uint32_t count) {
  uint32_t n = 0;
  range *at = file.free;
  while (n < file.free_count && at[n].place < place)
    n++;
  bool after = n > 0 && at[n - 1].place + at[n - 1].count == place;
  bool before = n < file.free_count && place + count == at[n].place;
  if (after) {
    at[n - 1].count += count + (before ? at[n].count : 0);
    if (before)
      cut_out(n);
  } else if (before) {
    at[n] = (range){place, count + at[n].count};
  } else if (file.free_count < RANGES) {
    memmove(&at[n + 1], &at[n], (file.free_count++ - n) * sizeof at[0]);
    at[n] = (range){place, count};
  }
}

bool tt_heap_place_may_leave(void) { return file.inherited_count < RANGES; }

void tt_heap_place_leave(uint32_t place, uint32_t count, uint32_t taken) {
  uint32_t until = tt_heap_forks();
  for (uint32_t n = 0; n < file.inherited_count; n++) {
    inherited *of = &file.inherited[n];
    bool behind = of->at.place + of->at.count == place, before = place + count == of->at.place;
    if (of->taken != taken || of->until != until || !(behind || before))
      continue;
    of->at = (range){before ? place : of->at.place, of->at.count + count};
    return;
  }
  if (file.inherited_count < RANGES)
    file.inherited[file.inherited_count++] = (inherited){{place, count}, taken, until};
}

void tt_heap_take_back(void) {
  if (file.inherited_count == 0 || tt_heap.child) /* to a child the places do not belong */
    return;
  uint32_t now_ms = tt_heap_now_ms(), kept = 0;
  if (now_ms - file.looked_ms < LOOK_MS)
    return;
  file.looked_ms = now_ms;
  for (uint32_t n = 0; n < file.inherited_count; n++) {
    const inherited *of = &file.inherited[n];
    if (!tt_heap_has_heirs(of->taken, of->until) && tt_heap_place_empty(of->at.place, of->at.count))
      tt_heap_place_give(of->at.place, of->at.count);
    else
      file.inherited[kept++] = *of;
  }
  file.inherited_count = kept;
}

uint32_t tt_heap_place_take(uint32_t count) {
  tt_heap_take_back();
  for (uint32_t n = 0; n < file.free_count; n++) {
    range *found = &file.free[n];
    uint32_t place = found->place;
    if (found->count < count)
      continue;
    *found = (range){place + count, found->count - count};
    if (found->count == 0)
      cut_out(n);
    return place;
  }
  if (count > file.total - file.used)
    return HEAP_NONE;
  file.used += count;
  return file.used - count;
}
