/* Ranks that stand for others: on random machines, with random parameters, they take as long as all ranks do.
 *
 *     test_sim_symmetry [CASES [SEED]]    runs so many random cases (default 600), from that seed */
#include "sim/sim.h"
#include "support/plans.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { LIMIT = 96 };

typedef struct machine {
  int64_t switches, nodes, size; /* of a node */
  bool interleaved;
  const char *model;
} machine;

typedef struct symmetry_case {
  machine on;
  tt_collective collective;
  char params[128];
} symmetry_case;

static int case_count = 600;
static uint64_t seed = 1;

/* ---- one case ---- */

static tutti_status add_level(plans *all, const machine *on, const char *name, int64_t count) {
  int64_t *group_of = tt_arena_alloc(&all->arena, (size_t)all->topo->rank_count, sizeof *group_of);
  for (int64_t r = 0; r < all->topo->rank_count; r++) {
    int64_t node = on->interleaved ? r % on->nodes : r / on->size;
    group_of[r] = node * count / on->nodes;
  }
  return tt_topo_add(all->topo, &all->arena, name, group_of);
}

static tutti_status open_case(const symmetry_case *of, plans *all, tt_sim_model *model, tt_lowering **lowering) {
  tt_problem problem = {.collective = of->collective, .rank_count = of->on.nodes * of->on.size};
  tutti_status status = plans_begin(all, problem.rank_count, NULL, false);
  if (status == TUTTI_OK)
    status = add_level(all, &of->on, "switch", of->on.switches);
  if (status == TUTTI_OK)
    status = add_level(all, &of->on, "node", of->on.nodes);
  if (status == TUTTI_OK)
    status = tt_params_parse(of->params, &all->params);
  if (status == TUTTI_OK)
    status = plans_compose(&problem, NULL, all);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&all->composition, all->topo, &all->params, lowering);
  tt_sim_model_init(model, all->topo);
  assert_int_equal(tt_sim_model_parse(of->on.model, model), TUTTI_OK);
  return status;
}

typedef struct outcome {
  double all_ps, some_ps;
  int64_t all, some; /* ranks simulated */
  int64_t waits;
} outcome;

static void check_counts(const tt_sim_result *all, const tt_sim_result *some) {
  for (int n = 0; n < TT_TOPO_LEVELS; n++) {
    assert_int_equal(all->level[n].messages, some->level[n].messages);
    assert_int_equal(all->level[n].packets, some->level[n].packets);
    assert_int_equal(all->level[n].bytes, some->level[n].bytes);
  }
}

/* Whether there is a symmetry; all ranks' plans are compared then. */
static bool find(const tt_lowering *lowering, const tt_sim_model *model, const plans *all, tt_symmetry *of_plans,
                 tt_symmetry *symmetry) {
  tutti_status status = tt_lowering_symmetry(lowering, of_plans);
  for (int64_t r = 0; r < of_plans->unit_size && status == TUTTI_OK; r++)
    for (int64_t by = 1; by < of_plans->unit_count && status == TUTTI_OK; by++)
      status = tt_lower_check_image(lowering, of_plans, all->plan[of_plans->line[r]], by);
  if (status == TUTTI_OK)
    status = tt_sim_symmetry(model, of_plans, symmetry);
  assert_true(status == TUTTI_OK || status == TUTTI_ERR_UNSUPPORTED);
  return status == TUTTI_OK && tt_symmetry_order(symmetry) > 1;
}

