/* tools/plan/large.c - very many ranks: those are compiled of which all others' plans are images.
 *
 * lower says which permutations of ranks map plans onto plans, as far as levels and composition tell. Some plans of
 * others are made to compare them. */
#include "large.h"

#include <inttypes.h>
#include <stdio.h>

/* TUTTI_ERR_UNSUPPORTED is no error here: there are none. */
static tutti_status settle(tutti_status status, plan_large *large) {
  large->found = status == TUTTI_OK;
  if (status == TUTTI_ERR_UNSUPPORTED)
    snprintf(large->why, sizeof large->why, "%s", tutti_last_error());
  return status == TUTTI_ERR_UNSUPPORTED ? TUTTI_OK : status;
}

static tutti_status check_size(const tt_symmetry *machine, int64_t steps, int64_t most_steps) {
  int64_t ranks = machine->unit_size;
  if (tt_symmetry_order(machine) == 1)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "nodes, switches or links differ from rank to rank");
  if (ranks <= most_steps / (steps + 1))
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_UNSUPPORTED, "%" PRId64 " plans of %" PRId64 " steps stand for all, which is too many",
                 ranks, steps);
}

tutti_status plan_large_find(const tt_lowering *lowering, const tt_sim_model *model, int64_t steps, int64_t most_steps,
                             plan_large *large) {
  tutti_status status = tt_lowering_symmetry(lowering, &large->plans);
  if (status == TUTTI_OK)
    status = tt_sim_symmetry(model, &large->plans, &large->machine);
  if (status == TUTTI_OK)
    status = check_size(&large->machine, steps, most_steps);
  return settle(status, large);
}

/* Some permutations: to the next units, to the last one, and between. */
static tutti_status check_some(const tt_lowering *lowering, const tt_symmetry *symmetry, tt_plan *const *plan) {
  const int64_t units = symmetry->unit_count, by[] = {1, 2, units / 3, units / 2, units - 1};
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < (int64_t)TT_COUNT(by) && status == TUTTI_OK; n++)
    if (by[n] < units)
      status = tt_lower_check_image(lowering, symmetry, plan[n % symmetry->unit_size], by[n]);
  return status;
}

tutti_status plan_large_lower(const tt_lowering *lowering, plan_large *large, tt_plan **plan, int64_t *count) {
  tutti_status status = TUTTI_OK;
  for (*count = 0; *count < large->plans.unit_size && status == TUTTI_OK; *count += status == TUTTI_OK)
    status = tt_lower_rank(lowering, large->plans.line[*count], &plan[*count]);
  if (status == TUTTI_OK)
    status = check_some(lowering, &large->plans, plan);
  return settle(status, large);
}
