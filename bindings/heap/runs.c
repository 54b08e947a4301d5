/* bindings/heap/runs.c - runs of granules: which are free, which are taken, what is given back to the system.
 *
 * What is freed stays memory for a while, for the next block: giving pages back and touching new ones costs more than
 * to copy them. Kept are at most 256 MiB, and no more than was ever live at once; what nobody took for a second only up
 * to a quarter of that. */
#include "heap.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
enum { __libc_single_threaded = 0 }; /* glibc before 2.32 does not say */
#endif

#define KEPT_BYTES ((size_t)256 << 20)
enum { KEPT_MS = 1000, LOOKS = 64 };

static heap_granule *of(uint32_t number) { return tt_heap_of(number); }
static uint32_t log_of(uint32_t count) { return 31u - (uint32_t)__builtin_clz(count); }
static uint32_t older(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* What a run is, where nothing is said: private, and never used by a call. */
typedef struct about {
  heap_kind kind;
  uint32_t place, taken;
  uint64_t used;
} about;

static about about_of(uint32_t first) {
  return (about){(heap_kind)of(first)->kind, of(first)->place, of(first)->taken, of(first)->used};
}

/* Of the same run from its granule `behind` on. */
static about rest_of(about run, uint32_t behind) {
  run.place += run.kind == HEAP_PRIVATE ? 0 : behind;
  return run;
}

static void mark(uint32_t first, uint32_t count, heap_state state, about run) {
  uint32_t last = first + count - 1;
  of(last)->first = false;
  of(first)->first = true;
  of(first)->state = of(last)->state = (uint8_t)state;
  of(first)->kind = of(last)->kind = (uint8_t)run.kind;
  of(first)->count = of(last)->count = count;
  of(first)->place = run.place;
  of(first)->taken = run.taken;
  of(first)->used = run.used;
}

static void unmark(uint32_t first) {
  uint32_t last = first + of(first)->count - 1;
  of(first)->first = false;
  of(first)->state = of(last)->state = HEAP_INSIDE;
}

/* ---- free ones ---- */

static heap_list *list_of(uint32_t first) {
  return of(first)->state == HEAP_DIRTY ? &tt_heap.dirty : &tt_heap.clean[log_of(of(first)->count)];
}

static void put(uint32_t first) {
  heap_list *list = list_of(first);
  of(first)->next = list->first;
  of(first)->previous = HEAP_NONE;
  *(list->first != HEAP_NONE ? &of(list->first)->previous : &list->last) = first;
  list->first = first;
  if (of(first)->state == HEAP_DIRTY)
    tt_heap.dirty_bytes += tt_heap_size(of(first)->count);
}

/* Out of its list, and no run any more. */
static void pull(uint32_t first) {
  heap_list *list = list_of(first);
  heap_granule *run = of(first);
  *(run->previous != HEAP_NONE ? &of(run->previous)->next : &list->first) = run->next;
  *(run->next != HEAP_NONE ? &of(run->next)->previous : &list->last) = run->previous;
  if (run->state == HEAP_DIRTY)
    tt_heap.dirty_bytes -= tt_heap_size(run->count);
  unmark(first);
}

/* Whether the run at `second` goes on where that at `first` ends, and may be one with it. */
static bool goes_on(uint32_t first, heap_state state, about run, uint32_t second) {
  if (second >= tt_heap.used || of(second)->state != state || of(second)->kind != run.kind)
    return false;
  return run.kind == HEAP_PRIVATE || of(second)->place == run.place + (second - first);
}

/* A free run, one with its neighbors of the same kind: as old as the oldest of them. */
static void put_free(uint32_t first, uint32_t count, heap_state state, about run) {
  uint32_t freed_ms = tt_heap_now_ms();
  if (goes_on(first, state, run, first + count)) {
    uint32_t more = of(first + count)->count;
    run.taken = older(run.taken, of(first + count)->taken);
    freed_ms = older(freed_ms, of(first + count)->freed_ms);
    pull(first + count);
    count += more;
  }
  uint32_t before = first > 0 && of(first - 1)->state == state ? first - of(first - 1)->count : first;
  mark(first, count, state, run);
  if (before < first && goes_on(before, state, about_of(before), first)) {
    uint32_t taken = run.taken;
    run = about_of(before);
    run.taken = older(run.taken, taken);
    freed_ms = older(freed_ms, of(before)->freed_ms);
    unmark(first);
    pull(before);
    count += first - before;
    first = before;
    mark(first, count, state, run);
  }
  of(first)->freed_ms = freed_ms;
  put(first);
}

/* The shortest that is long enough, of the newest; HEAP_NONE: none is. */
static uint32_t find(const heap_list *list, uint32_t count) {
  uint32_t found = HEAP_NONE, looks = 0;
  for (uint32_t n = list->first; n != HEAP_NONE && looks < LOOKS; n = of(n)->next, looks++)
    if (of(n)->count >= count && (found == HEAP_NONE || of(n)->count < of(found)->count))
      found = n;
  return found;
}

static uint32_t find_free(uint32_t count) {
  uint32_t found = find(&tt_heap.dirty, count);
  for (uint32_t bin = log_of(count); bin < HEAP_BINS && found == HEAP_NONE; bin++)
    found = find(&tt_heap.clean[bin], count);
  return found;
}

/* Granules that nobody had before. */
static uint32_t take_new(uint32_t count) {
  uint32_t first = tt_heap.used;
  if (count > tt_heap.total - first || !tt_heap_open(first + count))
    return HEAP_NONE;
  tt_heap.used += count;
  return first;
}

/* *dirty: something may have been written there. */
static uint32_t take_run(uint32_t count, bool *dirty, about *run) {
  uint32_t first = find_free(count);
  *run = (about){.kind = HEAP_PRIVATE};
  *dirty = false;
  if (first == HEAP_NONE)
    return take_new(count);
  uint32_t had = of(first)->count, freed_ms = of(first)->freed_ms;
  heap_state state = (heap_state)of(first)->state;
  *run = about_of(first);
  *dirty = state == HEAP_DIRTY;
  pull(first);
  if (had > count) {
    mark(first + count, had - count, state, rest_of(*run, count));
    of(first + count)->freed_ms = freed_ms;
    put(first + count);
  }
  return first;
}

/* ---- live ones ---- */

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
static uint32_t trim(uint32_t first, uint32_t had, uint32_t count, uint32_t align, heap_state state, about run) {
  uint32_t before = (uint32_t)(-((uintptr_t)tt_heap_at(first) / HEAP_GRANULE) & (align - 1));
  uint32_t end = before + count;
  mark(first + before, count, HEAP_LIVE, rest_of(run, before)); /* before its neighbors look at it */
  if (before > 0)
    put_free(first, before, state, run);
  if (had > end)
    put_free(first + end, had - end, state, rest_of(run, end));
  return before;
}

static void count_live(size_t bytes) {
  tt_heap.live_bytes += bytes;
  if (tt_heap.live_bytes > tt_heap.live_most)
    tt_heap.live_most = tt_heap.live_bytes;
}

static uint32_t take(size_t bytes, uint32_t align, bool *dirty) {
  about run;
  uint32_t count = tt_heap_granules(bytes), all = count + align - 1, first = take_run(all, dirty, &run);
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

/* ---- giving back ---- */

static bool keeps_too_much(void) {
  size_t most = tt_heap.live_most < KEPT_BYTES ? tt_heap.live_most : KEPT_BYTES;
  if (tt_heap.dirty_bytes > most)
    return true;
  return tt_heap.dirty_bytes > most / 4 && tt_heap_now_ms() - of(tt_heap.dirty.last)->freed_ms > KEPT_MS;
}

/* The oldest first. */
static void give_back(void) {
  tt_heap_take_back();
  while (tt_heap.dirty.last != HEAP_NONE && keeps_too_much()) {
    uint32_t first = tt_heap.dirty.last, count = of(first)->count;
    about run = about_of(first);
    pull(first);
    mark(first, count, HEAP_LIVE, run);
    bool gone = tt_heap_empty(first);
    unmark(first);
    put_free(first, count, gone ? HEAP_CLEAN : HEAP_DIRTY, gone ? (about){.kind = HEAP_PRIVATE} : run);
    if (!gone)
      return;
  }
}

static void give(uint32_t first, bool empty) {
  uint32_t count = of(first)->count;
  tt_heap.live_bytes -= tt_heap_size(count);
  bool gone = (empty || of(first)->kind == HEAP_FROZEN) && tt_heap_empty(first);
  about run = about_of(first);
  if (run.kind != HEAP_FROZEN) { /* else its place in the region is lost */
    unmark(first);
    put_free(first, count, gone ? HEAP_CLEAN : HEAP_DIRTY, run);
    give_back();
  }
}

void tt_heap_give(void *memory) {
  uint32_t first = put_spare(run_at(memory));
  if (first == HEAP_NONE)
    return;
  tt_heap_lock();
  give(first, false);
  tt_heap_unlock();
}

size_t tt_heap_room(const void *memory) {
  tt_heap_lock();
  size_t room = of(run_at(memory))->bytes; /* what is behind may not come along when it moves */
  tt_heap_unlock();
  return room;
}

/* Takes from the free run behind it. */
static bool grow(uint32_t first, uint32_t count) {
  uint32_t had = of(first)->count, end = first + had, more = count - had;
  about run = about_of(first);
  bool dirty = goes_on(first, HEAP_DIRTY, run, end);
  if ((!dirty && !goes_on(first, HEAP_CLEAN, run, end)) || of(end)->count < more)
    return false;
  uint32_t free_count = of(end)->count;
  run.taken = older(run.taken, of(end)->taken);
  about rest = rest_of(about_of(end), more);
  pull(end);
  unmark(first);
  mark(first, count, HEAP_LIVE, run);
  if (free_count > more)
    put_free(end + more, free_count - more, dirty ? HEAP_DIRTY : HEAP_CLEAN, rest);
  if (run.kind == HEAP_SHARED)
    tt_heap_set_run(first);
  count_live(tt_heap_size(more));
  return true;
}

/* What is cut off is free as a whole block would be. */
static void shrink(uint32_t first, uint32_t count) {
  uint32_t had = of(first)->count;
  about run = about_of(first);
  unmark(first);
  mark(first, count, HEAP_LIVE, run);
  mark(first + count, had - count, HEAP_LIVE, rest_of(run, count));
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
