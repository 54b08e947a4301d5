/* lower/label_test.c - where labels lie among groups, and what that says about sets of groups, for every shape of the
 * table, k, order and labelling over 1..40 groups: the same as its tree built edge by edge. */
#include "support/trees.h"

static void check_labels(const tt_tree *tree) {
  for (int64_t home = 0; home < tree->f; home++) {
    assert_int_equal(tt_shape_label(tree, home, home), 0);
    for (int64_t v = 0; v < tree->f; v++) {
      int64_t group = tt_shape_group(tree, v, home);
      assert_true(group >= 0 && group < tree->f);
      assert_int_equal(tt_shape_label(tree, group, home), v);
      bool back = tree->backward || tree->level->labelling == TT_REFLECT;
      int64_t step = tree->level->labelling == TT_XOR ? v ^ home : home + (back ? -v : v);
      if (!tree->level->shape->label)
        assert_int_equal(group, (step + tree->f) % tree->f);
    }
  }
}

/* ---- subsets ---- */

typedef struct named_set {
  tt_subset name;
  uint64_t groups; /* bit for each */
} named_set;

static uint64_t groups_below(const tt_tree *tree, const built_tree *all, int64_t v, int64_t home) {
  uint64_t groups = 0;
  for (int64_t u = 0; u < tree->f; u++)
    if (tree_is_under(all, v, u))
      groups |= (uint64_t)1 << tt_shape_group(tree, u, home);
  return groups;
}

static bool same_name(const tt_subset *a, const tt_subset *b) {
  return a->first == b->first && a->stride == b->stride && a->count == b->count;
}

/* Equal names are equal sets. Equal sets below one label have equal names where the shape has strided ones. */
static void check_subsets(const tt_tree *tree) {
  static named_set seen[TREE_GROUPS * TREE_GROUPS];
  int64_t count = 0;
  built_tree all;
  tree_build(tree, &all);
  for (int64_t home = 0; home < tree->f; home++)
    for (int64_t v = 1; v < tree->f; v++)
      seen[count++] = (named_set){tt_shape_subset(tree, v, home), groups_below(tree, &all, v, home)};
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < a; b++) {
      if (same_name(&seen[a].name, &seen[b].name))
        assert_true(seen[a].groups == seen[b].groups);
      bool strided = seen[a].name.stride && seen[b].name.stride, same_label = (a - b) % (tree->f - 1) == 0;
      if (strided && same_label && seen[a].groups == seen[b].groups)
        assert_true(same_name(&seen[a].name, &seen[b].name));
    }
}

/* Where partial results are shared, the sets that two trees combine are equal or apart or one in the other, in every
 * round. */
static void check_sharing(const tt_tree *tree) {
  if (!tt_shape_shares(tree) || tree->f < 2 || tree->level->shape->direct)
    return;
  built_tree all;
  tree_build(tree, &all);
  for (int64_t v = 1; v < tree->f; v++)
    for (int64_t u = 1; u < tree->f; u++)
      for (int64_t home = 0; home < tree->f; home++)
        for (int64_t other = 0; other < tree->f; other++) {
          if (all.round[v] != all.round[u] || tt_shape_group(tree, v, home) != tt_shape_group(tree, u, other))
            continue;
          assert_true(groups_below(tree, &all, v, home) == groups_below(tree, &all, u, other));
        }
}

/* Whether one of the first `count` groups is in a subtree. */
static void check_meetings(const tt_tree *tree) {
  built_tree all;
  tree_build(tree, &all);
  for (int64_t home = 0; home < tree->f; home++)
    for (int64_t v = 0; v < tree->f; v++) {
      uint64_t below = groups_below(tree, &all, v, home);
      for (int64_t count = 0; count <= tree->f; count++)
        assert_int_equal(tt_shape_meets(tree, v, home, count), (below & (((uint64_t)1 << count) - 1)) != 0);
    }
}

/* ---- rank order ---- */

static bool is_run(uint64_t groups) {
  while (groups && !(groups & 1))
    groups >>= 1;
  return (groups & (groups + 1)) == 0;
}

/* Whether a reduction can combine all that comes in a round with what is there, in the order of the groups. */
static bool built_in_order(const tt_tree *tree, const built_tree *all, int64_t home) {
  for (int64_t v = 0; v < tree->f; v++) {
    uint64_t held = (uint64_t)1 << tt_shape_group(tree, v, home);
    for (int64_t round = all->rounds - 1; round >= 0; round--) {
      for (int64_t u = v + 1; u < tree->f; u++)
        if (all->parent[u] == v && all->round[u] == round)
          held |= groups_below(tree, all, u, home);
      if (!is_run(held))
        return false;
    }
  }
  return true;
}

static int64_t ordered, claimed;

static void check_order(const tt_tree *tree) {
  built_tree all;
  tree_build(tree, &all);
  for (int64_t home = 0; home < tree->f; home++) {
    bool in_order = built_in_order(tree, &all, home), claims = tt_shape_keeps_order(tree, home);
    ordered += in_order;
    claimed += claims;
    assert_true(in_order || !claims);
    assert_true(claims || !tt_shape_always_keeps_order(tree));
    if (tree->level->shape->direct || (tree->level->shape->line && tree->level->labelling != TT_XOR))
      assert_int_equal(claims, in_order);
    if (tree->level->shape == &tt_shape_nomial && tree->level->labelling == TT_XOR && tree->level->order == TT_FAR)
      assert_true(claims || (tree->level->k & (tree->level->k - 1)) != 0);
  }
}

/* ---- the tests ---- */

static void test_labels_and_groups_are_inverse(void **state) {
  (void)state;
  tree_every(check_labels);
}

static void test_subset_names_are_equal_for_equal_sets(void **state) {
  (void)state;
  tree_every(check_subsets);
}

static void test_shared_partial_results_have_equal_contributions(void **state) {
  (void)state;
  tree_every(check_sharing);
}

static void test_sets_meet_the_first_groups_as_built(void **state) {
  (void)state;
  tree_every(check_meetings);
}

static void test_trees_that_claim_to_keep_order_do(void **state) {
  (void)state;
  ordered = claimed = 0;
  tree_every(check_order);
  print_message("%d of %d trees that keep order claim it\n", (int)claimed, (int)ordered);
  assert_true(2 * claimed > ordered);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_labels_and_groups_are_inverse),
      cmocka_unit_test(test_subset_names_are_equal_for_equal_sets),
      cmocka_unit_test(test_shared_partial_results_have_equal_contributions),
      cmocka_unit_test(test_sets_meet_the_first_groups_as_built),
      cmocka_unit_test(test_trees_that_claim_to_keep_order_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
