/* bind/cells.c - a one-round plan as lists: what is sent and what is taken, in the order of places, and an order in
 * which one walker does all that is no send.
 *
 * Sends come first of all, since each rank has what it sends at the start; so nothing else has to wait for them. Any
 * order of the rest that lanes and waits allow gives the same bits. */
#include "bind/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static tutti_status bad_plan(const tt_plan *plan, uint32_t step, const char *what) {
  return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " step %u of a direct plan %s", plan->rank, step, what);
}

static tutti_status add_send(const tt_plan *plan, tt_bound_plan *bound, uint32_t number) {
  const tt_step *step = &plan->step[number];
  if (step->src.space != TT_SPACE_IN && !(plan->in_place && step->src.space == TT_SPACE_OUT))
    return bad_plan(plan, number, "sends data that it did not have at the start");
  if (step->wait_count > 0)
    return bad_plan(plan, number, "waits before it sends");
  bound->put[bound->put_count++] = number;
  return TUTTI_OK;
}

static bool may_go(const tt_plan *plan, const uint32_t *position, const tt_step *step) {
  for (uint32_t n = 0; n < step->wait_count; n++) {
    const tt_wait *wait = &plan->wait[step->wait_first + n];
    if (position[wait->lane] <= wait->step)
      return false;
  }
  return true;
}

static void add_other(const tt_plan *plan, tt_bound_plan *bound, uint32_t number) {
  bound->order[bound->order_count++] = number;
  if (plan->step[number].kind == TT_STEP_COPY)
    return;
  bound->released = bound->order_count;
  bound->take[bound->take_count++] = number;
}

/* Adds the steps of one lane as far as its waits allow; counts them in *added. */
static tutti_status add_lane(const tt_plan *plan, tt_bound_plan *bound, uint32_t lane, uint32_t *position,
                             uint32_t *added) {
  const tt_lane *of = &plan->lane[lane];
  for (; position[lane] < of->step_count; position[lane]++, (*added)++) {
    uint32_t number = of->first_step + position[lane];
    if (plan->step[number].kind == TT_STEP_SEND) {
      tutti_status status = add_send(plan, bound, number);
      if (status != TUTTI_OK)
        return status;
    } else if (may_go(plan, position, &plan->step[number])) {
      add_other(plan, bound, number);
    } else {
      return TUTTI_OK;
    }
  }
  return TUTTI_OK;
}

/* All steps, in an order that lanes and waits allow. */
static tutti_status add_lanes(const tt_plan *plan, tt_bound_plan *bound, uint32_t *position) {
  uint32_t added = 0, before = UINT32_MAX;
  while (added < plan->step_count && added != before) {
    before = added;
    for (uint32_t lane = 0; lane < plan->lane_count; lane++) {
      tutti_status status = add_lane(plan, bound, lane, position, &added);
      if (status != TUTTI_OK)
        return status;
    }
  }
  return added == plan->step_count ? TUTTI_OK : bad_plan(plan, added, "can never be reached");
}

/* By peer, then block: an order that both ends of a pair know. */
static int compare_places(const void *a, const void *b, void *steps) {
  const tt_step *of = steps, *x = &of[*(const uint32_t *)a], *y = &of[*(const uint32_t *)b];
  if (x->peer != y->peer)
    return (x->peer > y->peer) - (x->peer < y->peer);
  return (x->block > y->block) - (x->block < y->block);
}

tutti_status tt_bind_cells(const tt_plan *plan, tt_bound_plan *bound) {
  uint32_t steps = plan->step_count;
  bound->order = tt_arena_alloc(&bound->arena, steps, sizeof *bound->order);
  bound->put = tt_arena_alloc(&bound->arena, steps, sizeof *bound->put);
  bound->take = tt_arena_alloc(&bound->arena, steps, sizeof *bound->take);
  uint32_t *position = calloc(plan->lane_count + 1u, sizeof *position); /* of each lane: its next step */
  tutti_status status = TUTTI_OK;
  if (bound->arena.failed || !position)
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory to bind %u steps to cells", steps);
  if (status == TUTTI_OK)
    status = add_lanes(plan, bound, position);
  free(position);
  if (status != TUTTI_OK)
    return status;
  assert(bound->put_count + bound->order_count == steps && bound->take_count <= bound->released);
  qsort_r(bound->put, bound->put_count, sizeof *bound->put, compare_places, plan->step);
  qsort_r(bound->take, bound->take_count, sizeof *bound->take, compare_places, plan->step);
  return TUTTI_OK;
}
