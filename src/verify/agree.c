/* verify/agree.c - what has to be equal in all ranks' plans, and whole messages: runs of steps from FIRST to LAST. */
#include "verify/proof.h"

static const char *differs(const tt_meaning *meaning, const tt_plan *plan, const tt_plan *first) {
  if (plan->rank_count != meaning->rank_count)
    return "its rank count differs";
  if ((int64_t)plan->block_count != meaning->block_count * plan->part_count)
    return "its block count differs";
  if (plan->in_place != meaning->in_place)
    return "only one of plan and meaning is in place";
  if (plan->part_count != first->part_count || plan->time_count != first->time_count ||
      plan->slice_bytes != first->slice_bytes || plan->direct != first->direct)
    return "parts, times, slice or direct differ from those of rank 0";
  return NULL;
}

tutti_status tt_verify_agree(tt_proof *proof) {
  for (uint32_t rank = 0; rank < proof->rank_count; rank++) {
    const tt_plan *plan = proof->plan[rank];
    tutti_status status = tt_plan_check(plan);
    if (status != TUTTI_OK)
      return status;
    const char *wrong = differs(proof->meaning, plan, proof->plan[0]);
    if (plan->rank != rank)
      wrong = "it is the plan of another rank";
    if (wrong != NULL)
      return tt_verify_fail(proof, TT_NONE, "plan of rank %u: %s", rank, wrong);
  }
  return TUTTI_OK;
}

/* `open`: a message has begun before this step and has not ended. */
static const char *check_message_step(const tt_step *step, bool open) {
  if (step->kind == TT_STEP_COPY)
    return open ? "a copy is within a message" : NULL;
  if (open == ((step->flags & TT_STEP_FIRST) != 0))
    return open ? "a message begins within another" : "no message has begun";
  if (open && (step->peer != step[-1].peer || step->time != step[-1].time))
    return "peer or time changes within a message";
  return NULL;
}

static tutti_status check_messages(const tt_proof *proof, const tt_proof_lane *lane) {
  bool open = false;
  uint32_t step = lane->first_step;
  for (uint32_t n = 0; n < lane->lane->step_count; n++, step++) {
    const char *wrong = check_message_step(proof->step[step], open);
    if (wrong != NULL)
      return tt_verify_fail(proof, step, "%s", wrong);
    open = proof->step[step]->kind != TT_STEP_COPY && !(proof->step[step]->flags & TT_STEP_LAST);
  }
  return open ? tt_verify_fail(proof, step - 1, "its message has no end") : TUTTI_OK;
}

tutti_status tt_verify_messages(tt_proof *proof) {
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < proof->lane_count && status == TUTTI_OK; n++)
    status = check_messages(proof, &proof->lane[n]);
  return status;
}
