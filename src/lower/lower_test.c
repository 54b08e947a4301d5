/* lower/lower_test.c - what lowering promises beside right results: pure, bounded, silent for ranks that take no part,
 * and clear about parameters that do not fit. */
#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static plans_case case_of(tt_collective collective, int64_t ranks, const char *map, const char *params) {
  return (plans_case){.problem = {collective, ranks, 0, false}, .params = params, .map = map};
}

/* ---- refusals ---- */

static void test_parameters_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *params, *error;
  } broken[] = {
      {"[rack:star/core:star]", "the topology has no level 'rack'"},
      {"[core:star/node:star]",
       "level 'core' stands inside 'node' in the topology; name levels from the outermost inwards"},
      {"[node:star/node:star/core:star]", "level 'node' stands inside 'node'"},
      {"[node:star]", "the last level must be 'core', not 'node'"},
      {"allreduce[node:star] [core:star]", "the last level must be 'core'"},
      {"[core:star] ring=9", "ring=9 is more than the 8 groups of level 'core'"},
      {"[node:chain/core:star] ring=4", "ring=4 is more than the 3 groups of level 'node'"},
      {"[core:star] stripe=4096 channels=2", "stripe=4096 channels=2 cut 1 blocks into too many parts"},
      {"form=split [core:star] stripe=65 channels=64", "stripe=65 channels=64 cut 8 blocks into too many parts"},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    plans all;
    plans_case of = case_of(TT_ALLREDUCE, 8, "3,1,4", broken[n].params);
    if (plans_open(&of, &all) != TUTTI_ERR_PLAN)
      fail_msg("'%s' makes a plan", broken[n].params);
    if (!strstr(tutti_last_error(), broken[n].error))
      fail_msg("'%s': expected \"%s\" in \"%s\"", broken[n].params, broken[n].error, tutti_last_error());
    plans_close(&all);
  }
}

static void test_a_topology_of_other_size_is_refused(void **state) {
  (void)state;
  plans all;
  assert_int_equal(plans_begin(&all, 5, NULL, false), TUTTI_OK);
  tt_problem problem = {TT_ALLREDUCE, 4, 0, false};
  tt_lowering *lowering = NULL;
  assert_int_equal(tt_compose(&problem, "", &all.composition), TUTTI_OK);
  assert_int_equal(tt_params_parse("linear", &all.params), TUTTI_OK);
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(), "composition of 4 ranks on a topology of 5");
  assert_null(lowering);
  plans_close(&all);
}

/* ---- purity ---- */

static void test_a_rank_has_one_plan_in_whatever_order_it_is_made(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLREDUCE, 12, "3,1,8", "two-level-halving stripe=2 channels=2");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering = NULL;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  for (int64_t rank = 11; rank >= 0; rank--) {
    tt_plan *again;
    assert_int_equal(tt_lower_rank(lowering, rank, &again), TUTTI_OK);
    assert_true(tt_plan_equal(all.plan[rank], again));
    tt_plan_destroy(again);
  }
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

/* ---- heads ---- */

static void test_direct_plans_are_stars_of_one_stage_everywhere(void **state) {
  (void)state;
  static const struct {
    const char *params;
    bool direct;
  } texts[] = {{"linear", true},           {"linear form=split", false}, {"linear channels=2", false},
               {"linear stripe=2", false}, {"[core:chain]", false},      {"[node:star/core:star]", false}};
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    plans all;
    plans_case of = case_of(TT_ALLREDUCE, 6, "2x3", texts[n].params);
    assert_int_equal(plans_open(&of, &all), TUTTI_OK);
    for (int64_t r = 0; r < all.count; r++)
      assert_int_equal(all.plan[r]->direct, texts[n].direct);
    plans_close(&all);
  }
}

static void test_one_rank_alone_copies_or_does_nothing(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int in_place = 0; in_place < 2; in_place++) {
      plans all;
      plans_case of = case_of((tt_collective)c, 1, NULL, "ring");
      of.problem.in_place = in_place;
      assert_int_equal(plans_open(&of, &all), TUTTI_OK);
      assert_int_equal(tt_plan_sent(all.plan[0], -1).messages, 0);
      assert_int_equal(plans_verify(&of, &all), TUTTI_OK);
      plans_close(&all);
    }
}

