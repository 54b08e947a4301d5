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
static bool copy_out(void *at, size_t bytes) {
  heap_hold held = {.fd = -1};
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    return false;
  (void)tt_heap_hold(&held, at, bytes);
  memcpy(made, at, bytes);
  bool moved = syscall(SYS_mremap, made, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
               (long)(uintptr_t)at; /* no hook's mremap: see share.c */
  tt_heap_let_go(&held);
  return moved;
}

void tt_heap_freeze(void *at, uint32_t place, size_t bytes) {
  if (!tt_heap_place_map(at, place, bytes, false) && !copy_out(at, bytes))
    tt_heap_die("fork: no memory for the child's copy of the heap\n");
}

static void freeze_run(uint32_t first) {
  heap_granule *run = tt_heap_of(first), *last = run + run->count - 1;
  tt_heap_freeze(tt_heap_at(first), run->place, tt_heap_size(run->count));
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
  tt_heap_freeze_statics(); /* nobody writes to their places any more: heirs do not matter */
  return any;
}

/* false: this thread has it, and a signal's handler forks. Then nothing can be frozen. */
static bool lock(void) {
  if (tt_heap_inside)
    return false;
  tt_heap_lock();
  return true;
}

static bool locked; /* by the fork that goes on */

static void before(void) {
  int error = errno;
  locked = lock();
  if (locked)
    tt_heap_expect_heir(freeze());
  errno = error;
}

static void after_in_parent(void) {
  if (locked)
    tt_heap_unlock();
}

static void after_in_child(void) {
  int error = errno;
  tt_heap.child = true;
  if (locked) {
    tt_heap_be_heir();
    tt_heap_unlock();
  }
  errno = error;
}

void tt_heap_watch_forks(void) { pthread_atfork(before, after_in_parent, after_in_child); }

static bool has_shared(void) {
  if (!lock())
    return false;
  bool has = tt_heap_has_shared_statics();
  for (uint32_t n = 0; n < tt_heap.used && !has; n += tt_heap_of(n)->count)
    has = tt_heap_of(n)->kind == HEAP_SHARED;
  tt_heap_unlock();
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

static pid_t fork_by(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  pid_t (*make_child)(void);
  memcpy(&make_child, &found, sizeof make_child);
  if (found)
    return make_child();
  errno = ENOSYS;
  return -1;
}

static bool may_fork(void) {
  bool may = tt_heap.bytes == 0 || can_freeze();
  if (!may)
    errno = ENOMEM;
  return may;
}

static void look_at(pid_t child) {
  if (child < 0 && tt_heap.bytes > 0 && locked)
    tt_heap_expect_no_heir();
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED pid_t fork(void);
EXPORTED pid_t _Fork(void);

pid_t fork(void) {
  pid_t child = may_fork() ? fork_by("fork") : -1;
  look_at(child);
  return child;
}

/* Calls no handlers, so that a signal's handler may call it. The C library's fork does not come by here. */
pid_t _Fork(void) {
  if (tt_heap.bytes == 0)
    return fork_by("_Fork");
  if (!may_fork())
    return -1;
  bool had = locked; /* another fork is under way, and this is called by a handler */
  before();
  pid_t child = fork_by("_Fork");
  (child == 0 ? after_in_child : after_in_parent)();
  look_at(child);
  locked = had;
  return child;
}