static bool run_case(const symmetry_case *of, int64_t block_bytes, outcome *out) {
  plans all;
  tt_sim_model model;
  tt_symmetry of_plans = {.unit_size = 0}, symmetry;
  tt_lowering *lowering = NULL;
  const tt_plan *unit[LIMIT];
  bool found = open_case(of, &all, &model, &lowering) == TUTTI_OK && plans_lower(&all) == TUTTI_OK &&
               find(lowering, &model, &all, &of_plans, &symmetry);
  if (found) {
    tt_sim_result whole, some;
    tt_sim_lengths lengths = {.total_bytes = (int64_t)all.plan[0]->block_count * block_bytes};
    for (int64_t m = 0; m < symmetry.unit_size; m++)
      unit[m] = all.plan[symmetry.line[m]];
    assert_int_equal(tt_sim_run(&model, (const tt_plan *const *)all.plan, &lengths, false, &whole), TUTTI_OK);
    if (tt_sim_run_symmetric(&model, &symmetry, unit, &lengths, &some) != TUTTI_OK)
      fail_msg("%s, %s: %s", of->params, of->on.model, tutti_last_error());
    check_counts(&whole, &some);
    *out = (outcome){whole.time_ps, some.time_ps, whole.simulated, some.simulated, whole.link_waits};
    tt_sim_finish(&whole);
    tt_sim_finish(&some);
  }
  tt_lowering_destroy(lowering);
  plans_close(&all);
  return found;
}

/* ---- random cases ---- */

static int64_t pick(tt_random *random, int64_t count) { return (int64_t)tt_random_below(random, (uint64_t)count); }

static const char *one_of(tt_random *random, const char *const *text, size_t count) {
  return text[pick(random, (int64_t)count)];
}

static symmetry_case random_case(tt_random *random) {
  static const char *const forms[] = {"", "form=split"}, *const inner[] = {"star", "star", "star", "chain"},
                           *const outer[] = {"chain",        "chain,reflect", "2-nomial,xor", "2-nomial,xor,far",
                                             "2-nomial,xor", "star",          "2-nomial,near"},
                           *const more[] = {"", "", "", " even", " even", " channels=2", " stripe=1"},
                           *const models[] = {"node:links=0;switch:links=0",
                                              "node:links=0;switch:links=0,alpha=3us",
                                              "node:links=4,beta=0.08;switch:links=16,beta=0.05",
                                              "node:links=1;switch:links=2,alpha=4us",
                                              "ports=2;node:links=2;switch:links=1",
                                              "node:links=0;switch:links=0,alpha=3us;gamma=0;core:alpha=100,beta=0.01"};
  static const tt_collective collectives[] = {TT_ALLREDUCE, TT_ALLGATHER, TT_REDUCE_SCATTER, TT_BARRIER};
  symmetry_case of = {.collective = collectives[pick(random, TT_COUNT(collectives))]};
  of.on = (machine){.switches = 1 + pick(random, 4), .size = 1 + pick(random, 4), .interleaved = pick(random, 4) == 0};
  of.on.nodes = of.on.switches * (1 + pick(random, 5)) + (pick(random, 8) == 0);
  of.on.model = one_of(random, models, TT_COUNT(models));
  const char *form = of.collective == TT_ALLREDUCE ? one_of(random, forms, TT_COUNT(forms)) : "";
  const char *in = one_of(random, inner, TT_COUNT(inner)), *out = one_of(random, outer, TT_COUNT(outer));
  if (pick(random, 3) == 0)
    snprintf(of.params, sizeof of.params, "%s [core:%s]%s", form, out, one_of(random, more, TT_COUNT(more)));
  else
    snprintf(of.params, sizeof of.params, "%s [node:%s/core:%s]%s", form, out, in,
             one_of(random, more, TT_COUNT(more)));
  return of;
}

static void describe(const symmetry_case *of, const outcome *out) {
  printf("%d of %d ranks, %s on %d switches, %d nodes of %d%s, %s, %s: %+.4f %%%s\n", (int)out->some, (int)out->all,
         tt_compose_info(of->collective).name, (int)of->on.switches, (int)of->on.nodes, (int)of->on.size,
         of->on.interleaved ? ", interleaved" : "", of->params, of->on.model, 100 * (out->some_ps / out->all_ps - 1),
         out->waits ? ", packets wait" : "");
}

/* Blocks of a message are combined by number, which permutations do not keep: some are ready for the next message a
 * little earlier. Where packets wait for links, those that ask at one time may go in another order. */
static bool is_exact(const symmetry_case *of, const outcome *out) {
  bool several = of->collective == TT_REDUCE_SCATTER || strstr(of->params, "form=split");
  return out->waits == 0 && (!several || strstr(of->on.model, "gamma=0"));
}

