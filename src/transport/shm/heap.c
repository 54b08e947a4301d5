/* transport/shm/heap.c - blocks of malloc that other ranks read where they lie: those of libtutti-heap.so, where that
 * was preloaded.
 *
 * When the job is made each rank maps the files of all others, whole, to be read: pages come as they are touched. It is
 * used where all ranks of the job could. The file is opened by way of the other process's descriptor, read-only, so
 * that the system refuses a map that writes. */
#include "transport/shm/self.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_BYTES ((uint64_t)64 << 20)

/* NULL: it was not preloaded, or is another version. */
static const tt_heap_offer *find_offer(void) {
  void *found = dlsym(RTLD_DEFAULT, TT_HEAP_OFFER);
  tt_heap_offer_function *ask = NULL;
  memcpy(&ask, &found, sizeof ask);
  const tt_heap_offer *offer = ask != NULL ? ask() : NULL;
  return offer != NULL && offer->version == TT_HEAP_VERSION ? offer : NULL;
}

static bool find_file(tt_heap_file *file) {
  const tt_heap_offer *offer = find_offer();
  return offer != NULL && offer->file(file);
}

bool tt_shm_heap_is_here(void) {
  tt_heap_file file;
  return find_file(&file);
}

void tt_shm_heap_show(tt_shm_rank *rank) {
  tt_heap_file file;
  rank->heap_fd = -1;
  if (!find_file(&file))
    return;
  rank->heap_fd = file.descriptor;
  rank->heap_inode = file.inode;
  rank->heap_bytes = file.bytes;
}

/* Whether what that path leads to is the rank's file: told before it is opened, as opening what is not could wait, or
 * do something. own: this rank's file: all such files of a system are on one device. */
static int check_file(const char *path, const tt_shm_rank *rank, const struct stat *own) {
  struct stat about;
  if (stat(path, &about) != 0)
    return errno;
  bool is = S_ISREG(about.st_mode) && about.st_dev == own->st_dev && about.st_ino == rank->heap_inode &&
            (uint64_t)about.st_size >= rank->heap_bytes;
  return is ? 0 : ESTALE;
}

/* 0, or why not. Nothing of it can be read yet: see tt_shm_heap_at. */
static int map(const tt_shm_rank *rank, const struct stat *own, tt_shm_heap *heap) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%" PRId32 "/fd/%" PRId32, rank->pid, rank->heap_fd);
  int error = check_file(path, rank, own), fd = error ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (error || fd < 0)
    return error ? error : errno;
  void *base = mmap(NULL, rank->heap_bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  error = base == MAP_FAILED ? errno : 0;
  close(fd);
  if (error)
    return error;
  madvise(base, rank->heap_bytes, MADV_DONTFORK);
  madvise(base, rank->heap_bytes, MADV_DONTDUMP);
  *heap = (tt_shm_heap){.base = base, .bytes = rank->heap_bytes};
  return 0;
}

/* What is not in use cannot be read: else mlockall would make memory of it. */
const void *tt_shm_heap_at(tt_shm_heap *heap, uint64_t offset, size_t bytes) {
  uint64_t end = tt_shm_round(offset + bytes, OPEN_BYTES);
  end = end < heap->bytes ? end : heap->bytes;
  assert(offset <= heap->bytes && bytes <= heap->bytes - offset);
  if (end > heap->open && mprotect(heap->base + heap->open, end - heap->open, PROT_READ) != 0)
    return NULL;
  heap->open = end > heap->open ? end : heap->open;
  return heap->base + offset;
}

void tt_shm_heap_map(tt_shm *self, tt_shm_finding *mine) {
  self->offer = find_offer();
  self->heap = calloc((size_t)self->rank_count, sizeof *self->heap);
  tt_heap_file file;
  struct stat own;
  bool has = find_file(&file) && fstat(file.descriptor, &own) == 0;
  mine->heap_error = self->heap == NULL ? ENOMEM : 0;
  for (int64_t r = 0; r < self->rank_count && mine->heap_error == 0; r++) {
    const tt_shm_rank *rank = tt_shm_rank_of(self, r);
    if (tt_shm_is_here(rank) && r != self->rank)
      mine->heap_error = has && rank->heap_fd >= 0 ? map(rank, &own, &self->heap[r]) : ENOENT;
  }
}

void tt_shm_heap_open(tt_shm *self, const tt_shm_finding *all) {
  for (int64_t r = 0; r < self->rank_count && self->heap; r++)
    if (all[r].heap_error != 0) {
      if (self->rank == 0)
        tt_log(TT_LOG_WARN, "TUTTI_HEAP: rank %" PRId64 " cannot map other ranks' memory: %s", r,
               strerror(all[r].heap_error));
      tt_shm_heap_close(self);
    }
}

void tt_shm_heap_close(tt_shm *self) {
  for (int64_t r = 0; self->heap && r < self->rank_count; r++)
    if (self->heap[r].base != NULL)
      munmap(self->heap[r].base, self->heap[r].bytes);
  free(self->heap);
  self->heap = NULL;
}

int tt_shm_lending(void *self, int begins) {
  const tt_shm *shm = self;
  if (shm->heap != NULL)
    shm->offer->lending(begins);
  return shm->heap != NULL;
}

void tt_shm_use(void *self, const void *data, size_t bytes) {
  const tt_shm *shm = self;
  if (shm->heap != NULL)
    shm->offer->use(data, bytes);
}
