/* lower/label.c - labellings: where the tree's labels lie among the groups, and what that says about sets of groups.
 *
 *   rotate    label = distance from the root's group, around          root in group 2 of 5:   label 3 4 0 1 2
 *   reflect   the same the other way around                                                   label 2 1 0 4 3
 *   xor       label = group number xor the root's; powers of two only
 *   exchange  has its own: the partner first, then both sides in turn. Even groups have theirs behind, odd ones before:
 *             root in group 2 of 6: label 4 2 0 1 3 5;  root in group 3: label 5 3 1 0 2 4 */
#include "lower/shape.h"

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

static bool is_exchange(const tt_tree *tree) { return tree->level->shape == TT_EXCHANGE; }

static bool goes_back(const tt_tree *tree, int64_t home) {
  if (is_exchange(tree))
    return (home % 2 == 1) != tree->backward;
  return tree->level->labelling == TT_REFLECT || tree->backward;
}

/* Distance from home in the labelling's direction, around; and back. */
static int64_t distance_of(const tt_tree *tree, int64_t group, int64_t home) {
  int64_t distance = goes_back(tree, home) ? home - group : group - home;
  return distance < 0 ? distance + tree->f : distance;
}

static int64_t group_at(const tt_tree *tree, int64_t distance, int64_t home) {
  int64_t group = goes_back(tree, home) ? home - distance : home + distance;
  return group < 0 ? group + tree->f : group < tree->f ? group : group - tree->f;
}

int64_t tt_shape_label(const tt_tree *tree, int64_t group, int64_t home) {
  if (tree->level->labelling == TT_XOR)
    return group ^ home;
  int64_t distance = distance_of(tree, group, home);
  if (!is_exchange(tree))
    return distance;
  return distance == 0 ? 0 : 2 * distance <= tree->f ? 2 * distance - 1 : 2 * (tree->f - distance);
}

int64_t tt_shape_group(const tt_tree *tree, int64_t v, int64_t home) {
  if (tree->level->labelling == TT_XOR)
    return v ^ home;
  if (is_exchange(tree) && v > 0)
    return group_at(tree, v % 2 ? (v + 1) / 2 : tree->f - v / 2, home);
  return group_at(tree, v, home);
}

/* ---- sets of groups ---- */

/* xor keeps a strided range one where it is a coset or an aligned run of a power of two. */
static bool xor_subset(tt_subset *set, int64_t home) {
  if (!is_power_of_two(set->stride) || !is_power_of_two(set->count))
    return false;
  if (set->stride == 1) {
    if (set->first % set->count != 0)
      return false;
    set->first = (set->first ^ home) / set->count * set->count;
    return true;
  }
  if (set->first >= set->stride)
    return false;
  set->first = (set->first ^ home) % set->stride;
  return true;
}

tt_subset tt_shape_subset(const tt_tree *tree, int64_t v, int64_t home) {
  tt_subset set = tt_shape_below(tree, v), unique = {home, 0, v};
  if (set.stride == 0 || is_exchange(tree))
    return unique;
  if (tree->level->labelling == TT_XOR)
    return xor_subset(&set, home) ? set : unique;
  int64_t last = set.first + (set.count - 1) * set.stride;
  set.first = tt_shape_group(tree, goes_back(tree, home) ? last : set.first, home);
  if (set.count * set.stride == tree->f) /* a coset: it does not matter where it begins */
    set.first %= set.stride;
  return set;
}

/* Whether labels first .. last have one of the groups 0 .. count - 1, where labels advance with the groups or against
 * them. */
static bool run_meets(const tt_tree *tree, int64_t first, int64_t last, int64_t home, int64_t count) {
  int64_t begin = tt_shape_label(tree, goes_back(tree, home) ? count - 1 : 0, home), end = begin + count - 1;
  return (first <= end && last >= begin) || first + tree->f <= end;
}

/* The same for all labels below v in a k-ary tree. */
static bool ary_meets(const tt_tree *tree, int64_t v, int64_t home, int64_t count) {
  int64_t first = v, last = v;
  do
    if (run_meets(tree, first, last, home, count))
      return true;
  while (tt_shape_next_row(tree, &first, &last));
  return false;
}

/* A strided set in ascending order: its smallest group is the first, or the first one after it goes around. */
static bool set_meets(const tt_tree *tree, const tt_subset *set, int64_t count) {
  int64_t before = (tree->f - set->first + set->stride - 1) / set->stride;
  return set->first < count || (before < set->count && set->first + before * set->stride - tree->f < count);
}

bool tt_shape_meets(const tt_tree *tree, int64_t v, int64_t home, int64_t count) {
  if (count <= 0 || count >= tree->f)
    return count > 0;
  tt_subset set = tt_shape_subset(tree, v, home);
  if (set.stride > 0)
    return set_meets(tree, &set, count);
  if (tree->level->labelling != TT_XOR && !is_exchange(tree))
    return ary_meets(tree, v, home, count);
  for (int64_t group = 0; group < count; group++)
    if (tt_shape_is_under(tree, v, tt_shape_label(tree, group, home)))
      return true;
  return false;
}

/* ---- what reductions need to know ---- */

static bool is_far_nomial(const tt_tree *tree) {
  return tree->level->shape == TT_KNOMIAL && tree->level->order == TT_FAR;
}

bool tt_shape_shares(const tt_tree *tree) {
  int64_t k = tree->level->k, power = 1;
  if (tree->level->shape == TT_STAR || tree->f < 2)
    return true;
  if (tree->level->shape != TT_KNOMIAL)
    return false;
  if (tree->level->labelling == TT_XOR)
    return is_power_of_two(k);
  while (power < tree->f)
    power *= k;
  return !is_far_nomial(tree) && power == tree->f;
}

/* All labels are children of the root, in one round. */
static bool is_star(const tt_tree *tree) {
  int64_t children = tree->f - 1, k = tree->level->k;
  switch (tree->level->shape) {
  case TT_STAR:
    return true;
  case TT_KNOMIAL:
    return children < k;
  case TT_KARY:
    return children <= k;
  default:
    return children < 2;
  }
}

bool tt_shape_always_keeps_order(const tt_tree *tree) {
  bool halves = tree->level->labelling == TT_XOR && is_far_nomial(tree) && is_power_of_two(tree->level->k);
  return is_star(tree) || halves; /* each subtree of the latter is an aligned run, whatever the root */
}

bool tt_shape_keeps_order(const tt_tree *tree, int64_t home) {
  if (tt_shape_always_keeps_order(tree))
    return true;
  bool ends = home == 0 || home == tree->f - 1, back = tree->level->labelling != TT_XOR && goes_back(tree, home);
  bool straight = home == (back ? tree->f - 1 : 0); /* labels are groups, in order or against it */
  if (tree->level->shape == TT_CHAIN)
    return straight || (ends && tree->level->labelling != TT_XOR);
  return straight && is_far_nomial(tree);
}
