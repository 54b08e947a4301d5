/* lower/shape_test.c - every shape, k, order and labelling over 1..40 groups says the same as its tree built edge by
 * edge.
 *
 * The trees are built here from their definition in words: digits of a label, not arithmetic on it. */
#include "lower/shape.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

enum { GROUPS = 40, DIGITS = 8 };

typedef struct built {
  int64_t parent[GROUPS], round[GROUPS], rounds;
} built;

/* Digits of v in base k, lowest first. */
static void split(int64_t v, int k, int64_t digit[DIGITS]) {
  for (int n = 0; n < DIGITS; n++, v /= k)
    digit[n] = v % k;
}

static int64_t join(int k, const int64_t digit[DIGITS]) {
  int64_t v = 0;
  for (int n = DIGITS - 1; n >= 0; n--)
    v = v * k + digit[n];
  return v;
}

static int highest_digit(const int64_t digit[DIGITS]) {
  int n = DIGITS - 1;
  while (n > 0 && digit[n] == 0)
    n--;
  return n;
}

static int lowest_digit(const int64_t digit[DIGITS]) {
  int n = 0;
  while (digit[n] == 0)
    n++;
  return n;
}

static void build_nomial(const tt_tree *tree, int64_t v, built *out) {
  int64_t digit[DIGITS], last[DIGITS];
  split(v, tree->level->k, digit);
  split(tree->f - 1, tree->level->k, last);
  bool far = tree->level->order == TT_FAR;
  int dropped = far ? lowest_digit(digit) : highest_digit(digit);
  digit[dropped] = 0;
  out->parent[v] = join(tree->level->k, digit);
  out->round[v] = far ? highest_digit(last) - dropped : dropped;
}

static void build_label(const tt_tree *tree, int64_t v, built *out) {
  switch (tree->level->shape) {
  case TT_STAR:
    out->parent[v] = 0;
    out->round[v] = 0;
    return;
  case TT_CHAIN:
    out->parent[v] = v - 1;
    out->round[v] = v - 1;
    return;
  case TT_KNOMIAL:
    build_nomial(tree, v, out);
    return;
  default: /* k-ary: labels are given to the children of 0, of 1, ... in turn */
    out->parent[v] = v == 1 ? 0 : out->parent[v - 1];
    for (int64_t n = v - 1, siblings = 0; n > 0 && out->parent[n] == out->parent[v]; n--)
      out->parent[v] += ++siblings == tree->level->k;
    out->round[v] = out->parent[v] == 0 ? 0 : out->round[out->parent[v]] + 1;
  }
}

static void build(const tt_tree *tree, built *out) {
  memset(out, 0, sizeof *out);
  for (int64_t v = 1; v < tree->f; v++) {
    build_label(tree, v, out);
    out->rounds = out->round[v] + 1 > out->rounds ? out->round[v] + 1 : out->rounds;
  }
}

static bool built_under(const built *in, int64_t v, int64_t u) {
  while (u > v)
    u = in->parent[u];
  return u == v;
}

/* Calls `check` for every shape, k, order, labelling and number of groups; xor for powers of two only, as lowering
 * does. */
static void for_every_tree(void (*check)(const tt_tree *tree)) {
  tt_level_params level = {.name = "core"};
  for (int shape = 0; shape < TT_SHAPE_COUNT; shape++)
    for (level.k = 2; level.k <= 5; level.k++)
      for (int order = 0; order < TT_ORDER_COUNT; order++)
        for (int labelling = 0; labelling < TT_LABELLING_COUNT; labelling++)
          for (int64_t f = 1; f <= GROUPS; f++) {
            level.shape = (tt_shape)shape;
            level.order = (tt_order)order;
            level.labelling = (tt_labelling)labelling;
            bool has_k = shape == TT_KNOMIAL || shape == TT_KARY, has_order = shape == TT_KNOMIAL;
            if ((labelling == TT_XOR && (f & (f - 1)) != 0) || (level.k > 2 && !has_k) || (order > 0 && !has_order))
              continue;
            check(&(tt_tree){&level, f, false});
            if (labelling == TT_ROTATE)
              check(&(tt_tree){&level, f, true});
          }
}

static void check_parents(const tt_tree *tree) {
  built all;
  build(tree, &all);
  assert_int_equal(tt_shape_rounds(tree), all.rounds);
  for (int64_t v = 1; v < tree->f; v++) {
    assert_int_equal(tt_shape_parent(tree, v), all.parent[v]);
    assert_int_equal(tt_shape_round(tree, v), all.round[v]);
    assert_true(all.parent[v] == 0 || tt_shape_round(tree, v) > tt_shape_round(tree, all.parent[v]));
  }
}

