/* lower/shape_postal_test.c - the postal tree against the model, its recurrence, and the 2-nomial tree.
 *
 * Rounds are counted as the model does: a message of round t is there at the end of round t + K - 1, so that a tree
 * with messages in `rounds` rounds takes rounds + K - 1. */
#include "support/plans.h"
#include "support/trees.h"

#include <stdio.h>

enum { K_MOST = 64, SIZES = 600 };

static tt_level_params postal_level(int k) {
  return (tt_level_params){.name = "core", .shape = &tt_shape_postal, .k = k};
}

/* Ranks that have it after t rounds. */
static int64_t reached(int64_t t, int64_t k) {
  int64_t have[SIZES + K_MOST] = {0};
  for (int64_t n = 0; n <= t; n++)
    have[n] = n < k ? 1 : have[n - 1] + have[n - k];
  return have[t];
}

static void test_rounds_are_the_fewest_of_the_recurrence(void **state) {
  (void)state;
  for (int k = 1; k <= K_MOST; k++)
    for (int64_t f = 2; f <= SIZES; f++) {
      tt_level_params level = postal_level(k);
      tt_tree tree = {&level, f, false};
      int64_t takes = tt_shape_rounds(&tree) + k - 1;
      assert_true(reached(takes, k) >= f);
      assert_true(reached(takes - 1, k) < f);
    }
}

/* Nobody sends what it has not, nor two messages a round. */
static void check_model(const tt_tree *tree) {
  int64_t k = tree->level->k;
  for (int64_t v = 1; v < tree->f; v++) {
    int64_t sender = tt_shape_parent(tree, v), round = tt_shape_round(tree, v);
    assert_true(sender == 0 || round >= tt_shape_round(tree, sender) + k);
    for (int64_t u = 1; u < v; u++)
      assert_true(tt_shape_parent(tree, u) != sender || tt_shape_round(tree, u) != round);
  }
}

static void test_trees_keep_to_the_model(void **state) {
  (void)state;
  for (int k = 1; k <= 9; k++)
    for (int64_t f = 2; f <= 150; f++) {
      tt_level_params level = postal_level(k);
      check_model(&(tt_tree){&level, f, false});
    }
}

/* Where a tree is full, after every round as many have it as can. */
static void test_full_trees_reach_as_many_as_can_be_in_every_round(void **state) {
  (void)state;
  for (int k = 1; k <= 9; k++)
    for (int64_t takes = k; reached(takes, k) <= 3000; takes++) {
      tt_level_params level = postal_level(k);
      tt_tree tree = {&level, reached(takes, k), false};
      int64_t there[64] = {0};
      for (int64_t v = 1; v < tree.f; v++)
        there[tt_shape_round(&tree, v) + k]++;
      for (int64_t t = 0, have = 1; t <= takes; t++) {
        have += there[t];
        assert_int_equal(have, reached(t, k));
      }
    }
}

static void test_nine_labels_are_those_of_the_picture(void **state) {
  (void)state;
  static const int64_t parent[] = {0, 0, 0, 0, 0, 4, 0, 6, 6}, round[] = {0, 4, 3, 2, 1, 4, 0, 4, 3};
  tt_level_params level = postal_level(3);
  tt_tree tree = {&level, 9, false};
  assert_int_equal(tt_shape_rounds(&tree), 5);
  for (int64_t v = 1; v < 9; v++) {
    assert_int_equal(tt_shape_parent(&tree, v), parent[v]);
    assert_int_equal(tt_shape_round(&tree, v), round[v]);
  }
}

static void test_1_postal_is_2_nomial_far_first(void **state) {
  (void)state;
  tt_level_params postal = postal_level(1),
                  nomial = {.name = "core", .shape = &tt_shape_nomial, .k = 2, .order = TT_FAR};
  for (int64_t f = 2; f <= 1025; f = f < 70 ? f + 1 : 2 * f - f % 3) {
    tt_tree a = {&postal, f, false}, b = {&nomial, f, false};
    assert_int_equal(tt_shape_rounds(&a), tt_shape_rounds(&b));
    for (int64_t v = 0; v < f; v++) {
      assert_int_equal(tt_shape_below(&a, v).count, tt_shape_below(&b, v).count);
      assert_true(v == 0 || tt_shape_parent(&a, v) == tt_shape_parent(&b, v));
      assert_true(v == 0 || tt_shape_round(&a, v) == tt_shape_round(&b, v));
    }
  }
}

/* f ranks up to what 31 bits number: the path up from any label ends at the root. */
static void test_the_largest_trees_are_within_bounds(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 1);
  for (int k = 1; k <= K_MOST; k++) {
    tt_level_params level = postal_level(k);
    tt_tree tree = {&level, INT32_MAX, false};
    for (int n = 0; n < 200; n++) {
      int64_t v = 1 + (int64_t)tt_random_below(&random, INT32_MAX - 1), up = tt_shape_parent(&tree, v);
      assert_true(up >= 0 && up < v && tt_shape_is_under(&tree, up, v) && tt_shape_toward(&tree, up, v) == v);
      assert_int_equal(tt_shape_toward(&tree, 0, v) == v, up == 0);
    }
  }
}

/* ---- plans ---- */

static void expect_rounds(tt_collective collective, int k, int64_t ranks) {
  plans all;
  char params[32];
  snprintf(params, sizeof params, "[core:%d-postal]", k);
  plans_case of = {.problem = {.collective = collective, .rank_count = ranks, .root = ranks / 2}, .params = params};
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  int64_t takes = (int64_t)all.plan[0]->time_count + k - 1;
  assert_true(reached(takes, k) >= ranks && reached(takes - 1, k) < ranks);
  if (plans_verify(&of, &all) != TUTTI_OK)
    fail_msg("%s of %d ranks: %s", params, (int)ranks, tutti_last_error());
  plans_close(&all);
}

static void test_broadcast_and_reduce_take_the_rounds_of_the_model(void **state) {
  (void)state;
  for (int k = 1; k <= 7; k++)
    for (int64_t ranks = 2; ranks <= 40; ranks++) {
      expect_rounds(TT_BROADCAST, k, ranks);
      expect_rounds(TT_REDUCE, k, ranks);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rounds_are_the_fewest_of_the_recurrence),
      cmocka_unit_test(test_trees_keep_to_the_model),
      cmocka_unit_test(test_full_trees_reach_as_many_as_can_be_in_every_round),
      cmocka_unit_test(test_nine_labels_are_those_of_the_picture),
      cmocka_unit_test(test_1_postal_is_2_nomial_far_first),
      cmocka_unit_test(test_the_largest_trees_are_within_bounds),
      cmocka_unit_test(test_broadcast_and_reduce_take_the_rounds_of_the_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
