/* verify/lent.c - what is lent stays as it is until it is released: no step of its rank writes there but those that
 * are before the send, and the rank settles the stream before its run is complete. */
#include "verify/bound.h"

static bool is_lent(const tt_bound_proof *proof, uint32_t step) {
  return proof->lists.step[step]->kind == TT_STEP_SEND && (proof->step[step]->media & TT_MEDIA_LENT);
}

static bool writes(const tt_bound_proof *proof, uint32_t step) { return proof->lists.step[step]->kind != TT_STEP_SEND; }

/* Whether what is lent in that step's stream is settled: one settled send of the stream is enough. */
static bool is_settled(const tt_bound_proof *proof, uint32_t rank, uint32_t step) {
  const tt_bound_plan *bound = proof->bound[rank];
  const tt_proof *lists = &proof->lists;
  for (uint32_t n = 0; n < bound->settle_count; n++) {
    uint32_t settled = proof->first_step[rank] + bound->settle[n];
    if (lists->lane_of[settled] == lists->lane_of[step] && lists->step[settled]->peer == lists->step[step]->peer)
      return true;
  }
  return false;
}

static tutti_status check_writer(const tt_bound_proof *proof, uint32_t lent, uint32_t writer) {
  if (tt_verify_ordered(&proof->machine.races, writer, lent))
    return TUTTI_OK;
  char place[128];
  tt_verify_place(&proof->lists, lent, place);
  return tt_verify_fail(&proof->lists, writer,
                        "it writes what another step lends, before its readers have finished: %s", place);
}

/* lender: of each location, a list of the sends that lend it; next: behind each of them. */
static tutti_status check_rank(const tt_bound_proof *proof, uint32_t rank, uint32_t *lender, uint32_t *next) {
  uint32_t from = proof->first_step[rank], to = proof->first_step[rank + 1];
  for (uint32_t step = from; step < to; step++) {
    if (!is_lent(proof, step))
      continue;
    if (!is_settled(proof, rank, step))
      return tt_verify_fail(&proof->lists, step, "it is lent, but the run does not wait until it is released");
    uint32_t at = proof->machine.src_at[step];
    next[step] = lender[at];
    lender[at] = step;
  }
  for (uint32_t step = from; step < to; step++)
    for (uint32_t lent = writes(proof, step) ? lender[proof->machine.dst_at[step]] : TT_NONE; lent != TT_NONE;
         lent = next[lent]) {
      tutti_status status = check_writer(proof, lent, step);
      if (status != TUTTI_OK)
        return status;
    }
  return TUTTI_OK;
}

tutti_status tt_verify_lent(tt_bound_proof *proof) {
  tt_proof *lists = &proof->lists;
  uint32_t *lender = tt_arena_alloc(&lists->arena, 2 * (size_t)lists->step_count, sizeof *lender);
  uint32_t *next = tt_arena_alloc(&lists->arena, lists->step_count, sizeof *next);
  if (lists->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", lists->step_count);
  for (uint32_t n = 0; n < 2 * lists->step_count; n++)
    lender[n] = TT_NONE;
  tutti_status status = TUTTI_OK;
  for (uint32_t rank = 0; rank < lists->rank_count && status == TUTTI_OK; rank++)
    status = check_rank(proof, rank, lender, next);
  return status;
}
