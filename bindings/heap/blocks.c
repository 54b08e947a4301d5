/* bindings/heap/blocks.c - blocks: live runs of granules, from when they are taken until they are freed. */
#include "runs.h"

#include <errno.h>
#include <string.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
enum { __libc_single_threaded = 0 }; /* glibc before 2.32 does not say */
#endif

static heap_granule *of(uint32_t number) { return tt_heap_of(number); }

static _Atomic uint64_t spare; /* see below: its first granule, and above 32 bits their number; 0: there is none */

static void die_of_free(void) { tt_heap_die("free or realloc of memory that is no block, or was freed before\n"); }

static bool is_spare(uint32_t first) {
  uint64_t now = atomic_load_explicit(&spare, memory_order_relaxed);
  return now != 0 && (uint32_t)now == first;
}

/* The live run that begins there. Without the lock: it is the caller's. */
static uint32_t run_at(const void *memory) {
  uint32_t first = tt_heap_number(memory);
  if (is_spare(first) || memory != tt_heap_at(first) || first >= tt_heap.used || !of(first)->first ||
      of(first)->state != HEAP_LIVE)
    die_of_free();
  return first;
}

/* Cuts off what lies before the first granule of that alignment, and behind `count`. Returns how much lay before. */
static uint32_t trim(uint32_t first, uint32_t had, uint32_t count, uint32_t align, heap_state state, heap_run run) {
  uint32_t before = (uint32_t)(-((uintptr_t)tt_heap_at(first) / HEAP_GRANULE) & (align - 1));
  uint32_t end = before + count;
  /* Before its neighbors look at it. */
  tt_heap_run_mark(first + before, count, HEAP_LIVE, tt_heap_run_rest(run, before));
  if (before > 0)
    tt_heap_run_free(first, before, state, run);
  if (had > end)
    tt_heap_run_free(first + end, had - end, state, tt_heap_run_rest(run, end));
  return before;
}

static void count_live(size_t bytes) {
  tt_heap.live_bytes += bytes;
  if (tt_heap.live_bytes > tt_heap.live_most)
    tt_heap.live_most = tt_heap.live_bytes;
}

static uint32_t take(size_t bytes, uint32_t align, bool *dirty) {
  heap_run run;
  uint32_t count = tt_heap_granules(bytes), all = count + align - 1, first = tt_heap_run_take(all, dirty, &run);
  if (first == HEAP_NONE)
    return first;
  first += trim(first, all, count, align, *dirty ? HEAP_DIRTY : HEAP_CLEAN, run);
  of(first)->bytes = bytes;
  if (of(first)->kind == HEAP_SHARED)
    tt_heap_set_run(first);
  count_live(tt_heap_size(count));
  return first;
}

/* ---- the spare one: the short private block that was freed last, live still. A loop that needs one gets it back for
 * two atomic operations, of which a process of one thread needs none; lists and their lock take longer than the C
 * library altogether ---- */

enum { SPARE_MOST = 16, SPARE_FREES = 256 };

static uint64_t spare_of(uint32_t first, uint32_t count) { return (uint64_t)count << 32 | first; }

static bool empty_spare(uint64_t found) {
  if (!__libc_single_threaded)
    return atomic_compare_exchange_strong_explicit(&spare, &found, 0, memory_order_acquire, memory_order_relaxed);
  atomic_store_explicit(&spare, 0, memory_order_relaxed); /* there is no other thread */
  return true;
}

static uint64_t fill_spare(uint64_t with) {
  if (!__libc_single_threaded)
    return atomic_exchange_explicit(&spare, with, memory_order_acq_rel);
  uint64_t before = atomic_load_explicit(&spare, memory_order_relaxed);
  atomic_store_explicit(&spare, with, memory_order_relaxed); /* there is no other thread */
  return before;
}

static uint32_t take_spare(size_t bytes) {
  uint64_t found = atomic_load_explicit(&spare, memory_order_relaxed);
  if (found == 0 || found >> 32 != tt_heap_granules(bytes) || !empty_spare(found))
    return HEAP_NONE;
  of((uint32_t)found)->bytes = bytes;
  return (uint32_t)found;
}

/* Returns what is to be freed instead: the one before; HEAP_NONE: nothing. Now and then it changes nothing, so that
 * somebody looks whether other memory has been free for long. */
