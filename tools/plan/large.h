/* tools/plan/large.h - very many ranks, of which a few stand for all. */
#ifndef TUTTI_TOOLS_PLAN_LARGE_H
#define TUTTI_TOOLS_PLAN_LARGE_H

#include "lower/lower.h"
#include "sim/sim.h"

#define PLAN_WHY 256

typedef struct plan_large {
  bool found;
  tt_symmetry plans;   /* permutations that map plans onto plans; */
  tt_symmetry machine; /* of these, those that map the machine onto itself */
  char why[PLAN_WHY];  /* there are none; "" where nobody has asked */
} plan_large;

/* Looks for permutations with which so few ranks stand for all that their plans, with `steps` steps each, have at most
 * so many together. */
tutti_status plan_large_find(const tt_lowering *lowering, const tt_sim_model *model, int64_t steps, int64_t most_steps,
                             plan_large *large);
/* Their plans, in rank order of the first unit: large->plans.unit_size, of which *count are made. If some other rank's
 * plan turns out to be none of them with other numbers, `found` is false. */
tutti_status plan_large_lower(const tt_lowering *lowering, plan_large *large, tt_plan **plan, int64_t *count);

#endif
