/* Uneven and interleaved groups, whatever tree joins them: blocks dealt evenly, and parts through all members, are
 * proven by the verifier. */
#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RANKS_MOST 12

static int64_t below(tt_random *random, int64_t limit) { return (int64_t)tt_random_below(random, (uint64_t)limit); }

/* Any map of ranks to a few nodes. */
static void random_map(tt_random *random, int64_t ranks, char text[static 4 * RANKS_MOST]) {
  int64_t nodes = 1 + below(random, ranks), used = 0;
  bool sorted = below(random, 2);
  for (int64_t r = 0, node = 0; r < ranks; r++) {
    node = sorted ? node + (r > 0 && below(random, 3) == 0) : below(random, nodes);
    used += snprintf(text + used, 4, "%" PRId64 "%c", node, r + 1 < ranks ? ',' : ':');
  }
}

static void random_text(tt_random *random, char text[static 160]) {
  static const char *const shapes[] = {"chain", "chain", "chain,reflect", "star", "2-nomial", "2-nomial,xor", "2-ary"};
  static const char *const inside[] = {"star", "2-nomial", "chain"};
  static const char *const outer[] = {"node", "node", "3"};
  static const char *const spread[] = {"even", "stripe=all", "", "even ring=2", "stripe=all channels=2"};
  const char *shape[3];
  for (int n = 0; n < 3; n++)
    shape[n] = shapes[below(random, TT_COUNT(shapes))];
  snprintf(text, 160, "[%s:%s/core:%s] allgather[%s:%s/core:%s] %s", outer[below(random, TT_COUNT(outer))], shape[0],
           inside[below(random, TT_COUNT(inside))], outer[below(random, TT_COUNT(outer))], shape[1],
           inside[below(random, TT_COUNT(inside))], spread[below(random, TT_COUNT(spread))]);
}

/* Whether there are plans. */
static bool prove(const plans_case *of, uint64_t seed) {
  plans all;
  tutti_status status = plans_open(of, &all);
  bool made = status == TUTTI_OK;
  if (made)
    status = plans_verify(of, &all);
  else if (status != TUTTI_ERR_PLAN)
    fail_msg("seed %" PRIu64 ": %s", seed, tutti_last_error());
  if (made && status != TUTTI_OK)
    fail_msg("seed %" PRIu64 ", %s, form %s, map %s, %s: %s", seed, tt_compose_info(of->problem.collective).name,
             of->form, of->map, of->params, tutti_last_error());
  plans_close(&all);
  return made;
}

static void test_random_groups_are_served(void **state) {
  (void)state;
  int64_t proven = 0;
  for (uint64_t seed = 0; seed < 4000; seed++) {
    tt_random random;
    char map[4 * RANKS_MOST], params[160];
    tt_random_init(&random, seed);
    int64_t ranks = 1 + below(&random, RANKS_MOST);
    tt_collective collective = (tt_collective)below(&random, TT_EXSCAN + 1);
    tt_collective_info info = tt_compose_info(collective);
    random_map(&random, ranks, map);
    random_text(&random, params);
    const plans_case of = {.problem = {.collective = collective,
                                       .rank_count = ranks,
                                       .root = info.has_root ? below(&random, ranks) : 0,
                                       .in_place = info.in != TT_LAYOUT_ROW && below(&random, 2),
                                       .ordered = info.reduces && below(&random, 8) == 0},
                           .form = info.form[below(&random, info.form_count)],
                           .params = params,
                           .map = map,
                           .publish = below(&random, 2)};
    proven += prove(&of, seed);
  }
  assert_true(proven > 2000);
}

static void test_even_and_stripe_exclude_each_other(void **state) {
  (void)state;
  plans all;
  const plans_case of = {.problem = {.collective = TT_ALLREDUCE, .rank_count = 4},
                         .params = "[core:star] even stripe=2"};
  assert_int_equal(plans_open(&of, &all), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "even"));
  plans_close(&all);
}

/* Sums of ranks up to one, in any order, each of a block of its own: their trees are as long as they need be, and what
 * is inside a group comes before the tree goes on. */
