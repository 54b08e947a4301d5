/* exec/memory.c - scratch for mid and tmp: one allocation that only ever grows, mid first, then the cells of tmp. */
#include "exec/memory.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum { LINE = 64 };

static int64_t round_up(int64_t bytes) { return (bytes + LINE - 1) & -(int64_t)LINE; }

static tutti_status grow(tt_memory *memory, size_t bytes) {
  if (bytes <= memory->scratch_bytes)
    return TUTTI_OK;
  tt_memory_finish(memory);
  memory->scratch = aligned_alloc(LINE, bytes);
  if (!memory->scratch)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu bytes of scratch", bytes);
  memory->scratch_bytes = bytes;
  return TUTTI_OK;
}

static tutti_status lend_scratch(tt_memory *memory, int64_t mid, int64_t cell, uint32_t cell_count) {
  int64_t bytes;
  assert(mid >= 0 && cell >= 0);
  if (mid > INT64_MAX - LINE || cell > INT64_MAX - LINE ||
      __builtin_mul_overflow(round_up(cell), (int64_t)cell_count, &bytes) ||
      __builtin_add_overflow(bytes, round_up(mid), &bytes))
    return tt_fail(TUTTI_ERR_MEMORY,
                   "scratch of %" PRId64 " bytes and %u cells of %" PRId64 " bytes exceed the address space", mid,
                   cell_count, cell);
  tutti_status status = grow(memory, (size_t)bytes);
  if (status != TUTTI_OK)
    return status;
  memory->cell_bytes = round_up(cell);
  memory->base[TT_SPACE_MID] = memory->scratch;
  memory->base[TT_SPACE_TMP] = memory->scratch ? memory->scratch + round_up(mid) : NULL;
  return TUTTI_OK;
}

tutti_status tt_memory_lend(tt_memory *memory, const tt_plan *plan, bool uses_mid, const tt_run *run,
                            const tt_blocks *blocks) {
  memory->base[TT_SPACE_IN] = (unsigned char *)(uintptr_t)run->in;
  memory->base[TT_SPACE_OUT] = run->out;
  if (!uses_mid && plan->tmp_count == 0)
    return TUTTI_OK;
  if (uses_mid && blocks->kind == TT_TABLE_SQUARE)
    return tt_fail(TUTTI_ERR_ARGUMENT, "a plan's mid has no place for blocks of pairs of ranks");
  return lend_scratch(memory, uses_mid ? blocks->mid_bytes : 0, plan->tmp_count ? blocks->longest : 0, plan->tmp_count);
}

void tt_memory_finish(tt_memory *memory) {
  free(memory->scratch);
  memory->scratch = NULL;
  memory->scratch_bytes = 0;
}
