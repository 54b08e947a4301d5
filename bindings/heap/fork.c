/* bindings/heap/fork.c - after a fork parent and child have their own memory, as without a heap.
 *
 *     before   shared runs are mapped anew, private, over what is in the file: the system's copy on write is the
 *              snapshot, and nobody writes to these places any more. Peers that still read there find what they were to
 *     after    the parent's blocks move into the file again, to another place, when calls use them; the old one is
 *              used again when nobody lives who has inherited it (heirs.c) */
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <pty.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOOKS = 20 }; /* for threads that are ending */

bool tt_heap_is_alone(void) {
  struct stat threads;
  return stat("/proc/self/task", &threads) == 0 && threads.st_nlink == 3;
}

/* Where the program has closed the file's descriptor: its own memory with the same contents. Threads that write to it
 * meanwhile wait: where the system cannot do that, a process with threads does not fork. */
static bool copy_out(void *at, size_t bytes, int prot) {
  heap_hold held = {.fd = -1};
  if (!(prot & PROT_READ) && mprotect(at, bytes, PROT_READ) != 0)
    return false;
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    return false;
  (void)tt_heap_hold(&held, at, bytes);
  memcpy(made, at, bytes);
  bool moved =
      mprotect(made, bytes, prot) == 0 && syscall(SYS_mremap, made, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) ==
                                              (long)(uintptr_t)at; /* no hook's mremap: see share.c */
  tt_heap_let_go(&held);
  return moved;
}

void tt_heap_freeze(void *at, uint64_t offset, size_t bytes, int prot) {
  if (!tt_heap_file_map(at, offset, bytes, prot, false) && !copy_out(at, bytes, prot))
    tt_heap_die("fork: no memory for the child's copy of the heap\n");
}

static void freeze_piece(const heap_map *map, void *unused) {
  (void)unused;
  if (map->shared && tt_heap_file_is(map->device, map->inode))
    tt_heap_freeze(map->from, map->offset, (size_t)(map->to - map->from), map->prot);
}

bool tt_heap_freeze_pieces(void *at, size_t bytes) { return tt_heap_each_map(at, bytes, freeze_piece, NULL); }

static void freeze_run(uint32_t first, bool frozen) {
  heap_granule *run = tt_heap_of(first), *last = run + run->count - 1;
  if (!frozen)
    tt_heap_freeze(tt_heap_at(first), (uint64_t)run->place * HEAP_GRANULE, tt_heap_size(run->count),
                   PROT_READ | PROT_WRITE);
  run->kind = last->kind = HEAP_FROZEN;
}

/* Also free ones: the child could take them for a block. Returns whether there was any. */
static bool freeze(void) {
  bool any = false, shared = false;
  for (uint32_t n = 0; n < tt_heap.used; n += tt_heap_of(n)->count) {
    any |= tt_heap_of(n)->kind != HEAP_PRIVATE;
    shared |= tt_heap_of(n)->kind == HEAP_SHARED;
  }
  bool frozen = shared && tt_heap_freeze_pieces(tt_heap.base, tt_heap_size(tt_heap.used));
  for (uint32_t n = 0; shared && n < tt_heap.used; n += tt_heap_of(n)->count)
    if (tt_heap_of(n)->kind == HEAP_SHARED)
      freeze_run(n, frozen);
  tt_heap_freeze_statics(); /* their places are never used again: heirs do not matter */
  return any;
}

/* false: this thread has it, or waits for it, and a signal's handler forks. Then nothing can be frozen. */
static bool lock(void) {
  if (tt_heap_inside)
    return false;
  tt_heap_lock();
  return true;
}

static _Thread_local bool locked __attribute__((tls_model("initial-exec"))); /* by this thread's fork */

static void before(void) {
  int error = errno;
  locked = lock();
  if (locked)
    tt_heap_expect_heir(freeze());
  else
    tt_heap_lose_sight();
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
  } else {
    tt_heap_freeze_statics(); /* it is alone, and what it writes to them is not for its parent */
  }
  errno = error;
}

/* The C library's, of its list of streams: its own fork takes that lock, too, and resets it in the child. Who has it
 * may wait for a thread that waits for the heap's, as fflush(NULL) for a stream whose line grows: so it comes first. */
void _IO_list_lock(void);
void _IO_list_unlock(void);
void _IO_list_resetlock(void);

static _Thread_local bool listed __attribute__((tls_model("initial-exec"))); /* this thread's fork has that */

static void before_fork(void) {
  int error = errno;
  listed = !tt_heap_is_alone();
  if (listed)
    _IO_list_lock();
  errno = error;
  before();
}

static void after_fork_in_parent(void) {
  after_in_parent();
  if (listed)
    _IO_list_unlock();
}