/* ---- compositions with lists of ranks ---- */

static tt_meaning_kind listed_expect(const tt_meaning *meaning, int64_t rank, int64_t block, int64_t *source) {
  (void)block;
  *source = meaning->root;
  return rank == 1 || rank == 4 || rank == 5 ? TT_MEANING_COPY : TT_MEANING_NOTHING;
}

static bool listed_has_in(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)block;
  return rank == meaning->root;
}

/* M(2, {1, 4, 5}, block 0) among 7 ranks. */
static void write_listed(tt_composition *to, tt_primitive primitive) {
  static const int64_t list[] = {1, 4, 5};
  *to = (tt_composition){.rank_count = 7, .block_count = 1, .stage_count = 1};
  strcpy(to->stage[0].name, "part");
  to->stage[0].family_count = 1;
  to->stage[0].family[0] = (tt_family){.primitive = primitive,
                                       .count_i = 1,
                                       .count_j = 1,
                                       .root = {2, 0, 0},
                                       .ends = {.kind = TT_ENDS_LIST, .list = list, .list_count = 3},
                                       .from = TT_IN,
                                       .to = TT_OUT};
}

static const char *const list_params[] = {
    "[core:star]",
    "[core:chain]",
    "[core:2-nomial,xor]",
    "[core:3-nomial,far]",
    "[core:2-ary]",
    "[node:chain/core:star]",
    "[node:2-nomial,xor/core:chain] stripe=2",
    "[core:2-nomial] ring=2",
    "[core:star] channels=3",
};

static void expect_silent(const plans *all) {
  static const int64_t absent[] = {0, 3, 6};
  for (size_t n = 0; n < TT_COUNT(absent); n++)
    assert_int_equal(all->plan[absent[n]]->step_count, 0);
  for (int64_t r = 0; r < all->count; r++)
    for (uint32_t n = 0; n < all->plan[r]->step_count; n++) {
      int32_t peer = all->plan[r]->step[n].peer;
      assert_true(peer < 0 || peer == 1 || peer == 2 || peer == 4 || peer == 5);
    }
}

static void open_listed(plans *all, const char *params, tt_primitive primitive) {
  assert_int_equal(plans_begin(all, 7, "cyclic:2", false), TUTTI_OK);
  write_listed(&all->composition, primitive);
  assert_int_equal(tt_params_parse(params, &all->params), TUTTI_OK);
  if (plans_lower(all) != TUTTI_OK)
    fail_msg("%s: %s", params, tutti_last_error());
}

static void test_a_multicast_to_a_list_reaches_it_without_the_others(void **state) {
  (void)state;
  tt_meaning meaning = {.name = "listed", .rank_count = 7, .root = 2, .expect = listed_expect, .has_in = listed_has_in};
  for (size_t n = 0; n < TT_COUNT(list_params); n++) {
    plans all;
    open_listed(&all, list_params[n], TT_MULTICAST);
    expect_silent(&all);
    meaning.block_count = 1;
    if (tt_verify(&meaning, (const tt_plan *const *)all.plan) != TUTTI_OK)
      fail_msg("%s: %s", list_params[n], tutti_last_error());
    plans_close(&all);
  }
}

/* A reduction sends a value of each end once; its root is none of them here. */
static void test_a_reduction_of_a_list_is_silent_elsewhere(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(list_params); n++) {
    plans all;
    open_listed(&all, list_params[n], TT_REDUCTION);
    expect_silent(&all);
    for (int64_t r = 0; r < all.count; r++)
      assert_int_equal(tt_plan_check(all.plan[r]), TUTTI_OK);
    plans_close(&all);
  }
}

/* ---- bounds ---- */

