/* bindings/heap/fork.c - after a fork parent and child have their own memory, as without a heap.
 *
 *     before   shared runs are mapped anew, private, over what is in the file: the system's copy on write is the
 *              snapshot, and nobody writes to these places any more. Peers that still read there find what they were to
 *     after    the parent's blocks move into the file again, to another place, when calls use them; the old one is
 *              used again when nobody lives who has inherited it (heirs.c) */
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  int error = errno;
  pthread_mutex_lock(&tt_heap.lock);
  tt_heap_expect_heir(freeze());
  errno = error;
}

static void after_in_parent(void) { pthread_mutex_unlock(&tt_heap.lock); }

static void after_in_child(void) {
  int error = errno;
  tt_heap.child = true;
  tt_heap_be_heir();
  pthread_mutex_unlock(&tt_heap.lock);
  errno = error;
}

void tt_heap_watch_forks(void) { pthread_atfork(before, after_in_parent, after_in_child); }

static bool has_shared(void) {
  bool has = false;
  pthread_mutex_lock(&tt_heap.lock);
  for (uint32_t n = 0; n < tt_heap.used && !has; n += tt_heap_of(n)->count)
    has = tt_heap_of(n)->kind == HEAP_SHARED;
  pthread_mutex_unlock(&tt_heap.lock);
  return has;
}

/* Beyond a limit that the program has set itself the system maps nothing any more, not even over what is there: then
 * there can be no child, which is better than a parent that dies. */
static bool can_freeze(void) {
  void *made = mmap(NULL, HEAP_GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    return !has_shared();
  munmap(made, HEAP_GRANULE);
  return true;
}

__attribute__((visibility("default"))) pid_t fork(void) {
  if (tt_heap.bytes > 0 && !can_freeze()) {
    errno = ENOMEM;
    return -1;
  }
  void *found = dlsym(RTLD_NEXT, "fork");
  pid_t (*make_child)(void);
  memcpy(&make_child, &found, sizeof make_child);
  pid_t child = make_child();
  if (child < 0 && tt_heap.bytes > 0)
    tt_heap_expect_no_heir();
  return child;
}
