/* bindings/heap/runs.c - runs of granules: which are free, and which of these are given back to the system.
 *
 * What is freed stays memory for a while, for the next block: giving pages back and touching new ones costs more than
 * to copy them. Kept are at most 256 MiB, and no more than was ever live at once; what nobody took for a second only up
 * to a quarter of that. */
#include "runs.h"

#define KEPT_BYTES ((size_t)256 << 20)
enum { KEPT_MS = 1000, LOOKS = 64 };

static heap_granule *of(uint32_t number) { return tt_heap_of(number); }
static uint32_t log_of(uint32_t count) { return 31u - (uint32_t)__builtin_clz(count); }
static uint32_t older(uint32_t a, uint32_t b) { return a < b ? a : b; }

heap_run tt_heap_run_of(uint32_t first) {
  return (heap_run){(heap_kind)of(first)->kind, of(first)->place, of(first)->taken, of(first)->used};
}

/* Of the same run from its granule `behind` on. */
heap_run tt_heap_run_rest(heap_run run, uint32_t behind) {
  run.place += run.kind == HEAP_PRIVATE ? 0 : behind;
  return run;
}

void tt_heap_run_mark(uint32_t first, uint32_t count, heap_state state, heap_run run) {
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

void tt_heap_run_unmark(uint32_t first) {
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
  tt_heap_run_unmark(first);
}

/* Whether the run at `second` goes on where that at `first` ends, and may be one with it. */
static bool goes_on(uint32_t first, heap_state state, heap_run run, uint32_t second) {
  if (second >= tt_heap.used || of(second)->state != state || of(second)->kind != run.kind)
    return false;
  return run.kind == HEAP_PRIVATE || of(second)->place == run.place + (second - first);
}

/* A free run, one with its neighbors of the same kind: as old as the oldest of them. */
void tt_heap_run_free(uint32_t first, uint32_t count, heap_state state, heap_run run) {
  uint32_t freed_ms = tt_heap_now_ms();
  if (goes_on(first, state, run, first + count)) {
    uint32_t more = of(first + count)->count;
    run.taken = older(run.taken, of(first + count)->taken);
    freed_ms = older(freed_ms, of(first + count)->freed_ms);
    pull(first + count);
    count += more;
  }
  uint32_t before = first > 0 && of(first - 1)->state == state ? first - of(first - 1)->count : first;
  tt_heap_run_mark(first, count, state, run);
  if (before < first && goes_on(before, state, tt_heap_run_of(before), first)) {
    uint32_t taken = run.taken;
    run = tt_heap_run_of(before);
    run.taken = older(run.taken, taken);
    freed_ms = older(freed_ms, of(before)->freed_ms);
    tt_heap_run_unmark(first);
    pull(before);
    count += first - before;
    first = before;
    tt_heap_run_mark(first, count, state, run);
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
uint32_t tt_heap_run_take(uint32_t count, bool *dirty, heap_run *run) {
  uint32_t first = find_free(count);
  *run = (heap_run){.kind = HEAP_PRIVATE};
  *dirty = false;
  if (first == HEAP_NONE)
    return take_new(count);
  uint32_t had = of(first)->count, freed_ms = of(first)->freed_ms;
  heap_state state = (heap_state)of(first)->state;
  *run = tt_heap_run_of(first);
  *dirty = state == HEAP_DIRTY;
  pull(first);
  if (had > count) {
    tt_heap_run_mark(first + count, had - count, state, tt_heap_run_rest(*run, count));
    of(first + count)->freed_ms = freed_ms;
    put(first + count);
  }
  return first;
}

bool tt_heap_run_grow(uint32_t first, uint32_t count) {
  uint32_t had = of(first)->count, end = first + had, more = count - had;
  heap_run run = tt_heap_run_of(first);
  bool dirty = goes_on(first, HEAP_DIRTY, run, end);
  if ((!dirty && !goes_on(first, HEAP_CLEAN, run, end)) || of(end)->count < more)
    return false;
  uint32_t free_count = of(end)->count;
  run.taken = older(run.taken, of(end)->taken);
  heap_run rest = tt_heap_run_rest(tt_heap_run_of(end), more);
  pull(end);
  tt_heap_run_unmark(first);
  tt_heap_run_mark(first, count, HEAP_LIVE, run);
  if (free_count > more)
    tt_heap_run_free(end + more, free_count - more, dirty ? HEAP_DIRTY : HEAP_CLEAN, rest);
  return true;
}

static bool keeps_too_much(void) {
  size_t most = tt_heap.live_most < KEPT_BYTES ? tt_heap.live_most : KEPT_BYTES;
  if (tt_heap.dirty_bytes > most)
    return true;
  return tt_heap.dirty_bytes > most / 4 && tt_heap_now_ms() - of(tt_heap.dirty.last)->freed_ms > KEPT_MS;
}

/* The oldest first. */
void tt_heap_give_back(void) {
  tt_heap_take_back();
  while (tt_heap.dirty.last != HEAP_NONE && keeps_too_much()) {
    uint32_t first = tt_heap.dirty.last, count = of(first)->count;
    heap_run run = tt_heap_run_of(first);
    pull(first);
    tt_heap_run_mark(first, count, HEAP_LIVE, run);
    bool gone = tt_heap_empty(first);
    tt_heap_run_unmark(first);
    tt_heap_run_free(first, count, gone ? HEAP_CLEAN : HEAP_DIRTY, gone ? (heap_run){.kind = HEAP_PRIVATE} : run);
    if (!gone)
      return;
  }
}
