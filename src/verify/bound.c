/* verify/bound.c - proves bound plans: that what runs does what the plans say, whatever admitted medium carries a
 * block.
 *
 * Machine. As for plans (verify.c); a list's lanes are walked as a plan's are. Besides, a send may
 *
 *   go in a cell   It is written before everything else, once no rank reads what the call before left there, and stays
 *                  until the reader has released this call's cells. Both ends know the block's length, and from it and
 *                  from what goes between the two before it, whether the cell has room; else it goes in the stream.
 *   be lent        Readers find it at its source until they have taken all of it. The rank's run is complete when that
 *                  has been so for all that it settles.
 *
 * If all blocks of a rank go in cells, its order is walked instead of its lanes.
 *
 * Proof. Lists that are not the plans themselves are proven as plans are: values, races, deadlock. Results have the
 * same trees of operands, so the same bits (bits.c). Cells are filled from what was there at the start. What is lent is
 * written by no step that is not before the send. Places and media agree between both ends (places.c). Sends in cells
 * and lent ones wait for less than those in slots, so the proof of freedom from deadlock holds for them. */
#include "verify/bound.h"

static const char *disagree(const tt_bound_plan *bound, const tt_plan *plan, const tt_bound_plan *first) {
  if (bound->blocks != first->blocks)
    return "its class of blocks differs from that of rank 0";
  if (bound->list->part_count != plan->part_count || bound->list->slice_bytes != plan->slice_bytes)
    return "its parts or slices differ from the plan's";
  return NULL;
}

static tutti_status check_bound(const tt_bound_proof *proof, uint32_t rank) {
  const tt_bound_plan *bound = proof->bound[rank];
  tutti_status status = tt_bound_plan_check(bound);
  if (status != TUTTI_OK)
    return status;
  const char *wrong = disagree(bound, proof->plan[rank], proof->bound[0]);
  return wrong ? tt_verify_fail(&proof->lists, TT_NONE, "bound plan of rank %u: %s", rank, wrong) : TUTTI_OK;
}

/* Which media a stream of that lane has, whatever may be lent. */
static tt_media own_media(const tt_lane *lane) {
  return lane->published ? TT_MEDIA(TT_MEDIUM_PUBLISHED) | TT_MEDIA(TT_MEDIUM_MESSAGE)
                         : TT_MEDIA(TT_MEDIUM_SLOT) | TT_MEDIA(TT_MEDIUM_MESSAGE);
}

static const char *check_media(const tt_bound_proof *proof, uint32_t step) {
  const tt_proof *lists = &proof->lists;
  tt_media media = proof->step[step]->media, cell = TT_MEDIA(TT_MEDIUM_CELL);
  tt_media own = own_media(lists->lane[lists->lane_of[step]].lane), stream = media & own;
  tt_class blocks = proof->bound[0]->blocks;
  if (lists->step[step]->kind == TT_STEP_COPY)
    return NULL;
  if (blocks == TT_CLASS_CELLS)
    return media == cell ? NULL : "all blocks go by cell, except this one";
  if (media & ~(own | cell | TT_MEDIA_LENT))
    return "its lane does not have that medium";
  if (stream == 0 || (stream & (stream - 1)))
    return "its stream has no medium of its own, or two";
  if (media & cell && blocks == TT_CLASS_STREAMS)
    return "it goes by cell, but blocks may be too long for that";
  if (media & TT_MEDIA_LENT && stream == TT_MEDIA(TT_MEDIUM_MESSAGE))
    return "it is lent to another machine";
  return NULL;
}

static tutti_status check_steps(const tt_bound_proof *proof) {
  for (uint32_t step = 0; step < proof->lists.step_count; step++) {
    const char *wrong = check_media(proof, step);
    if (wrong)
      return tt_verify_fail(&proof->lists, step, "%s", wrong);
  }
  return TUTTI_OK;
}

static void number_steps(tt_bound_proof *proof) {
  uint32_t step = 0;
  for (uint32_t rank = 0; rank < proof->lists.rank_count; rank++) {
    proof->first_step[rank] = step;
    for (uint32_t n = 0; n < proof->bound[rank]->list->step_count; n++)
      proof->step[step++] = &proof->bound[rank]->step[n];
  }
  proof->first_step[proof->lists.rank_count] = step;
}

/* Lists in the numbering that proofs have, and clocks of their steps. */
static tutti_status prepare(tt_bound_proof *proof) {
  tt_proof *lists = &proof->lists;
  static tutti_status (*const part[])(tt_proof *) = {tt_verify_agree, tt_verify_index, tt_verify_messages,
                                                     tt_verify_match, tt_verify_order, tt_verify_values};
  tutti_status status = TUTTI_OK;
  for (size_t n = 0; n < TT_COUNT(part) && status == TUTTI_OK; n++)
    status = part[n](lists);
  if (status == TUTTI_OK)
    status = tt_verify_machine_init(&proof->machine, lists);
  if (status != TUTTI_OK)
    return status;
  proof->step = tt_arena_alloc(&lists->arena, lists->step_count, sizeof *proof->step);
  proof->first_step = tt_arena_alloc(&lists->arena, lists->rank_count + 1u, sizeof *proof->first_step);
  if (lists->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", lists->step_count);
  number_steps(proof);
  for (uint32_t n = 0; n < lists->step_count; n++)
    tt_verify_tick(&proof->machine.races, lists->order[n]);
  return TUTTI_OK;
}

static tutti_status prove(tt_bound_proof *proof) {
  static tutti_status (*const part[])(tt_bound_proof *) = {tt_verify_places, tt_verify_lent, tt_verify_bits,
                                                           tt_verify_images};
  tutti_status status = prepare(proof);
  if (status == TUTTI_OK)
    status = check_steps(proof);
  for (size_t n = 0; n < TT_COUNT(part) && status == TUTTI_OK; n++)
    status = part[n](proof);
  return status;
}

tutti_status tt_verify_bound(const tt_meaning *meaning, const tt_plan *const *plan, const tt_bound_plan *const *bound) {
  tt_bound_proof proof = {
      .lists = {.meaning = meaning, .rank_count = (uint32_t)meaning->rank_count}, .plan = plan, .bound = bound};
  tt_arena_init(&proof.lists.arena);
  const tt_plan **list = tt_arena_alloc(&proof.lists.arena, proof.lists.rank_count, sizeof *list);
  tutti_status status = list ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory to verify bound plans");
  for (uint32_t rank = 0; rank < proof.lists.rank_count && status == TUTTI_OK; rank++) {
    status = check_bound(&proof, rank);
    list[rank] = bound[rank]->list;
  }
  if (status == TUTTI_OK) {
    proof.lists.plan = list;
    proof.lists.block_count = list[0]->block_count;
    proof.lists.part_count = list[0]->part_count;
    status = prove(&proof);
  }
  tt_arena_finish(&proof.lists.arena);
  return status;
}
