/* bindings/heap/file.c - the file that other processes map, and which of its places are free.
 *
 * It is made when the library first asks for it, and never shrinks. Places that a fork has frozen come back when no
 * process lives that has inherited them: until then nobody may write there. */
#include "heap.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((uint64_t)256 << 30) /* each rank maps those of all others */
enum { DESCRIPTOR_LEAST = 500, RANGES = 8192 };

typedef struct range {
  uint32_t place, count;
} range;

typedef struct ranges {
  range at[RANGES]; /* by place; none touches the next */
  uint32_t count;
} ranges;

static struct {
  int fd;
  uint64_t inode, device;
  uint32_t total, used;   /* granules; those from `used` on were never taken */
  ranges free, inherited; /* before it */
} file = {.fd = -1};

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

bool tt_heap_file_make(void) {
  uint64_t bytes = tt_heap.bytes < MOST_BYTES ? tt_heap.bytes : MOST_BYTES;
  struct stat about;
  if (file.total > 0)
    return true;
  int fd = open_file(bytes);
  if (fd < 0 || fstat(fd, &about) != 0)
    return false;
  file.fd = fd;
  file.inode = about.st_ino;
  file.device = about.st_dev;
  file.total = (uint32_t)(bytes / HEAP_GRANULE);
  return true;
}

bool tt_heap_file_is_ours(void) {
  struct stat about;
  return file.fd >= 0 && fstat(file.fd, &about) == 0 && about.st_ino == file.inode && about.st_dev == file.device;
}

bool tt_heap_file_tell(tt_heap_file *made) {
  pthread_mutex_lock(&tt_heap.lock);
  bool there = !tt_heap.child && tt_heap_file_make() && tt_heap_file_is_ours();
  if (there)
    *made = (tt_heap_file){file.fd, file.inode, (uint64_t)file.total * HEAP_GRANULE};
  pthread_mutex_unlock(&tt_heap.lock);
  return there;
}

void *tt_heap_place_map(void *at, uint32_t place, uint32_t count, bool shared) {
  int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_NORESERVE | (at ? MAP_FIXED : 0);
  off_t offset = (off_t)place * (off_t)HEAP_GRANULE;
  if (!tt_heap_file_is_ours())
    return NULL;
  void *made = mmap(at, tt_heap_size(count), PROT_READ | PROT_WRITE, flags, file.fd, offset);
  return made != MAP_FAILED ? made : NULL;
}

/* ---- places ---- */

static void cut_out(ranges *of, uint32_t n) {
  memmove(&of->at[n], &of->at[n + 1], (--of->count - n) * sizeof of->at[0]);
}

/* Where there is no room for one more, it is lost. */
static void add(ranges *to, range more) {
  uint32_t n = 0;
  while (n < to->count && to->at[n].place < more.place)
    n++;
  bool after = n > 0 && to->at[n - 1].place + to->at[n - 1].count == more.place;
  bool before = n < to->count && more.place + more.count == to->at[n].place;
  if (after) {
    to->at[n - 1].count += more.count + (before ? to->at[n].count : 0);
    if (before)
      cut_out(to, n);
  } else if (before) {
    to->at[n] = (range){more.place, more.count + to->at[n].count};
  } else if (to->count < RANGES) {
    memmove(&to->at[n + 1], &to->at[n], (to->count++ - n) * sizeof to->at[0]);
    to->at[n] = more;
  }
}

static bool punch(range of) {
  void *made = tt_heap_place_map(NULL, of.place, of.count, true);
  bool gone = made && madvise(made, tt_heap_size(of.count), MADV_REMOVE) == 0;
  if (made)
    munmap(made, tt_heap_size(of.count));
  return gone;
}

static void take_back(void) {
  if (file.inherited.count == 0 || tt_heap_has_heirs())
    return;
  for (uint32_t n = 0; n < file.inherited.count; n++)
    if (punch(file.inherited.at[n]))
      add(&file.free, file.inherited.at[n]);
  file.inherited.count = 0;
}

uint32_t tt_heap_place_take(uint32_t count) {
  take_back();
  for (uint32_t n = 0; n < file.free.count; n++) {
    range *found = &file.free.at[n];
    uint32_t place = found->place;
    if (found->count < count)
      continue;
    *found = (range){place + count, found->count - count};
    if (found->count == 0)
      cut_out(&file.free, n);
    return place;
  }
  if (count > file.total - file.used)
    return HEAP_NONE;
  file.used += count;
  return file.used - count;
}

void tt_heap_place_give(uint32_t place, uint32_t count, bool inherited) {
  add(inherited ? &file.inherited : &file.free, (range){place, count});
}