static void test_sums_up_to_a_rank_go_along_a_chain_of_groups(void **state) {
  (void)state;
  static const char *const texts[] = {"[node:chain/core:star]", "[node:chain,reflect/core:star]",
                                      "[node:chain,reflect/core:chain] even", "[node:chain/core:star] stripe=all"};
  static const char *const maps[] = {"3,2,4", "cyclic:3", "1,1,7"};
  for (size_t n = 0; n < TT_COUNT(texts) * TT_COUNT(maps); n++) {
    plans all;
    tt_meaning meaning;
    assert_int_equal(plans_begin(&all, 9, maps[n / TT_COUNT(texts)], false), TUTTI_OK);
    assert_int_equal(tt_params_parse(texts[n % TT_COUNT(texts)], &all.params), TUTTI_OK);
    all.composition = (tt_composition){.rank_count = 9,
                                       .block_count = 9,
                                       .stage_count = 1,
                                       .stage = {{.name = "sums",
                                                  .family_count = 1,
                                                  .family = {{.primitive = TT_REDUCTION,
                                                              .count_i = 9,
                                                              .count_j = 1,
                                                              .root = {8, -1, 0},
                                                              .block = {0, 1, 0},
                                                              .ends = {.kind = TT_ENDS_RANGE, .one = {0, 1, 0}},
                                                              .from = TT_IN,
                                                              .to = TT_OUT}}}}};
    if (plans_lower(&all) != TUTTI_OK || tt_verify_primitives(&all.composition, &all.arena, &meaning) != TUTTI_OK ||
        tt_verify(&meaning, (const tt_plan *const *)all.plan) != TUTTI_OK)
      fail_msg("%s, %s: %s", texts[n % TT_COUNT(texts)], maps[n / TT_COUNT(texts)], tutti_last_error());
    plans_close(&all);
  }
}

static void test_all_members_of_the_largest_group_carry_parts(void **state) {
  (void)state;
  static const struct {
    int64_t ranks;
    const char *map, *params;
    uint32_t parts;
  } known[] = {
      {8, NULL, "[4:chain/core:star] stripe=all", 4},
      {3, NULL, "[8:chain/core:star] stripe=all", 3},
      {16, "4x4", "[8:chain/node:star/core:star] stripe=all", 8},
      {16, "4x4", "[2:chain/core:star] allgather[node:chain/core:star] stripe=all", 4},
      {16, "4x4", "[core:star] stripe=all", 1},
  };
  for (size_t n = 0; n < TT_COUNT(known); n++) {
    plans all;
    const plans_case of = {.problem = {.collective = TT_BROADCAST, .rank_count = known[n].ranks},
                           .params = known[n].params,
                           .map = known[n].map};
    assert_int_equal(plans_open(&of, &all), TUTTI_OK);
    assert_int_equal(all.plan[0]->part_count, known[n].parts);
    assert_int_equal(plans_verify(&of, &all), TUTTI_OK);
    plans_close(&all);
  }
}

/* The one rank of a node carries all parts, and the others one each. */
static void test_a_rank_alone_does_not_narrow_the_others(void **state) {
  (void)state;
  plans all;
  const plans_case of = {.problem = {.collective = TT_BROADCAST, .rank_count = 9},
                         .params = "[node:chain/core:star] stripe=all",
                         .map = "4,4,1"};
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  assert_int_equal(all.plan[0]->part_count, 4);
  for (int64_t r = 4; r < 8; r++) {
    int64_t sent = 0;
    for (uint32_t n = 0; n < all.plan[r]->step_count; n++)
      sent += all.plan[r]->step[n].kind == TT_STEP_SEND && all.plan[r]->step[n].peer == 8;
    assert_int_equal(sent, 1);
  }
  plans_close(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_groups_are_served),
      cmocka_unit_test(test_even_and_stripe_exclude_each_other),
      cmocka_unit_test(test_sums_up_to_a_rank_go_along_a_chain_of_groups),
      cmocka_unit_test(test_all_members_of_the_largest_group_carry_parts),
      cmocka_unit_test(test_a_rank_alone_does_not_narrow_the_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
