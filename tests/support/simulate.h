/* tests/support/simulate.h - what the simulator's tests share: a collective on a machine of round rates.
 *
 * Rates are such that every time is a whole number of picoseconds, so that equal means equal. */
#ifndef TEST_SUPPORT_SIMULATE_H
#define TEST_SUPPORT_SIMULATE_H

#include "plans.h"
#include "sim/sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define A 1000.0 /* alpha, ns */
#define B 0.25   /* beta, ns a byte */
#define C 0.125  /* gamma */
#define RATES "alpha=1us,beta=0.25,gamma=0.125"

typedef struct sim_case {
  tt_collective collective;
  int64_t p, root;
  const char *params, *map, *model; /* model: after RATES */
  bool publish;
  int64_t bytes; /* of all blocks */
  const int64_t *block_bytes;
} sim_case;

static inline void simulate(const sim_case *of, tt_sim_result *result) {
  plans all;
  plans_case plan_of = {.problem = {.collective = of->collective, .rank_count = of->p, .root = of->root},
                        .params = of->params,
                        .map = of->map,
                        .publish = of->publish};
  tt_sim_model model;
  tt_sim_lengths lengths = {of->bytes, of->block_bytes};
  if (plans_open(&plan_of, &all) != TUTTI_OK)
    fail_msg("%s of %d ranks, root %d, %s: %s", tt_compose_info(of->collective).name, (int)of->p, (int)of->root,
             of->params, tutti_last_error());
  tt_sim_model_init(&model, all.topo);
  assert_int_equal(tt_sim_model_parse(RATES, &model), TUTTI_OK);
  if (of->model)
    assert_int_equal(tt_sim_model_parse(of->model, &model), TUTTI_OK);
  if (tt_sim_run(&model, (const tt_plan *const *)all.plan, &lengths, true, result) != TUTTI_OK)
    fail_msg("%s of %d ranks, root %d, %s: %s", tt_compose_info(of->collective).name, (int)of->p, (int)of->root,
             of->params, tutti_last_error());
  plans_close(&all);
}

#endif
