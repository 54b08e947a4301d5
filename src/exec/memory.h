/* exec/memory.h - the memory that a plan's places stand for in one run: the user's buffers, and scratch for mid and
 * tmp. */
#ifndef TT_EXEC_MEMORY_H
#define TT_EXEC_MEMORY_H

#include "exec/blocks.h"

typedef struct tt_memory {
  unsigned char *base[TT_SPACE_COUNT]; /* in, out, mid, tmp; `in` is never written through this */
  int64_t cell_bytes;                  /* of tmp */
  unsigned char *scratch;
  size_t scratch_bytes; /* grown where a run needs more than any before it */
} tt_memory;

/* For one run of the plan. TUTTI_ERR_MEMORY names the bytes that are not there, TUTTI_ERR_ARGUMENT tells that the run's
 * table has no place for mid. */
tutti_status tt_memory_lend(tt_memory *memory, const tt_plan *plan, bool uses_mid, const tt_run *run,
                            const tt_blocks *blocks);
void tt_memory_finish(tt_memory *memory);

/* Where `place` begins in its buffer. */
static inline int64_t tt_memory_offset(const tt_memory *memory, tt_place place, const tt_blocks *blocks) {
  return place.space == TT_SPACE_TMP ? place.block * memory->cell_bytes : tt_blocks_offset(blocks, place);
}

static inline unsigned char *tt_memory_at(const tt_memory *memory, tt_place place, const tt_blocks *blocks) {
  return memory->base[place.space] + tt_memory_offset(memory, place, blocks);
}

#endif
