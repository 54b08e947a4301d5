/* plan/bound.c - bound plans as values: made, freed, and whether each index is in its range. */
#include "plan/plan.h"

#include <inttypes.h>
#include <stdlib.h>

const char *const tt_medium_name[TT_MEDIUM_COUNT] = {"cell", "slot", "published", "lent", "read", "message"};
const char *const tt_class_name[TT_CLASS_COUNT] = {"cells", "ends", "streams"};

tutti_status tt_bound_plan_create(const tt_plan *list, tt_bound_plan **bound) {
  tt_bound_plan *made = calloc(1, sizeof *made);
  if (made) {
    tt_arena_init(&made->arena);
    made->list = list;
    made->step = tt_arena_alloc(&made->arena, list->step_count, sizeof *made->step);
  }
  if (!made || made->arena.failed) {
    tt_bound_plan_destroy(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a bound plan of %u steps", list->step_count);
  }
  *bound = made;
  return TUTTI_OK;
}

void tt_bound_plan_destroy(tt_bound_plan *bound) {
  if (!bound)
    return;
  tt_arena_finish(&bound->arena);
  free(bound);
}

/* ---- check ---- */

static const char *check_step(const tt_step *step, const tt_bound_step *bound) {
  if (bound->media & ~TT_MEDIA_ALL)
    return "it has an invalid medium";
  if ((step->kind == TT_STEP_COPY) != (bound->media == 0))
    return step->kind == TT_STEP_COPY ? "a copy has a medium" : "it admits no medium";
  return NULL;
}

/* Whether each number is that of a step that `fits`, and stands there once. */
static const char *check_numbers(const tt_bound_plan *bound, const uint32_t *number, uint32_t count,
                                 bool (*fits)(const tt_step *), bool *seen) {
  for (uint32_t n = 0; n < count; n++) {
    if (number[n] >= bound->list->step_count || !fits(&bound->list->step[number[n]]))
      return "a list has a step that does not belong to it";
    if (seen[number[n]])
      return "a list has a step twice";
    seen[number[n]] = true;
  }
  return NULL;
}

static bool sends(const tt_step *step) { return step->kind == TT_STEP_SEND; }
static bool takes(const tt_step *step) { return step->kind == TT_STEP_RECV || step->kind == TT_STEP_RECV_REDUCE; }
static bool sends_not(const tt_step *step) { return step->kind != TT_STEP_SEND; }

/* Whether each step stands in its lists. */
static const char *check_complete(const tt_bound_plan *bound, const bool *put, const bool *take, const bool *order) {
  for (uint32_t n = 0; n < bound->list->step_count; n++) {
    const tt_step *step = &bound->list->step[n];
    if (sends(step) ? !put[n] : (takes(step) && !take[n]) || !order[n])
      return "a list lacks one of its steps";
  }
  return NULL;
}

static const char *check_lists(const tt_bound_plan *bound, bool *seen) {
  const uint32_t steps = bound->list->step_count;
  const char *wrong = check_numbers(bound, bound->put, bound->put_count, sends, seen);
  if (!wrong)
    wrong = check_numbers(bound, bound->take, bound->take_count, takes, seen + steps);
  if (!wrong)
    wrong = check_numbers(bound, bound->order, bound->order_count, sends_not, seen + 2 * (size_t)steps);
  if (!wrong && bound->blocks != TT_CLASS_STREAMS)
    wrong = check_complete(bound, seen, seen + steps, seen + 2 * (size_t)steps);
  if (!wrong)
    wrong = check_numbers(bound, bound->settle, bound->settle_count, sends, seen + 3 * (size_t)steps);
  if (!wrong && bound->released > bound->order_count)
    wrong = "cells are released after more steps than there are";
  return wrong;
}

static const char *check_images(const tt_plan *list, const tt_image_ref *image, uint32_t count) {
  for (uint32_t n = 0; n < count; n++)
    if (image[n].ref.space > TT_SPACE_OUT || image[n].block >= list->block_count ||
        image[n].ref.index != image[n].block)
      return "an image is not of a block of in or out";
  return NULL;
}

static tutti_status fail(const tt_bound_plan *bound, const char *wrong) {
  return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 ": bound plan: %s", bound->list->rank, wrong);
}

static const char *check_all(const tt_bound_plan *bound, bool *seen) {
  const char *wrong = bound->blocks < TT_CLASS_COUNT ? NULL : "its class of blocks is invalid";
  for (uint32_t n = 0; n < bound->list->step_count && !wrong; n++)
    wrong = check_step(&bound->list->step[n], &bound->step[n]);
  if (!wrong)
    wrong = check_lists(bound, seen);
  if (!wrong)
    wrong = check_images(bound->list, bound->widen, bound->widen_count);
  return wrong ? wrong : check_images(bound->list, bound->narrow, bound->narrow_count);
}

tutti_status tt_bound_plan_check(const tt_bound_plan *bound) {
  tutti_status status = tt_plan_check(bound->list);
  bool *seen = status != TUTTI_OK ? NULL : calloc(4 * (size_t)bound->list->step_count + 1, sizeof *seen);
  if (status == TUTTI_OK && !seen)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to check %u steps", bound->list->step_count);
  const char *wrong = status != TUTTI_OK ? NULL : check_all(bound, seen);
  free(seen);
  return wrong ? fail(bound, wrong) : status;
}
