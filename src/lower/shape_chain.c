/* lower/shape_chain.c - chain: each label sends to the next one.
 *
 *   0 -> 1 -> 2 -> 3 */
#include "lower/shape.h"

static int64_t parent(const tt_tree *tree, int64_t v) {
  (void)tree;
  return v - 1;
}

static int64_t round_of(const tt_tree *tree, int64_t v) {
  (void)tree;
  return v - 1;
}

static int64_t rounds(const tt_tree *tree) { return tree->f - 1; }

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  *child = *child < 0 ? v + 1 : tree->f;
  return *child < tree->f;
}

static bool is_under(const tt_tree *tree, int64_t v, int64_t u) {
  (void)tree;
  return u >= v;
}

static int64_t toward(const tt_tree *tree, int64_t v, int64_t u) {
  (void)tree, (void)u;
  return v + 1;
}

static tt_subset below(const tt_tree *tree, int64_t v) { return (tt_subset){v, 1, tree->f - v}; }

static tt_order_kept keeps_order(const tt_tree *tree) {
  (void)tree;
  return TT_KEPT_FROM_END;
}

const tt_shape tt_shape_chain = {
    .info = {.name = "chain", .tree = "0, 1, 2, ...", .rounds = "f - 1", .labellings = TT_ANY_LABELLING},
    .line = true,
    .parent = parent,
    .round = round_of,
    .rounds = rounds,
    .next_child = next_child,
    .is_under = is_under,
    .toward = toward,
    .below = below,
    .keeps_order = keeps_order,
};
