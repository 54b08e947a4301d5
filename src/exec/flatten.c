/* exec/flatten.c - a one-round plan as one list: what is published, then what is taken, in an order that lanes and
 * waits allow.
 *
 * Sends come first of all, since each rank has what it sends at the start; so nothing else has to wait for them. Any
 * order of the rest that the waits allow gives the same bits, as it does in the interpreter. */
#include "exec/direct.h"

static tutti_status bad_plan(const tt_plan *plan, uint32_t step, const char *what) {
  return tt_fail(TUTTI_ERR_PLAN, "rank %lld step %u of a direct plan %s", (long long)plan->rank, step, what);
}

static bool is_sent(const tt_direct *direct, tt_place place) {
  for (uint32_t n = 0; n < direct->sent_count; n++)
    if (direct->sent[n].block == place.block && direct->sent[n].part == place.part)
      return true;
  return false;
}

static tutti_status add_send(tt_direct *direct, uint32_t number) {
  const tt_step *step = &direct->plan->step[number];
  if (step->src.space != TT_SPACE_IN && !(direct->plan->in_place && step->src.space == TT_SPACE_OUT))
    return bad_plan(direct->plan, number, "sends what it did not have at the start");
  if (step->wait_count > 0)
    return bad_plan(direct->plan, number, "waits before it sends");
  tt_place place = tt_blocks_place((tt_ref){TT_SPACE_IN, step->src.index}, direct->plan->part_count);
  if (!is_sent(direct, place))
    direct->sent[direct->sent_count++] = place;
  direct->publishes = true;
  return TUTTI_OK;
}

static void add_op(tt_direct *direct, const tt_step *step) {
  uint32_t parts = direct->plan->part_count;
  tt_direct_op *made = &direct->op[direct->op_count++];
  *made = (tt_direct_op){.peer = step->kind == TT_STEP_COPY ? -1 : step->peer,
                         .use = {.reduces = step->kind == TT_STEP_RECV_REDUCE || step->flags & TT_STEP_ONTO,
                                 .left = step->flags & TT_STEP_LEFT,
                                 .finish = step->finish},
                         .block = tt_blocks_place((tt_ref){TT_SPACE_IN, step->block}, parts),
                         .dst = tt_blocks_place(step->dst, parts)};
  made->src = step->kind == TT_STEP_RECV ? made->dst : tt_blocks_place(step->src, parts);
  direct->reduces |= made->use.reduces;
  direct->uses_mid |= made->src.space == TT_SPACE_MID || made->dst.space == TT_SPACE_MID;
}

static bool may_go(const tt_plan *plan, const uint32_t *position, const tt_step *step) {
  for (uint32_t n = 0; n < step->wait_count; n++) {
    const tt_wait *wait = &plan->wait[step->wait_first + n];
    if (position[wait->lane] <= wait->step)
      return false;
  }
  return true;
}

/* Adds the steps of one lane as far as its waits allow; counts them in *added. */
static tutti_status add_lane(tt_direct *direct, uint32_t lane, uint32_t *position, uint32_t *added) {
  const tt_plan *plan = direct->plan;
  const tt_lane *of = &plan->lane[lane];
  for (; position[lane] < of->step_count; position[lane]++, (*added)++) {
    uint32_t number = of->first_step + position[lane];
    const tt_step *step = &plan->step[number];
    if (step->kind == TT_STEP_SEND) {
      tutti_status status = add_send(direct, number);
      if (status)
        return status;
    } else if (may_go(plan, position, step)) {
      add_op(direct, step);
    } else {
      return TUTTI_OK;
    }
  }
  return TUTTI_OK;
}

/* Lays all steps in one order that lanes and waits allow. */
static tutti_status add_lanes(tt_direct *direct, uint32_t *position) {
  const tt_plan *plan = direct->plan;
  uint32_t added = 0, before = UINT32_MAX;
  while (added < plan->step_count && added != before) {
    before = added;
    for (uint32_t lane = 0; lane < plan->lane_count; lane++) {
      tutti_status status = add_lane(direct, lane, position, &added);
      if (status)
        return status;
    }
  }
  return added == plan->step_count ? TUTTI_OK : bad_plan(plan, added, "can never be reached");
}

static bool reads_all(const tt_direct *direct) {
  for (int64_t rank = 0; rank < direct->plan->rank_count; rank++) {
    bool read = rank == direct->plan->rank;
    for (uint32_t n = 0; n < direct->op_count && !read; n++)
      read = direct->op[n].peer == rank;
    if (!read)
      return false;
  }
  return true;
}

tutti_status tt_flatten(tt_direct *direct) {
  const tt_plan *plan = direct->plan;
  direct->op = tt_arena_alloc(&direct->arena, plan->step_count, sizeof *direct->op);
  direct->sent = tt_arena_alloc(&direct->arena, plan->step_count, sizeof *direct->sent);
  direct->range = tt_arena_alloc(&direct->arena, plan->step_count, sizeof *direct->range);
  uint32_t *position = tt_arena_alloc(&direct->arena, plan->lane_count, sizeof *position);
  if (direct->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a direct executor of %u steps", plan->step_count);
  tutti_status status = add_lanes(direct, position);
  direct->reads_all = !status && reads_all(direct);
  return status;
}
