/* exec/arith.c - one piece of a block: combined or copied to its place, finished while it is in the cache. */
#include "exec/arith.h"

tutti_status tt_arith_init(tt_arith *arith, const tt_run *run, bool reduces) {
  size_t size = tutti_type_size(run->type);
  if (size == 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "type %d is none", (int)run->type);
  tt_combine combine = reduces ? tt_dtype_combine(run->type, run->op) : NULL;
  if (reduces && !combine)
    return tt_fail(TUTTI_ERR_ARGUMENT, "operator %d is none", (int)run->op);
  *arith = (tt_arith){.combine = combine,
                      .type = run->type,
                      .element_shift = __builtin_ctzll(size),
                      .average = run->op == TUTTI_AVERAGE,
                      .large = run->blocks.total >= TT_NONTEMPORAL_BYTES / (int64_t)size};
  return TUTTI_OK;
}

void tt_arith_take(const tt_arith *arith, tt_use use, const void *src, const void *data, void *dst, int64_t bytes) {
  size_t count = (size_t)(bytes >> arith->element_shift);
  bool divides = use.finish > 1 && arith->average;
  bool nontemporal = use.final && arith->large && !divides;
  if (use.reduces)
    arith->combine(use.left ? data : src, use.left ? src : data, dst, count, nontemporal);
  else if (data != dst)
    tt_dtype_copy(dst, data, (size_t)bytes, nontemporal);
  if (divides)
    tt_dtype_divide(arith->type, dst, count, use.finish);
}
