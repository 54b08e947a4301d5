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

/* Labels are given to the children of `first`, of first + 1, ... in turn, k each. */
static void build_ary(const tt_tree *tree, int64_t v, int64_t first, built *out) {
  out->parent[v] = v == first + 1 ? first : out->parent[v - 1];
  for (int64_t n = v - 1, siblings = 0; n > first && out->parent[n] == out->parent[v]; n--)
    out->parent[v] += ++siblings == tree->level->k;
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
  case TT_EXCHANGE: /* the root's side has even labels, its partner's odd ones, both a round behind each other */
    out->parent[v] = v < 3 ? 0 : v - 2;
    out->parent[v] = v == 3 ? 1 : out->parent[v];
    break;
  case TT_PLANTED:
    if (v > 1)
      build_ary(tree, v, 1, out);
    break;
  default:
    build_ary(tree, v, 0, out);
  }
  out->round[v] = out->parent[v] == 0 ? tree->level->shape == TT_EXCHANGE && v == 2 : out->round[out->parent[v]] + 1;
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
            bool has_k = tt_shape_has_k(level.shape), has_order = shape == TT_KNOMIAL;
            if (tt_shape_misfit(&(tt_tree){&level, f, false}) || (labelling == TT_XOR && (f & (f - 1)) != 0) ||
                (level.k > 2 && !has_k) || (order > 0 && !has_order))
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

static void check_below(const tt_tree *tree) {
  built all;
  build(tree, &all);
  for (int64_t v = 0; v < tree->f; v++) {
    int64_t next = v;
    for (int64_t u = v; u < tree->f; u++)
      if (built_under(&all, v, u)) {
        assert_int_equal(next, u);
        next = tt_shape_next_below(tree, v, u);
      }
    assert_int_equal(next, tree->f);
  }
}

static void check_ways(const tt_tree *tree) {
  built all;
  build(tree, &all);
  for (int64_t v = 1; v < tree->f; v++) {
    int64_t older = 0;
    for (int64_t u = 1; u < v; u++)
      older += all.parent[u] == all.parent[v];
    bool side_by_side = tree->level->shape == TT_KARY || tree->level->shape == TT_PLANTED;
    assert_int_equal(tt_shape_way(tree, v), side_by_side ? older : 0);
  }
}

static void check_labels(const tt_tree *tree) {
  for (int64_t home = 0; home < tree->f; home++) {
    assert_int_equal(tt_shape_label(tree, home, home), 0);
    for (int64_t v = 0; v < tree->f; v++) {
      int64_t group = tt_shape_group(tree, v, home);
      assert_true(group >= 0 && group < tree->f);
      assert_int_equal(tt_shape_label(tree, group, home), v);
      bool back = tree->backward || tree->level->labelling == TT_REFLECT;
      int64_t step = tree->level->labelling == TT_XOR ? v ^ home : home + (back ? -v : v);
      if (tree->level->shape != TT_EXCHANGE)
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

/* Whether one of the first `count` groups is in a subtree. */
static void check_meetings(const tt_tree *tree) {
  built all;
  build(tree, &all);
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
static bool built_in_order(const tt_tree *tree, const built *all, int64_t home) {
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
  built all;
  build(tree, &all);
  for (int64_t home = 0; home < tree->f; home++) {
    bool in_order = built_in_order(tree, &all, home), claims = tt_shape_keeps_order(tree, home);
    ordered += in_order;
    claimed += claims;
    assert_true(in_order || !claims);
    assert_true(claims || !tt_shape_always_keeps_order(tree));
    if (tree->level->shape == TT_STAR || (tree->level->shape == TT_CHAIN && tree->level->labelling != TT_XOR))
      assert_int_equal(claims, in_order);
    if (tree->level->shape == TT_KNOMIAL && tree->level->labelling == TT_XOR && tree->level->order == TT_FAR)
      assert_true(claims || (tree->level->k & (tree->level->k - 1)) != 0);
  }
}

/* ---- exchange ---- */

/* Whom rank r exchanges with in a round: pairs first, then the neighbor on the other side, and so on in turn. */
static int64_t partner_of(int64_t r, int64_t round, int64_t f) {
  bool up = (r % 2 == 0) == (round % 2 == 0);
  return (r + (up ? 1 : f - 1)) % f;
}

/* Chen et al.: first the own block, then both of the pair, then what came in the round before. */
static void check_exchange(int64_t f) {
  tt_level_params level = {.name = "core", .shape = TT_EXCHANGE, .k = 2};
  tt_tree tree = {&level, f, false};
  uint64_t new[GROUPS], came[GROUPS];
  for (int64_t r = 0; r < f; r++)
    new[r] = (uint64_t)1 << r;
  for (int64_t round = 0; round < f / 2; round++) {
    for (int64_t r = 0; r < f; r++) {
      int64_t from = partner_of(r, round, f);
      came[r] = new[from];
      for (int64_t home = 0; home < f; home++)
        if (new[from] >> home & 1) {
          int64_t v = tt_shape_label(&tree, r, home);
          assert_int_equal(tt_shape_round(&tree, v), round);
          assert_int_equal(tt_shape_group(&tree, tt_shape_parent(&tree, v), home), from);
        }
    }
    for (int64_t r = 0; r < f; r++)
      new[r] = round == 0 ? new[r] | came[r] : came[r];
  }
  assert_int_equal(tt_shape_rounds(&tree), f / 2);
}

static void test_exchange_is_neighbor_exchange(void **state) {
  (void)state;
  for (int64_t f = 2; f <= GROUPS; f += 2)
    check_exchange(f);
}

static void test_misfits_say_why(void **state) {
  (void)state;
  tt_level_params level = {.name = "core", .shape = TT_EXCHANGE, .k = 2};
  assert_null(tt_shape_misfit(&(tt_tree){&level, 1, false}));
  assert_null(tt_shape_misfit(&(tt_tree){&level, 6, false}));
  assert_string_equal(tt_shape_misfit(&(tt_tree){&level, 7, false}), "exchange needs an even number of groups");
  level.labelling = TT_XOR;
  assert_string_equal(tt_shape_misfit(&(tt_tree){&level, 8, false}), "exchange has a labelling of its own");
}

static void test_sets_meet_the_first_groups_as_built(void **state) {
  (void)state;
  for_every_tree(check_meetings);
}

static void test_trees_that_claim_to_keep_order_do(void **state) {
  (void)state;
  ordered = claimed = 0;
  for_every_tree(check_order);
  print_message("%d of %d trees that keep order claim it\n", (int)claimed, (int)ordered);
  assert_true(2 * claimed > ordered);
}

static void test_labels_below_are_each_given_once(void **state) {
  (void)state;
  for_every_tree(check_below);
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
      cmocka_unit_test(test_labels_below_are_each_given_once),
      cmocka_unit_test(test_sets_meet_the_first_groups_as_built),
      cmocka_unit_test(test_trees_that_claim_to_keep_order_do),
      cmocka_unit_test(test_exchange_is_neighbor_exchange),
      cmocka_unit_test(test_misfits_say_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
