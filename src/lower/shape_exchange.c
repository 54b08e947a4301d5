/* lower/shape_exchange.c - neighbor exchange (Chen et al. 2005): two chains, which begin at the root and its partner.
 *
 *   0 -> 1 2, 1 -> 3 -> 5, 2 -> 4 -> 6
 *
 * It has a labelling of its own: the partner first, then both sides in turn. Even groups have their partner behind,
 * odd ones before:
 *
 *   root in group 2 of 6: label 4 2 0 1 3 5;  root in group 3: label 5 3 1 0 2 4 */
#include "lower/shape.h"

static int64_t parent(const tt_tree *tree, int64_t v) {
  (void)tree;
  return v == 1 ? 0 : v - 2;
}

static int64_t round_of(const tt_tree *tree, int64_t v) {
  (void)tree;
  return v / 2;
}

static int64_t rounds(const tt_tree *tree) { return (tree->f - 1) / 2 + 1; }

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  *child = *child < 0 ? (v == 0 ? 1 : v + 2) : v == 0 && *child == 1 ? 2 : tree->f;
  return *child < tree->f;
}

static bool is_under(const tt_tree *tree, int64_t v, int64_t u) {
  (void)tree;
  return v == 0 || (u >= v && (u - v) % 2 == 0);
}

static int64_t toward(const tt_tree *tree, int64_t v, int64_t u) {
  (void)tree;
  return v > 0 ? v + 2 : u % 2 ? 1 : 2;
}

static tt_subset below(const tt_tree *tree, int64_t v) {
  int64_t stride = v == 0 ? 1 : 2;
  return (tt_subset){v, stride, (tree->f - v + stride - 1) / stride};
}

static const char *misfit(const tt_tree *tree) {
  if (tree->level->labelling != TT_ROTATE)
    return "exchange has a labelling of its own";
  return tree->f % 2 ? "exchange needs an even number of groups" : NULL;
}

/* ---- its labelling ---- */

static bool goes_back(const tt_tree *tree, int64_t home) { return (home % 2 == 1) != tree->backward; }

static int64_t label(const tt_tree *tree, int64_t group, int64_t home) {
  int64_t distance = goes_back(tree, home) ? home - group : group - home;
  distance += distance < 0 ? tree->f : 0;
  return distance == 0 ? 0 : 2 * distance <= tree->f ? 2 * distance - 1 : 2 * (tree->f - distance);
}

static int64_t group_of(const tt_tree *tree, int64_t v, int64_t home) {
  int64_t distance = v == 0 ? 0 : v % 2 ? (v + 1) / 2 : tree->f - v / 2;
  int64_t group = goes_back(tree, home) ? home - distance : home + distance;
  return group < 0 ? group + tree->f : group < tree->f ? group : group - tree->f;
}

const tt_shape tt_shape_exchange = {
    .info = {.name = "exchange",
             .tree = "neighbor exchange: the root and its partner, and a chain from each. Even f only",
             .rounds = "f / 2",
             .labellings = 1U << TT_ROTATE},
    .parent = parent,
    .round = round_of,
    .rounds = rounds,
    .next_child = next_child,
    .is_under = is_under,
    .toward = toward,
    .below = below,
    .misfit = misfit,
    .label = label,
    .group = group_of,
};
