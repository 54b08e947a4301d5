/* lower/shape_star.c - star: the root sends to all others, in one round.
 *
 *   0 -> 1 2 3 */
#include "lower/shape.h"

static int64_t parent(const tt_tree *tree, int64_t v) {
  (void)tree, (void)v;
  return 0;
}

static int64_t round_of(const tt_tree *tree, int64_t v) {
  (void)tree, (void)v;
  return 0;
}

static int64_t rounds(const tt_tree *tree) {
  (void)tree;
  return 1;
}

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  *child = *child < 0 ? 1 : *child + 1;
  return v == 0 && *child < tree->f;
}

static bool is_under(const tt_tree *tree, int64_t v, int64_t u) {
  (void)tree;
  return v == 0 || u == v;
}

static int64_t toward(const tt_tree *tree, int64_t v, int64_t u) {
  (void)tree, (void)v;
  return u;
}

static tt_subset below(const tt_tree *tree, int64_t v) { return (tt_subset){v, 1, v == 0 ? tree->f : 1}; }

static bool shares(const tt_tree *tree) {
  (void)tree;
  return true;
}

const tt_shape tt_shape_star = {
    .info = {.name = "star", .tree = "the root to all others", .rounds = "1", .labellings = TT_ANY_LABELLING},
    .direct = true,
    .parent = parent,
    .round = round_of,
    .rounds = rounds,
    .next_child = next_child,
    .is_under = is_under,
    .toward = toward,
    .below = below,
    .shares = shares,
};
