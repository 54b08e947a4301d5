/* bindings/heap/runs.h - runs of granules; all with the lock. */
#ifndef TT_HEAP_RUNS_H
#define TT_HEAP_RUNS_H

#include "heap.h"

/* What a run is, where nothing is said: private, and never used by a call. */
typedef struct heap_run {
  heap_kind kind;
  uint32_t place, taken;
  uint64_t used;
} heap_run;

heap_run tt_heap_run_of(uint32_t first);
heap_run tt_heap_run_rest(heap_run run, uint32_t behind); /* from its granule `behind` on */

/* Makes a run of these granules, and of a run just granules. */
void tt_heap_run_mark(uint32_t first, uint32_t count, heap_state state, heap_run run);
void tt_heap_run_unmark(uint32_t first);

/* A free run, one with its neighbors of the same kind. */
void tt_heap_run_free(uint32_t first, uint32_t count, heap_state state, heap_run run);
/* Out of the free ones. HEAP_NONE: there is no room. *dirty: something may have been written there. */
uint32_t tt_heap_run_take(uint32_t count, bool *dirty, heap_run *run);
/* A live one, by the free one where it ends. false: there is none that is long enough. */
bool tt_heap_run_grow(uint32_t first, uint32_t count);
void tt_heap_give_back(void); /* the oldest free ones, as far as more is kept than should be */

#endif
