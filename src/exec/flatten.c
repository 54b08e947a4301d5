/* exec/flatten.c - a one-round plan as two lists: what is sent, and what is done with what comes, in an order that
 * lanes and waits allow.
 *
 * Sends come first of all, since each rank has what it sends at the start; so nothing else has to wait for them. Any
 * order of the rest that the waits allow gives the same bits, as it does in the interpreter. */
#include "exec/direct.h"

#include <stdlib.h>

static tutti_status bad_plan(const tt_plan *plan, uint32_t step, const char *what) {
  return tt_fail(TUTTI_ERR_PLAN, "rank %lld step %u of a direct plan %s", (long long)plan->rank, step, what);
}

static tutti_status add_send(tt_direct *direct, const tt_lane *lane, uint32_t number) {
  const tt_plan *plan = direct->plan;
  const tt_step *step = &plan->step[number];
  if (step->src.space != TT_SPACE_IN && !(plan->in_place && step->src.space == TT_SPACE_OUT))
    return bad_plan(plan, number, "sends what it did not have at the start");
  if (step->wait_count > 0)
    return bad_plan(plan, number, "waits before it sends");
  direct->send_level = (uint8_t)lane->level;
  direct->send[direct->send_count++] =
      (tt_direct_send){.step = number,
                       .peer = step->peer,
                       .first_reader = lane->first_reader,
                       .reader_count = lane->reader_count,
                       .length = tt_blocks_length(plan, step->block),
                       .src = tt_blocks_place(plan, (tt_ref){TT_SPACE_IN, step->block})};
  return TUTTI_OK;
}

static void add_op(tt_direct *direct, const tt_lane *lane, uint32_t number) {
  const tt_plan *plan = direct->plan;
  const tt_step *step = &plan->step[number];
  tt_direct_op *made = &direct->op[direct->op_count++];
  *made = (tt_direct_op){.step = number,
                         .peer = step->kind == TT_STEP_COPY ? -1 : step->peer,
                         .published = lane->published,
                         .level = (uint8_t)(step->kind == TT_STEP_COPY ? TT_OWN_LEVEL : lane->level),
                         .use = {.reduces = step->kind == TT_STEP_RECV_REDUCE || step->flags & TT_STEP_ONTO,
                                 .left = step->flags & TT_STEP_LEFT,
                                 .finish = step->finish},
                         .length = tt_blocks_length(plan, step->block),
                         .dst = tt_blocks_place(plan, step->dst)};
  made->src = step->kind == TT_STEP_RECV ? made->dst : tt_blocks_place(plan, step->src);
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
      tutti_status status = add_send(direct, of, number);
      if (status)
        return status;
    } else if (may_go(plan, position, step)) {
      add_op(direct, of, number);
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

static int64_t block_of(tt_place length) { return (int64_t)length.block << 16 | length.part; }

static int compare(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_sends(const void *a, const void *b) {
  const tt_direct_send *x = a, *y = b;
  return x->peer != y->peer ? compare(x->peer, y->peer) : compare(block_of(x->length), block_of(y->length));
}

/* Ops by peer, then block. */
static int compare_ops(const void *a, const void *b, void *ops) {
  const tt_direct_op *of = ops, *x = &of[*(const uint32_t *)a], *y = &of[*(const uint32_t *)b];
  return x->peer != y->peer ? compare(x->peer, y->peer) : compare(block_of(x->length), block_of(y->length));
}

/* What goes from one rank to another, in an order that both of them know: by block. */
static void sort(tt_direct *direct) {
  qsort(direct->send, direct->send_count, sizeof *direct->send, compare_sends);
  for (uint32_t n = 0; n < direct->op_count; n++)
    if (direct->op[n].peer >= 0)
      direct->op_by_peer[direct->op_by_peer_count++] = n;
  qsort_r(direct->op_by_peer, direct->op_by_peer_count, sizeof *direct->op_by_peer, compare_ops, direct->op);
}

tutti_status tt_flatten(tt_direct *direct) {
  const tt_plan *plan = direct->plan;
  tt_arena *arena = &direct->arena;
  uint32_t steps = plan->step_count;
  direct->op = tt_arena_alloc(arena, steps, sizeof *direct->op);
  direct->op_by_peer = tt_arena_alloc(arena, steps, sizeof *direct->op_by_peer);
  direct->send = tt_arena_alloc(arena, steps, sizeof *direct->send);
  direct->take = tt_arena_alloc(arena, steps, sizeof *direct->take);
  direct->piece = tt_arena_alloc(arena, steps, sizeof *direct->piece);
  direct->spot = tt_arena_alloc(arena, steps, sizeof *direct->spot);
  direct->readers = tt_arena_alloc(arena, direct->cells->set_words, sizeof *direct->readers);
  direct->sources = tt_arena_alloc(arena, direct->cells->set_words, sizeof *direct->sources);
  direct->owed = tt_arena_alloc(arena, direct->cells->set_words, sizeof *direct->owed);
  uint32_t *position = tt_arena_alloc(arena, plan->lane_count, sizeof *position);
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a direct executor of %u steps", steps);
  tutti_status status = add_lanes(direct, position);
  if (!status)
    sort(direct);
  return status;
}
