/* lower/shape_ary.c - k-ary: every label has k children, while there are labels.
 *
 *   2-ary
 *   0 -> 1 2, 1 -> 3 4 */
#include "lower/shape.h"

static int64_t first_child(const tt_tree *tree, int64_t v) { return tree->level->k * v + 1; }

static int64_t parent(const tt_tree *tree, int64_t v) { return (v - 1) / tree->level->k; }

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  int64_t first = first_child(tree, v);
  *child = *child < 0 ? first : *child + 1;
  return *child < first + tree->level->k && *child < tree->f;
}

static bool next_row(const tt_tree *tree, int64_t *first, int64_t *last) {
  int64_t behind = first_child(tree, *last + 1);
  *first = first_child(tree, *first);
  *last = behind < tree->f ? behind - 1 : tree->f - 1;
  return *first < tree->f;
}

static int64_t branch(const tt_tree *tree, int64_t v) { return v - first_child(tree, parent(tree, v)); }

const tt_shape tt_shape_ary = {
    .info = {.name = "ary",
             .tree = "children of v: K v + 1 .. K v + K",
             .rounds = "depth",
             .k_least = 2,
             .k_most = TT_K_MOST,
             .labellings = TT_ANY_LABELLING},
    .parent = parent,
    .next_child = next_child,
    .next_row = next_row,
    .branch = branch,
};
