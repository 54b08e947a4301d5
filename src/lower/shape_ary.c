/* lower/shape_ary.c - k-ary: every label has k children, while there are labels.
 *
 *   2-ary
 *   0 -> 1 2, 1 -> 3 4 */
#include "lower/shape.h"

static int64_t first_child(const tt_tree *tree, int64_t v) { return tree->level->k * v + 1; }

static int64_t parent(const tt_tree *tree, int64_t v) { return (v - 1) / tree->level->k; }

static int64_t depth(const tt_tree *tree, int64_t v) {
  int64_t steps = 0;
  for (; v > 0; v = parent(tree, v))
    steps++;
  return steps;
}

static int64_t round_of(const tt_tree *tree, int64_t v) { return depth(tree, v) - 1; }

static int64_t rounds(const tt_tree *tree) { return depth(tree, tree->f - 1); }

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  int64_t first = first_child(tree, v);
  *child = *child < 0 ? first : *child + 1;
  return *child < first + tree->level->k && *child < tree->f;
}

static bool is_under(const tt_tree *tree, int64_t v, int64_t u) {
  while (u > v)
    u = parent(tree, u);
  return u == v;
}

static int64_t toward(const tt_tree *tree, int64_t v, int64_t u) {
  while (parent(tree, u) != v)
    u = parent(tree, u);
  return u;
}

static bool next_row(const tt_tree *tree, int64_t *first, int64_t *last) {
  int64_t behind = first_child(tree, *last + 1);
  *first = first_child(tree, *first);
  *last = behind < tree->f ? behind - 1 : tree->f - 1;
  return *first < tree->f;
}

static int64_t way(const tt_tree *tree, int64_t v) { return v - first_child(tree, parent(tree, v)); }

const tt_shape tt_shape_ary = {
    .info = {.name = "ary",
             .tree = "children of v: K v + 1 .. K v + K",
             .rounds = "depth",
             .k_least = 2,
             .k_most = TT_K_MOST,
             .labellings = TT_ANY_LABELLING},
    .parent = parent,
    .round = round_of,
    .rounds = rounds,
    .next_child = next_child,
    .is_under = is_under,
    .toward = toward,
    .next_row = next_row,
    .way = way,
};