static void test_some_ranks_take_as_long_as_all(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, seed);
  int found = 0, contended = 0, exact_count = 0, wrong = 0;
  for (int n = 0; n < case_count; n++) {
    symmetry_case of = random_case(&random);
    outcome out;
    if (!run_case(&of, 16 + 16 * pick(&random, 100), &out))
      continue;
    found++;
    contended += out.waits > 0;
    bool exact = is_exact(&of, &out), equal = out.some_ps == out.all_ps;
    bool right = exact ? equal : fabs(out.some_ps / out.all_ps - 1) <= (out.waits ? 0.04 : 0.01);
    exact_count += exact;
    if (!right)
      describe(&of, &out);
    wrong += !right;
  }
  printf("%d cases of seed %d: %d with ranks that stand for others, in %d of them packets wait, %d are exact\n",
         case_count, (int)seed, found, contended, exact_count);
  assert_int_equal(wrong, 0);
  assert_true(found > case_count / 8 && contended > case_count / 40 && exact_count > case_count / 12);
}

/* ---- very many ranks ---- */

#define A 1000.0 /* alpha, ns */
#define B 0.25   /* beta, ns a byte */
#define C 0.125  /* gamma */
#define RATES "alpha=1us,beta=0.25,gamma=0.125"

typedef struct many {
  plans all;
  tt_lowering *lowering;
  tt_sim_model model;
  tt_symmetry of_plans, symmetry;
  tutti_status status; /* of the symmetry */
} many;

static void many_open(const tt_problem *of, const char *params, many *out) {
  assert_int_equal(plans_begin(&out->all, of->rank_count, NULL, false), TUTTI_OK);
  assert_int_equal(tt_params_parse(params, &out->all.params), TUTTI_OK);
  assert_int_equal(plans_compose(of, NULL, &out->all), TUTTI_OK);
  assert_int_equal(tt_lowering_create(&out->all.composition, out->all.topo, &out->all.params, &out->lowering),
                   TUTTI_OK);
  tt_sim_model_init(&out->model, out->all.topo);
  assert_int_equal(tt_sim_model_parse(RATES, &out->model), TUTTI_OK);
  out->status = tt_lowering_symmetry(out->lowering, &out->of_plans);
  if (out->status == TUTTI_OK)
    out->status = tt_sim_symmetry(&out->model, &out->of_plans, &out->symmetry);
}

static void many_close(many *of) {
  tt_lowering_destroy(of->lowering);
  plans_close(&of->all);
}

static tutti_status many_run(const many *of, int64_t bytes, double *time_ns) {
  tt_plan *plan;
  tt_sim_result result;
  const tt_sim_lengths lengths = {.total_bytes = bytes};
  assert_int_equal(of->symmetry.unit_size, 1);
  assert_int_equal(tt_lower_rank(of->lowering, 0, &plan), TUTTI_OK);
  tutti_status status = tt_sim_run_symmetric(&of->model, &of->symmetry, (const tt_plan *[]){plan}, &lengths, &result);
  if (status == TUTTI_OK)
    assert_int_equal(result.simulated, 1);
  *time_ns = result.time_ps / 1000;
  tt_sim_finish(&result);
  tt_plan_destroy(plan);
  return status;
}

static void test_nothing_that_happens_has_no_symmetry(void **state) {
  (void)state;
  const tt_problem problem = {.collective = TT_EXSCAN, .rank_count = 1};
  many of;
  many_open(&problem, "chain", &of);
  assert_int_equal(of.status, TUTTI_ERR_UNSUPPORTED);
  many_close(&of);
}

