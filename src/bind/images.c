/* bind/images.c - where a run combines in a wider type: which blocks of the input are widened before all steps, and
 * which of the output are rounded after them. In and out of a block count as one where they are one memory. */
#include "bind/parts.h"

#include <assert.h>

static bool holds_input(const tt_plan *plan, tt_ref ref) {
  return ref.space == TT_SPACE_IN || (plan->in_place && ref.space == TT_SPACE_OUT);
}

/* Adds the block unless it is there. */
static void add(bool *seen, tt_image_ref *list, uint32_t *count, tt_ref ref, uint32_t block) {
  assert(ref.space <= TT_SPACE_OUT && ref.index == block);
  if (seen[ref.index])
    return;
  seen[ref.index] = true;
  list[(*count)++] = (tt_image_ref){ref, block};
}

static void add_step(const tt_plan *plan, tt_bound_plan *bound, const tt_step *step, bool *read, bool *written) {
  if (step->kind != TT_STEP_RECV && holds_input(plan, step->src))
    add(read, bound->widen, &bound->widen_count, step->src, step->block);
  if (step->flags & TT_STEP_ONTO && holds_input(plan, step->dst))
    add(read, bound->widen, &bound->widen_count, step->dst, step->block);
  if (step->kind != TT_STEP_SEND && step->dst.space == TT_SPACE_OUT)
    add(written, bound->narrow, &bound->narrow_count, step->dst, step->block);
}

tutti_status tt_bind_images(const tt_plan *plan, tt_bound_plan *bound) {
  tt_arena arena;
  tt_arena_init(&arena);
  bound->widen = tt_arena_alloc(&bound->arena, plan->block_count, sizeof *bound->widen);
  bound->narrow = tt_arena_alloc(&bound->arena, plan->block_count, sizeof *bound->narrow);
  bool *seen = tt_arena_alloc(&arena, 2 * (size_t)plan->block_count, sizeof *seen);
  bool failed = arena.failed || bound->arena.failed;
  for (uint32_t n = 0; n < plan->step_count && !failed; n++)
    add_step(plan, bound, &plan->step[n], seen, seen + plan->block_count);
  tt_arena_finish(&arena);
  return failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory for a list of %u blocks", plan->block_count) : TUTTI_OK;
}
