/* plan/plan.c - life of a plan, comparison, and counts of what it sends.
 *
 * A plan and its tables live in one arena: made by lowering or by the parser, immutable afterwards, freed at once. */
#include "plan/plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

tutti_status tt_plan_create(tt_plan **plan) {
  tt_plan *made = calloc(1, sizeof *made);
  if (made == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan");
  tt_arena_init(&made->arena);
  *plan = made;
  return TUTTI_OK;
}

void tt_plan_destroy(tt_plan *plan) {
  if (plan == NULL)
    return;
  tt_arena_finish(&plan->arena);
  free(plan);
}

size_t tt_plan_bytes(const tt_plan *plan) { return sizeof *plan + plan->arena.reserved_bytes; }

static bool equal_headers(const tt_plan *a, const tt_plan *b) {
  return a->rank == b->rank && a->rank_count == b->rank_count && a->block_count == b->block_count &&
         a->part_count == b->part_count && a->tmp_count == b->tmp_count && a->time_count == b->time_count &&
         a->slice_bytes == b->slice_bytes && a->in_place == b->in_place && a->direct == b->direct &&
         a->lane_count == b->lane_count && a->step_count == b->step_count && a->level_count == b->level_count;
}

static bool equal_levels(const tt_plan *a, const tt_plan *b) {
  for (uint32_t n = 0; n < a->level_count; n++)
    if (strncmp(a->level[n], b->level[n], sizeof a->level[n]) != 0)
      return false;
  return true;
}

static bool equal_readers(const tt_plan *a, const tt_lane *of_a, const tt_plan *b, const tt_lane *of_b) {
  if (of_a->reader_count != of_b->reader_count)
    return false;
  for (uint32_t n = 0; n < of_a->reader_count; n++)
    if (a->reader[of_a->first_reader + n] != b->reader[of_b->first_reader + n])
      return false;
  return true;
}

static bool equal_lanes(const tt_plan *a, const tt_plan *b) {
  assert(a->lane_count == b->lane_count && a->step_count == b->step_count); /* headers are equal */
  for (uint32_t n = 0; n < a->lane_count; n++) {
    const tt_lane *x = &a->lane[n], *y = &b->lane[n];
    if (x->id != y->id || x->role != y->role || x->level != y->level || x->channel != y->channel ||
        x->published != y->published || x->first_step != y->first_step || x->step_count != y->step_count ||
        !equal_readers(a, x, b, y))
      return false;
  }
  return true;
}

static bool equal_waits(const tt_plan *a, const tt_step *of_a, const tt_plan *b, const tt_step *of_b) {
  if (of_a->wait_count != of_b->wait_count)
    return false;
  for (uint32_t n = 0; n < of_a->wait_count; n++) {
    const tt_wait *x = &a->wait[of_a->wait_first + n], *y = &b->wait[of_b->wait_first + n];
    if (x->lane != y->lane || x->step != y->step || x->whole != y->whole)
      return false;
  }
  return true;
}

static bool equal_refs(tt_ref a, tt_ref b) { return a.space == b.space && a.index == b.index; }

static bool equal_steps(const tt_plan *a, const tt_plan *b) {
  for (uint32_t n = 0; n < a->step_count; n++) {
    const tt_step *x = &a->step[n], *y = &b->step[n];
    if (x->kind != y->kind || x->flags != y->flags || x->peer != y->peer || x->block != y->block ||
        x->time != y->time || x->finish != y->finish || !equal_refs(x->src, y->src) || !equal_refs(x->dst, y->dst) ||
        !equal_waits(a, x, b, y))
      return false;
  }
  return true;
}

bool tt_plan_equal(const tt_plan *a, const tt_plan *b) {
  return equal_headers(a, b) && equal_levels(a, b) && equal_lanes(a, b) && equal_steps(a, b);
}

tt_plan_counts tt_plan_sent(const tt_plan *plan, int level) {
  tt_plan_counts counts = {0, 0};
  for (uint32_t n = 0; n < plan->lane_count; n++) {
    const tt_lane *lane = &plan->lane[n];
    if (lane->role != TT_ROLE_SEND || (level >= 0 && lane->level != level))
      continue;
    for (uint32_t k = 0; k < lane->step_count; k++) {
      const tt_step *step = &plan->step[lane->first_step + k];
      counts.blocks += step->kind == TT_STEP_SEND;
      counts.messages += step->kind == TT_STEP_SEND && (step->flags & TT_STEP_LAST) != 0;
    }
  }
  return counts;
}