/* Thakur's formulas (sim_test.c), where no other test can reach. */
static void test_one_rank_stands_for_65536(void **state) {
  (void)state;
  const double p = 65536, n = 16 * p;
  const tt_problem problem = {.collective = TT_ALLREDUCE, .rank_count = (int64_t)p};
  const struct {
    const char *params;
    double time_ns;
  } cases[] = {
      {"[core:2-nomial,xor]", 16 * (A + n * (B + C))},
      {"form=split [core:2-nomial,xor]", 2 * 16 * A + (p - 1) / p * n * (2 * B + C)},
      {"form=split [core:chain]", (p - 1) * (2 * A + n / p * (2 * B + C))},
  };
  for (size_t c = 0; c < TT_COUNT(cases); c++) {
    many of;
    double time_ns;
    many_open(&problem, cases[c].params, &of);
    assert_int_equal(of.status, TUTTI_OK);
    assert_int_equal(many_run(&of, (int64_t)n, &time_ns), TUTTI_OK);
    if (time_ns != cases[c].time_ns)
      fail_msg("%s: %.3f ns, not %.3f", cases[c].params, time_ns, cases[c].time_ns);
    many_close(&of);
  }
}

static void test_unequal_blocks_are_refused(void **state) {
  (void)state;
  const tt_problem problem = {.collective = TT_ALLREDUCE, .rank_count = 8};
  many of;
  double time_ns;
  many_open(&problem, "form=split [core:chain]", &of);
  assert_int_equal(of.status, TUTTI_OK);
  assert_int_equal(many_run(&of, 8 * 16 + 1, &time_ns), TUTTI_ERR_UNSUPPORTED);
  assert_non_null(strstr(tutti_last_error(), "8 does not divide"));
  many_close(&of);
}

static void test_what_ranks_cannot_stand_for_others_says_why(void **state) {
  (void)state;
  static const struct {
    tt_collective collective;
    int64_t ranks;
    const char *params, *why;
  } cases[] = {
      {TT_BROADCAST, 8, "[core:chain]", "does not treat all ranks alike"},
      {TT_SCAN, 8, "[core:2-nomial,reflect,far]", "does not treat all ranks alike"},
      {TT_ALLREDUCE, 6, "[core:2-nomial,xor]", "groups"},
      {TT_ALLGATHER, 8, "[core:star]", "only a chain"},
      {TT_ALLREDUCE, 8, "[core:chain] channels=2", "blocks are cut"},
      {TT_ALLREDUCE, 8, "form=split reduce-scatter[core:2-nomial,xor] allgather[core:chain]", "xor in one stage"},
  };
  for (size_t c = 0; c < TT_COUNT(cases); c++) {
    const tt_problem problem = {.collective = cases[c].collective, .rank_count = cases[c].ranks};
    many of;
    many_open(&problem, cases[c].params, &of);
    assert_int_equal(of.status, TUTTI_ERR_UNSUPPORTED);
    if (!strstr(tutti_last_error(), cases[c].why))
      fail_msg("%s: '%s' does not say '%s'", cases[c].params, tutti_last_error(), cases[c].why);
    many_close(&of);
  }
}

/* Another permutation than the lowering's. */
static void test_plans_that_are_no_images_are_found(void **state) {
  (void)state;
  const tt_problem problem = {.collective = TT_ALLGATHER, .rank_count = 8};
  many of;
  tt_plan *plan;
  many_open(&problem, "[core:chain]", &of);
  assert_int_equal(of.status, TUTTI_OK);
  assert_int_equal(tt_lower_rank(of.lowering, 0, &plan), TUTTI_OK);
  assert_int_equal(tt_lower_check_image(of.lowering, &of.of_plans, plan, 1), TUTTI_OK);
  of.of_plans.exchanges = true;
  assert_int_equal(tt_lower_check_image(of.lowering, &of.of_plans, plan, 1), TUTTI_ERR_UNSUPPORTED);
  tt_plan_destroy(plan);
  many_close(&of);
}

int main(int argc, char **argv) {
  case_count = argc > 1 ? atoi(argv[1]) : case_count;
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : seed;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_some_ranks_take_as_long_as_all),
      cmocka_unit_test(test_nothing_that_happens_has_no_symmetry),
      cmocka_unit_test(test_one_rank_stands_for_65536),
      cmocka_unit_test(test_unequal_blocks_are_refused),
      cmocka_unit_test(test_what_ranks_cannot_stand_for_others_says_why),
      cmocka_unit_test(test_plans_that_are_no_images_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
