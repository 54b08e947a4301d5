/* lower/shape_test.c - every shape of the table, k and order over 1..40 groups: all that its row answers goes together
 * with its parents and rounds, and those are what the shape is in words.
 *
 * Definitions have digits of a label, not arithmetic on it. A shape that has none here has a test of its own. */
#include "support/trees.h"

enum { DIGITS = 8 };

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

static void build_star(const tt_tree *tree, int64_t v, built_tree *out) {
  (void)tree;
  out->parent[v] = out->round[v] = 0;
}

static void build_chain(const tt_tree *tree, int64_t v, built_tree *out) {
  (void)tree;
  out->parent[v] = out->round[v] = v - 1;
}

static void build_nomial(const tt_tree *tree, int64_t v, built_tree *out) {
  int64_t digit[DIGITS], last[DIGITS];
  split(v, tree->level->k, digit);
  split(tree->f - 1, tree->level->k, last);
  bool far = tree->level->order == TT_FAR;
  int dropped = far ? lowest_digit(digit) : highest_digit(digit);
  digit[dropped] = 0;
  out->parent[v] = join(tree->level->k, digit);
  out->round[v] = far ? highest_digit(last) - dropped : dropped;
}

/* As soon as a label's parent has it. */
static void build_round(int64_t v, built_tree *out) {
  out->round[v] = out->parent[v] == 0 ? 0 : out->round[out->parent[v]] + 1;
}

/* Labels are given to the children of `first`, of first + 1, ... in turn, k each. */
static void build_ary_from(const tt_tree *tree, int64_t v, int64_t first, built_tree *out) {
  out->parent[v] = v == first + 1 ? first : out->parent[v - 1];
  for (int64_t n = v - 1, siblings = 0; n > first && out->parent[n] == out->parent[v]; n--)
    out->parent[v] += ++siblings == tree->level->k;
  build_round(v, out);
}

static void build_ary(const tt_tree *tree, int64_t v, built_tree *out) { build_ary_from(tree, v, 0, out); }

static void build_planted(const tt_tree *tree, int64_t v, built_tree *out) {
  if (v > 1)
    build_ary_from(tree, v, 1, out);
}

/* The root's side has even labels, its partner's odd ones, both a round behind each other. */
static void build_exchange(const tt_tree *tree, int64_t v, built_tree *out) {
  (void)tree;
  out->parent[v] = v < 3 ? 0 : v == 3 ? 1 : v - 2;
  build_round(v, out);
  out->round[v] += v == 2;
}

static const struct {
  const tt_shape *shape;
  void (*build)(const tt_tree *tree, int64_t v, built_tree *out);
} definitions[] = {
    {&tt_shape_star, build_star}, {&tt_shape_chain, build_chain},     {&tt_shape_nomial, build_nomial},
    {&tt_shape_ary, build_ary},   {&tt_shape_planted, build_planted}, {&tt_shape_exchange, build_exchange},
};

/* ---- parents and rounds ---- */

static void check_definition(const tt_tree *tree) {
  built_tree all = {.rounds = 0};
  for (size_t n = 0; n < TT_COUNT(definitions); n++)
    for (int64_t v = 1; v < tree->f && definitions[n].shape == tree->level->shape; v++) {
      definitions[n].build(tree, v, &all);
      assert_int_equal(tt_shape_parent(tree, v), all.parent[v]);
      assert_int_equal(tt_shape_round(tree, v), all.round[v]);
    }
}

static void check_rounds(const tt_tree *tree) {
  built_tree all;
  tree_build(tree, &all);
  assert_int_equal(tt_shape_rounds(tree), all.rounds);
  for (int64_t v = 1; v < tree->f; v++)
    assert_true(all.parent[v] == 0 || all.round[v] > all.round[all.parent[v]]);
}

/* ---- all else ---- */

static void check_children(const tt_tree *tree) {
  built_tree all;
  tree_build(tree, &all);
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
  built_tree all;
  tree_build(tree, &all);
  for (int64_t v = 0; v < tree->f; v++)
    for (int64_t u = 0; u < tree->f; u++) {
      assert_int_equal(tt_shape_is_under(tree, v, u), tree_is_under(&all, v, u));
      if (u == v || !tree_is_under(&all, v, u))
        continue;
      int64_t child = tt_shape_toward(tree, v, u);
      assert_int_equal(all.parent[child], v);
      assert_true(tree_is_under(&all, child, u));
    }
}

static void check_below(const tt_tree *tree) {
  built_tree all;
  tree_build(tree, &all);
  for (int64_t v = 0; v < tree->f; v++) {
    int64_t next = v;
    for (int64_t u = v; u < tree->f; u++)
      if (tree_is_under(&all, v, u)) {
        assert_int_equal(next, u);
        next = tt_shape_next_below(tree, v, u);
      }
    assert_int_equal(next, tree->f);
  }
}

static void check_branches(const tt_tree *tree) {
  built_tree all;
  tree_build(tree, &all);
  for (int64_t v = 1; v < tree->f; v++) {
    int64_t older = 0;
    for (int64_t u = 1; u < v; u++)
      older += all.parent[u] == all.parent[v];
    assert_int_equal(tt_shape_branch(tree, v), tree->level->shape->branch ? older : 0);
  }
}

/* ---- rows ---- */

/* Whoever draws labellings at random keeps to what a row says. */
static void test_labellings_that_a_shape_cannot_have_do_not_fit(void **state) {
  (void)state;
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count; n++)
    for (int labelling = 0; labelling < TT_LABELLING_COUNT; labelling++) {
      tt_level_params level = {.shape = shapes[n], .k = 2, .labelling = (tt_labelling)labelling};
      bool can = tt_shape_about(shapes[n])->labellings >> labelling & 1;
      assert_int_equal(tt_shape_misfit(&(tt_tree){&level, 8, false}) == NULL, can);
    }
}

static void test_rows_say_what_they_are(void **state) {
  (void)state;
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    assert_true(*info->name && *info->tree && *info->rounds);
    assert_true(info->k_least <= info->k_most && (info->k_most == 0) == (info->k_least == 0));
    assert_true(shapes[n]->below || shapes[n]->next_row);
    assert_int_equal(!shapes[n]->label, !shapes[n]->group);
  }
}

/* ---- the tests ---- */

static void test_parents_and_rounds_are_those_of_the_definition(void **state) {
  (void)state;
  tree_every(check_definition);
}

static void test_rounds_grow_along_every_path(void **state) {
  (void)state;
  tree_every(check_rounds);
}

static void test_labels_below_are_each_given_once(void **state) {
  (void)state;
  tree_every(check_below);
}

static void test_children_are_all_labels_of_a_parent_ascending(void **state) {
  (void)state;
  tree_every(check_children);
}

static void test_subtrees_and_ways_down_are_those_of_the_tree(void **state) {
  (void)state;
  tree_every(check_subtrees);
}

static void test_branches_number_the_children_of_a_label(void **state) {
  (void)state;
  tree_every(check_branches);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parents_and_rounds_are_those_of_the_definition),
      cmocka_unit_test(test_rounds_grow_along_every_path),
      cmocka_unit_test(test_children_are_all_labels_of_a_parent_ascending),
      cmocka_unit_test(test_subtrees_and_ways_down_are_those_of_the_tree),
      cmocka_unit_test(test_labels_below_are_each_given_once),
      cmocka_unit_test(test_branches_number_the_children_of_a_label),
      cmocka_unit_test(test_labellings_that_a_shape_cannot_have_do_not_fit),
      cmocka_unit_test(test_rows_say_what_they_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
