/* exec/flatten.c - a bound plan's lists with what the direct executor needs of each step: places split, peers at hand.
 * Nothing is decided here. */
#include "exec/direct.h"

#include <assert.h>
#include <stdlib.h>

static void set_send(tt_direct *direct, uint32_t number, const tt_lane *lane) {
  const tt_plan *plan = direct->plan;
  const tt_step *step = &plan->step[number];
  assert(step->kind == TT_STEP_SEND && lane->level < TT_PLAN_LEVELS);
  direct->steps.send_level = (uint8_t)lane->level;
  direct->steps.send[direct->steps.send_count++] =
      (tt_direct_send){.step = number,
                       .peer = step->peer,
                       .first_reader = lane->first_reader,
                       .reader_count = lane->reader_count,
                       .length = tt_blocks_length(plan, step->block),
                       .src = tt_blocks_place(plan, (tt_ref){TT_SPACE_IN, step->block})};
}

static void set_op(tt_direct *direct, uint32_t number, const tt_lane *lane) {
  const tt_plan *plan = direct->plan;
  const tt_step *step = &plan->step[number];
  bool copies = step->kind == TT_STEP_COPY;
  assert(step->kind != TT_STEP_SEND && lane->level < TT_PLAN_LEVELS);
  tt_direct_op *made = &direct->steps.op[direct->steps.op_count++];
  *made = (tt_direct_op){
      .step = number,
      .peer = copies ? -1 : step->peer,
      .level = (uint8_t)(copies ? TT_OWN_LEVEL : lane->level),
      .use = {.reduces = tt_plan_step_combines(step), .left = step->flags & TT_STEP_LEFT, .finish = step->finish},
      .length = tt_blocks_length(plan, step->block),
      .dst = tt_blocks_place(plan, step->dst)};
  made->src = step->kind == TT_STEP_RECV ? made->dst : tt_blocks_place(plan, step->src);
  direct->steps.reduces |= made->use.reduces;
  direct->steps.uses_mid |= made->src.space == TT_SPACE_MID || made->dst.space == TT_SPACE_MID;
}

static tutti_status allocate(tt_direct *direct) {
  tt_arena *arena = &direct->arena;
  const tt_bound_plan *bound = direct->bound;
  uint32_t steps = direct->plan->step_count;
  direct->steps.op = tt_arena_alloc(arena, bound->order_count, sizeof *direct->steps.op);
  direct->steps.op_by_place = tt_arena_alloc(arena, bound->take_count, sizeof *direct->steps.op_by_place);
  direct->steps.send = tt_arena_alloc(arena, bound->put_count, sizeof *direct->steps.send);
  direct->shape.take = tt_arena_alloc(arena, bound->order_count, sizeof *direct->shape.take);
  direct->shape.piece = tt_arena_alloc(arena, bound->put_count, sizeof *direct->shape.piece);
  direct->shape.spot = tt_arena_alloc(arena, steps, sizeof *direct->shape.spot);
  direct->shape.readers = tt_arena_alloc(arena, direct->cells->set_words, sizeof *direct->shape.readers);
  direct->shape.sources = tt_arena_alloc(arena, direct->cells->set_words, sizeof *direct->shape.sources);
  direct->shape.owed = tt_arena_alloc(arena, direct->cells->set_words, sizeof *direct->shape.owed);
  return arena->failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory for a direct executor of %u steps", steps) : TUTTI_OK;
}

/* lane_of, op_of: of each step. */
static void set_all(tt_direct *direct, const tt_lane **lane_of, uint32_t *op_of) {
  const tt_bound_plan *bound = direct->bound;
  for (uint32_t lane = 0; lane < direct->plan->lane_count; lane++)
    for (uint32_t n = 0; n < direct->plan->lane[lane].step_count; n++)
      lane_of[direct->plan->lane[lane].first_step + n] = &direct->plan->lane[lane];
  for (uint32_t n = 0; n < bound->put_count; n++)
    set_send(direct, bound->put[n], lane_of[bound->put[n]]);
  for (uint32_t n = 0; n < bound->order_count; n++) {
    op_of[bound->order[n]] = n;
    set_op(direct, bound->order[n], lane_of[bound->order[n]]);
  }
  for (uint32_t n = 0; n < bound->take_count; n++)
    direct->steps.op_by_place[direct->steps.op_by_place_count++] = op_of[bound->take[n]];
}

tutti_status tt_flatten(tt_direct *direct) {
  uint32_t steps = direct->plan->step_count;
  tutti_status status = allocate(direct);
  const tt_lane **lane_of = calloc(steps + 1u, sizeof *lane_of);
  uint32_t *op_of = calloc(steps + 1u, sizeof *op_of);
  if (status == TUTTI_OK && (!lane_of || !op_of))
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for a direct executor of %u steps", steps);
  if (status == TUTTI_OK)
    set_all(direct, lane_of, op_of);
  free(lane_of);
  free(op_of);
  return status;
}