static void after_fork_in_child(void) {
  after_in_child();
  if (listed)
    _IO_list_resetlock();
}

static pid_t (*next_fork)(void), (*next_Fork)(void); /* dlsym is nothing for a signal's handler */

static pid_t (*find(const char *name))(void) {
  void *found = dlsym(RTLD_NEXT, name);
  pid_t (*next)(void);
  memcpy(&next, &found, sizeof next);
  return next;
}

void tt_heap_watch_forks(void) {
  next_fork = find("fork");
  next_Fork = find("_Fork"); /* NULL: the C library is older than 2.34 */
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static bool can_hold(uint32_t first) {
  heap_hold held;
  bool can = tt_heap_hold(&held, tt_heap_at(first), tt_heap_size(tt_heap_of(first)->count));
  tt_heap_let_go(&held);
  return can;
}

/* Of all that would be frozen. *orphaned: the file cannot be mapped, and what other threads write meanwhile to some of
 * it would be lost. */
static size_t count_shared(bool *orphaned) {
  if (!lock())
    return 0;
  size_t bytes = tt_heap_statics_shared();
  bool threads = !tt_heap_file_is_ours() && !tt_heap_is_alone();
  *orphaned = threads && bytes > 0;
  for (uint32_t n = 0; n < tt_heap.used; n += tt_heap_of(n)->count)
    if (tt_heap_of(n)->kind == HEAP_SHARED) {
      bytes += tt_heap_size(tt_heap_of(n)->count);
      *orphaned |= threads && !can_hold(n);
    }
  tt_heap_unlock();
  return bytes;
}

/* Beyond a limit that the program has set itself the system maps nothing any more, not even over what is there: then
 * there can be no child, which is better than a parent that dies. What is mapped over something takes no more address
 * space, but more data. mlockall makes memory of what can be used, so that is asked for only where it must be. */
static bool can_freeze(void) {
  bool orphaned = false, data = tt_heap_is_limited(RLIMIT_DATA);
  size_t bytes = tt_heap.bytes > 0 ? count_shared(&orphaned) : 0;
  for (int n = 0; orphaned && n < LOOKS; n++) { /* a thread that has been joined may be listed for a moment */
    usleep(1000);
    bytes = count_shared(&orphaned);
  }
  if (bytes == 0)
    return true;
  if (tt_heap_is_limited(RLIMIT_AS) && !data && tt_heap_file_is_ours())
    bytes = HEAP_GRANULE;
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, prot = data ? PROT_READ | PROT_WRITE : PROT_NONE;
  void *made = orphaned ? MAP_FAILED : mmap(NULL, bytes, prot, flags, -1, 0);
  if (made == MAP_FAILED)
    return false;
  munmap(made, bytes);
  return true;
}

static pid_t fail(int error) {
  errno = error;
  return -1;
}

#define EXPORTED __attribute__((visibility("default")))
EXPORTED pid_t fork(void);
EXPORTED pid_t _Fork(void);
EXPORTED pid_t forkpty(int *terminal, char *name, const struct termios *how, const struct winsize *size);
EXPORTED int daemon(int stays, int keeps);

pid_t fork(void) {
  if (tt_heap.bytes == 0)
    return find("fork")();
  if (!can_freeze())
    return fail(ENOMEM);
  pid_t child = next_fork();
  if (locked)
    tt_heap_have_heir(child < 0);
  return child;
}

/* Calls no handlers, so that a signal's handler may call it. The C library's fork does not come by here. */
pid_t _Fork(void) {
  pid_t (*next)(void) = tt_heap.bytes > 0 ? next_Fork : find("_Fork");
  if (!next)
    return fail(ENOSYS);
  if (tt_heap.bytes == 0)
    return next();
  if (!can_freeze())
    return fail(ENOMEM);
  bool had = locked; /* by another fork, in which this one is called by a handler */
  before();
  pid_t child = next();
  (child == 0 ? after_in_child : after_in_parent)();
  if (locked)
    tt_heap_have_heir(child < 0);
  locked = had;
  return child;
}

/* These two call a fork that nobody stands in front of: the handlers freeze, and cannot refuse. */
pid_t forkpty(int *terminal, char *name, const struct termios *how, const struct winsize *size) {
  void *found = dlsym(RTLD_NEXT, "forkpty");
  pid_t (*next)(int *, char *, const struct termios *, const struct winsize *);
  memcpy(&next, &found, sizeof next);
  if (!next)
    return fail(ENOSYS);
  return can_freeze() ? next(terminal, name, how, size) : fail(ENOMEM);
}

int daemon(int stays, int keeps) {
  void *found = dlsym(RTLD_NEXT, "daemon");
  int (*next)(int, int);
  memcpy(&next, &found, sizeof next);
  return can_freeze() ? next(stays, keeps) : fail(ENOMEM);
}