static uint32_t put_spare(uint32_t first) {
  static _Thread_local uint32_t frees __attribute__((tls_model("initial-exec")));
  uint32_t count = of(first)->count;
  if (count > SPARE_MOST || of(first)->kind != HEAP_PRIVATE || ++frees % SPARE_FREES == 0)
    return first;
  uint64_t before = fill_spare(spare_of(first, count));
  if (before == spare_of(first, count))
    die_of_free();
  return before ? (uint32_t)before : HEAP_NONE;
}

void *tt_heap_take(size_t bytes, size_t align, bool zero) {
  if (bytes > tt_heap.bytes / 2 || align > tt_heap.bytes / 2)
    return NULL;
  bool dirty = true;
  uint32_t first = align > HEAP_GRANULE ? HEAP_NONE : take_spare(bytes);
  if (first == HEAP_NONE) {
    tt_heap_lock();
    first = take(bytes, align > HEAP_GRANULE ? (uint32_t)(align / HEAP_GRANULE) : 1, &dirty);
    tt_heap_unlock();
  }
  if (first == HEAP_NONE)
    return NULL;
  return zero && dirty ? memset(tt_heap_at(first), 0, bytes) : tt_heap_at(first);
}

static void give(uint32_t first, bool empty) {
  uint32_t count = of(first)->count;
  tt_heap.live_bytes -= tt_heap_size(count);
  bool gone = (empty || of(first)->kind == HEAP_FROZEN) && tt_heap_empty(first);
  heap_run run = tt_heap_run_of(first);
  if (run.kind != HEAP_FROZEN) { /* else its place in the region is lost */
    tt_heap_run_unmark(first);
    tt_heap_run_free(first, count, gone ? HEAP_CLEAN : HEAP_DIRTY, run);
    tt_heap_give_back();
  }
}

void tt_heap_give(void *memory) {
  uint32_t first = put_spare(run_at(memory));
  if (first == HEAP_NONE)
    return;
  int error = errno;
  tt_heap_lock();
  give(first, false);
  tt_heap_unlock();
  errno = error;
}

size_t tt_heap_room(const void *memory) {
  tt_heap_lock();
  size_t room = of(run_at(memory))->bytes; /* what is behind may not come along when it moves */
  tt_heap_unlock();
  return room;
}

/* Takes from the free run behind it. */
static bool grow(uint32_t first, uint32_t count) {
  uint32_t had = of(first)->count;
  if (!tt_heap_run_grow(first, count))
    return false;
  if (of(first)->kind == HEAP_SHARED)
    tt_heap_set_run(first);
  count_live(tt_heap_size(count - had));
  return true;
}

/* What is cut off is free as a whole block would be. */
static void shrink(uint32_t first, uint32_t count) {
  uint32_t had = of(first)->count;
  heap_run run = tt_heap_run_of(first);
  tt_heap_run_unmark(first);
  tt_heap_run_mark(first, count, HEAP_LIVE, run);
  tt_heap_run_mark(first + count, had - count, HEAP_LIVE, tt_heap_run_rest(run, count));
  give(first + count, false);
}

static bool resize(uint32_t first, size_t bytes) {
  uint32_t count = tt_heap_granules(bytes);
  bool fits = count <= of(first)->count || grow(first, count);
  if (count < of(first)->count)
    shrink(first, count);
  if (fits)
    of(first)->bytes = bytes;
  return fits;
}

/* Its pages, to where there is room; HEAP_NONE: they cannot. Where they were stays memory, without pages. What lay at
 * both places ends by functions that hooks of MPIs and UCX see. */
static uint32_t move_pages(uint32_t first, size_t bytes) {
  bool dirty;
  uint32_t count = of(first)->count;
  size_t all = tt_heap_size(count);
  if (of(first)->kind != HEAP_PRIVATE || count < HEAP_MOVE_LEAST)
    return HEAP_NONE;
  tt_heap.live_bytes -= all; /* they are not there twice */
  uint32_t to = take(bytes, 1, &dirty);
  tt_heap.live_bytes += all;
  if (to == HEAP_NONE)
    return HEAP_NONE;
  bool moved = (!dirty || tt_heap_empty(to)) &&
               tt_heap_move(tt_heap_at(first), all, tt_heap_at(to), tt_heap_size(of(to)->count));
  of(to)->used = of(first)->used;
  give(moved ? first : to, true);
  return moved ? to : HEAP_NONE;
}

void *tt_heap_resize(void *memory, size_t bytes) {
  uint32_t first = run_at(memory);
  if (bytes > tt_heap.bytes / 2)
    return NULL;
  tt_heap_lock();
  if (!resize(first, bytes))
    first = move_pages(first, bytes);
  tt_heap_unlock();
  return first != HEAP_NONE ? tt_heap_at(first) : NULL;
}
