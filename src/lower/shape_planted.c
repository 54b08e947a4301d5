/* lower/shape_planted.c - k-planted: a k-ary tree whose root is the only child of label 0, as in two-tree algorithms
 * (Sanders, Speck, Traeff 2009).
 *
 *   2-planted
 *   0 -> 1, 1 -> 2 3, 2 -> 4 5 */
#include "lower/shape.h"

static int64_t first_child(const tt_tree *tree, int64_t v) { return v == 0 ? 1 : tree->level->k * (v - 1) + 2; }

static int64_t parent(const tt_tree *tree, int64_t v) { return v == 1 ? 0 : (v - 2) / tree->level->k + 1; }

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  int64_t first = first_child(tree, v), most = v == 0 ? 1 : tree->level->k;
  *child = *child < 0 ? first : *child + 1;
  return *child < first + most && *child < tree->f;
}

static bool next_row(const tt_tree *tree, int64_t *first, int64_t *last) {
  int64_t behind = first_child(tree, *last + 1);
  *first = first_child(tree, *first);
  *last = behind < tree->f ? behind - 1 : tree->f - 1;
  return *first < tree->f;
}

static int64_t branch(const tt_tree *tree, int64_t v) { return v - first_child(tree, parent(tree, v)); }

const tt_shape tt_shape_planted = {
    .info = {.name = "planted",
             .tree = "the root has one child, which is the root of a K-ary tree",
             .rounds = "depth",
             .k_least = 2,
             .k_most = TT_K_MOST,
             .labellings = TT_ANY_LABELLING},
    .parent = parent,
    .next_child = next_child,
    .next_row = next_row,
    .branch = branch,
};
