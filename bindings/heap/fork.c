/* bindings/heap/fork.c - after a fork parent and child have their own memory, as without a heap.
 *
 *     before   shared runs are mapped anew, private, over what is in the file: the system's copy on write is the
 *              snapshot, and nobody writes to these places any more. Peers that still read there find what they were to
 *     after    the parent's blocks move into the file again, to another place, when calls use them
 *     heirs    each child holds a mutex that the system opens when the child ends or runs another program: then what it
 *              has inherited is free */
#include "heap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { HEIRS = 128 };

typedef enum heir_state { HEIR_NONE, HEIR_EXPECTED, HEIR_LIVES } heir_state;

typedef struct heir { /* in memory that all of them share */
  pthread_mutex_t alive;
  _Atomic int state;
} heir;

static heir *heirs;     /* NULL: none was ever expected */
static heir *expected;  /* of the fork that is under way */
static bool lost_count; /* there were more than can be looked after: what they have inherited is never free */

static heir *make_heirs(void) {
  pthread_mutexattr_t robust;
  void *made = mmap(NULL, HEIRS * sizeof(heir), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    return NULL;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  for (heir *each = made; each < (heir *)made + HEIRS; each++)
    pthread_mutex_init(&each->alive, &robust);
  pthread_mutexattr_destroy(&robust);
  return made;
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
  atomic_compare_exchange_strong_explicit(&each->state, &lived, HEIR_NONE, memory_order_acq_rel, memory_order_relaxed);
  pthread_mutex_unlock(&each->alive);
  return false;
}

static bool is_taken(heir *each) {
  int none = HEIR_NONE;
  return !lives(each) && atomic_compare_exchange_strong_explicit(&each->state, &none, HEIR_EXPECTED,
                                                                 memory_order_acq_rel, memory_order_relaxed);
}

bool tt_heap_has_heirs(void) {
  bool any = lost_count;
  for (int n = 0; heirs && n < HEIRS; n++)
    any |= lives(&heirs[n]);
  return any;
}

static void expect(void) {
  expected = NULL;
  heirs = heirs ? heirs : make_heirs();
  for (int n = 0; heirs && n < HEIRS && !expected; n++)
    expected = is_taken(&heirs[n]) ? &heirs[n] : NULL;
  lost_count = lost_count || !expected;
}

/* ---- the snapshot ---- */

/* Where the program has closed the file's descriptor: its own memory with the same contents. */
static bool copy_out(uint32_t first, uint32_t count) {
  size_t bytes = tt_heap_size(count);
  void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED)
    return false;
  memcpy(made, tt_heap_at(first), bytes);
  return syscall(SYS_mremap, made, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, tt_heap_at(first)) ==
         (long)(uintptr_t)tt_heap_at(first); /* no hook's mremap: see share.c */
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
  for (uint32_t n = 0; n < tt_heap.used; n += tt_heap_of(n)->count)
    if (tt_heap_of(n)->kind == HEAP_SHARED) {
      freeze_run(n);
      any = true;
    } else
      any |= tt_heap_of(n)->kind == HEAP_FROZEN;
  return any;
}

static void before(void) {
  pthread_mutex_lock(&tt_heap.lock);
  expected = NULL;
  if (freeze())
    expect();
}

static void after_in_parent(void) { pthread_mutex_unlock(&tt_heap.lock); }

static void after_in_child(void) {
  tt_heap.child = true;
  if (expected && pthread_mutex_lock(&expected->alive) != 0)
    expected = NULL; /* it stays expected for ever */
  if (expected)
    atomic_store_explicit(&expected->state, HEIR_LIVES, memory_order_release);
  pthread_mutex_unlock(&tt_heap.lock);
}

void tt_heap_watch_forks(void) { pthread_atfork(before, after_in_parent, after_in_child); }