static void check_children(const tt_tree *tree) {
  built all;
  build(tree, &all);
  for (int64_t v = 0; v < tree->f; v++) {
    int64_t child = -1;
    for (int64_t u = v + 1; u < tree->f; u++)
      if (all.parent[u] == v) {
        assert_true(tt_shape_next_child(tree, v, &child));
        assert_int_equal(child, u);
      }
    assert_false(tt_shape_next_child(tree, v, &child));
  }
}

static void check_subtrees(const tt_tree *tree) {
  built all;
  build(tree, &all);
  for (int64_t v = 0; v < tree->f; v++)
    for (int64_t u = 0; u < tree->f; u++) {
      assert_int_equal(tt_shape_is_under(tree, v, u), built_under(&all, v, u));
      if (u == v || !built_under(&all, v, u))
        continue;
      int64_t child = tt_shape_toward(tree, v, u);
      assert_int_equal(all.parent[child], v);
      assert_true(built_under(&all, child, u));
    }
}

static void check_ways(const tt_tree *tree) {
  built all;
  build(tree, &all);
  for (int64_t v = 1; v < tree->f; v++) {
    int64_t older = 0;
    for (int64_t u = 1; u < v; u++)
      older += all.parent[u] == all.parent[v];
    assert_int_equal(tt_shape_way(tree, v), tree->level->shape == TT_KARY ? older : 0);
  }
}

static void check_labels(const tt_tree *tree) {
  for (int64_t home = 0; home < tree->f; home++) {
    assert_int_equal(tt_shape_label(tree, home, home), 0);
    for (int64_t v = 0; v < tree->f; v++) {
      int64_t group = tt_shape_group(tree, v, home);
      assert_true(group >= 0 && group < tree->f);
      assert_int_equal(tt_shape_label(tree, group, home), v);
      int64_t step = tree->level->labelling == TT_XOR ? v ^ home : home + (tree->backward ? -v : v);
      assert_int_equal(group, (step + tree->f) % tree->f);
    }
  }
}

/* ---- subsets ---- */

typedef struct named_set {
  tt_subset name;
  uint64_t groups; /* bit for each */
} named_set;

static uint64_t groups_below(const tt_tree *tree, const built *all, int64_t v, int64_t home) {
  uint64_t groups = 0;
  for (int64_t u = 0; u < tree->f; u++)
    if (built_under(all, v, u))
      groups |= (uint64_t)1 << tt_shape_group(tree, u, home);
  return groups;
}

static bool same_name(const tt_subset *a, const tt_subset *b) {
  return a->first == b->first && a->stride == b->stride && a->count == b->count;
}

/* Equal names are equal sets. Equal sets below one label have equal names where the shape has strided ones. */
static void check_subsets(const tt_tree *tree) {
  static named_set seen[GROUPS * GROUPS];
  int64_t count = 0;
  built all;
  build(tree, &all);
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
  if (!tt_shape_shares(tree) || tree->f < 2 || tree->level->shape == TT_STAR)
    return;
  built all;
  build(tree, &all);
  for (int64_t v = 1; v < tree->f; v++)
    for (int64_t u = 1; u < tree->f; u++)
      for (int64_t home = 0; home < tree->f; home++)
        for (int64_t other = 0; other < tree->f; other++) {
          if (all.round[v] != all.round[u] || tt_shape_group(tree, v, home) != tt_shape_group(tree, u, other))
            continue;
          assert_true(groups_below(tree, &all, v, home) == groups_below(tree, &all, u, other));
        }
}

static void test_parents_and_rounds_are_those_of_the_tree(void **state) {
  (void)state;
  for_every_tree(check_parents);
}

static void test_children_are_all_labels_of_a_parent_ascending(void **state) {
  (void)state;
  for_every_tree(check_children);
}

static void test_subtrees_and_ways_down_are_those_of_the_tree(void **state) {
  (void)state;
  for_every_tree(check_subtrees);
}

static void test_only_k_ary_branches_go_on_side_by_side(void **state) {
  (void)state;
  for_every_tree(check_ways);
}

static void test_labels_and_groups_are_inverse(void **state) {
  (void)state;
  for_every_tree(check_labels);
}

static void test_subset_names_are_equal_for_equal_sets(void **state) {
  (void)state;
  for_every_tree(check_subsets);
}

static void test_shared_partial_results_have_equal_contributions(void **state) {
  (void)state;
  for_every_tree(check_sharing);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parents_and_rounds_are_those_of_the_tree),
      cmocka_unit_test(test_children_are_all_labels_of_a_parent_ascending),
      cmocka_unit_test(test_subtrees_and_ways_down_are_those_of_the_tree),
      cmocka_unit_test(test_only_k_ary_branches_go_on_side_by_side),
      cmocka_unit_test(test_labels_and_groups_are_inverse),
      cmocka_unit_test(test_subset_names_are_equal_for_equal_sets),
      cmocka_unit_test(test_shared_partial_results_have_equal_contributions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