/* 512 nodes of 8 ranks: 8 MiB is the promise for each. */
static void test_a_plan_of_4096_ranks_fits_8_MiB(void **state) {
  (void)state;
  static const char *const params[] = {"[node:chain/core:star]", "[node:2-nomial,xor/core:star]"};
  plans all;
  assert_int_equal(plans_begin(&all, 4096, "512x8", true), TUTTI_OK);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (size_t n = 0; n < 2 * TT_COUNT(params); n++) {
      tt_problem problem = {(tt_collective)c, 4096, 0, false};
      tt_lowering *lowering;
      tt_plan *plan;
      assert_int_equal(tt_params_parse(params[n % TT_COUNT(params)], &all.params), TUTTI_OK);
      all.params.stripe = n < TT_COUNT(params) ? 0 : 8;
      assert_int_equal(tt_compose(&problem, "split", &all.composition), TUTTI_OK);
      assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
      assert_int_equal(tt_lower_rank(lowering, 2049, &plan), TUTTI_OK);
      assert_true(tt_plan_bytes(plan) <= (size_t)8 << 20);
      assert_true(tt_plan_bytes(plan) <= 16384 + plan->step_count * (sizeof(tt_step) + 2 * sizeof(tt_wait)));
      tt_plan_destroy(plan);
      tt_lowering_destroy(lowering);
    }
  plans_close(&all);
}

/* ---- descriptions ---- */

static void test_levels_are_described_after_the_passes(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLREDUCE, 11, "4,1,6", "[node:2-nomial,xor/core:star] ring=2");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  static const struct {
    const char *name;
    tt_shape shape;
    int64_t groups, fewest, most;
    bool fold;
  } levels[] = {
      {"node.ring", TT_CHAIN, 2, 2, 2, false},
      {"node", TT_KNOMIAL, 3, 1, 2, false},
      {"core", TT_STAR, 11, 1, 6, false},
  };
  assert_int_equal(tt_lowering_level_count(lowering, 0), TT_COUNT(levels));
  for (int n = 0; n < (int)TT_COUNT(levels); n++) {
    tt_level_info info = tt_lowering_level(lowering, 0, n);
    assert_string_equal(info.name, levels[n].name);
    assert_int_equal(info.params.shape, levels[n].shape);
    assert_int_equal(info.group_count, levels[n].groups);
    assert_int_equal(info.fewest, levels[n].fewest);
    assert_int_equal(info.most, levels[n].most);
    assert_int_equal(info.fold, levels[n].fold);
    assert_string_equal(all.plan[0]->level[info.plan_level], levels[n].name);
  }
  assert_int_equal(tt_lowering_round(lowering, 0), 0);
  assert_int_equal(tt_lowering_round(lowering, 1), all.plan[0]->time_count);
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

static void test_groups_that_are_no_power_of_two_fold_into_pairs(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLREDUCE, 7, NULL, "recursive-doubling");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  tt_level_info folded = tt_lowering_level(lowering, 0, 0), pair = tt_lowering_level(lowering, 0, 1);
  assert_true(folded.fold && folded.group_count == 4 && !pair.fold);
  assert_string_equal(pair.name, "core.pair");
  assert_true(pair.group_count == 7 && pair.fewest == 1 && pair.most == 2 && pair.params.shape == TT_STAR);
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parameters_that_do_not_fit_are_refused),
      cmocka_unit_test(test_a_topology_of_other_size_is_refused),
      cmocka_unit_test(test_a_rank_has_one_plan_in_whatever_order_it_is_made),
      cmocka_unit_test(test_direct_plans_are_stars_of_one_stage_everywhere),
      cmocka_unit_test(test_one_rank_alone_copies_or_does_nothing),
      cmocka_unit_test(test_a_multicast_to_a_list_reaches_it_without_the_others),
      cmocka_unit_test(test_a_reduction_of_a_list_is_silent_elsewhere),
      cmocka_unit_test(test_a_plan_of_4096_ranks_fits_8_MiB),
      cmocka_unit_test(test_levels_are_described_after_the_passes),
      cmocka_unit_test(test_groups_that_are_no_power_of_two_fold_into_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
