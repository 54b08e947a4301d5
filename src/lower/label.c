/* lower/label.c - labellings: where the tree's labels lie among the groups, and what that says about sets of groups.
 *
 *   rotate    label = distance from the root's group, around          root in group 2 of 5:   label 3 4 0 1 2
 *   reflect   the same the other way around                                                   label 2 1 0 4 3
 *   xor       label = group number xor the root's; powers of two only
 *
 * A shape may have one of its own instead. */
#include "lower/shape.h"

#include <assert.h>

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

static bool has_own(const tt_tree *tree) { return tree->level->shape->label != NULL; }

static bool goes_back(const tt_tree *tree) { return tree->level->labelling == TT_REFLECT || tree->backward; }

int64_t tt_shape_label(const tt_tree *tree, int64_t group, int64_t home) {
  assert(group >= 0 && group < tree->f && home >= 0 && home < tree->f);
  assert(tree->level->labelling != TT_XOR || is_power_of_two(tree->f)); /* others are folded */
  if (tree->level->labelling == TT_XOR)
    return group ^ home;
  if (has_own(tree))
    return tree->level->shape->label(tree, group, home);
  int64_t distance = goes_back(tree) ? home - group : group - home;
  return distance < 0 ? distance + tree->f : distance;
}

int64_t tt_shape_group(const tt_tree *tree, int64_t v, int64_t home) {
  assert(v >= 0 && v < tree->f && home >= 0 && home < tree->f);
  if (tree->level->labelling == TT_XOR)
    return v ^ home;
  if (has_own(tree))
    return tree->level->shape->group(tree, v, home);
  int64_t group = goes_back(tree) ? home - v : home + v;
  return group < 0 ? group + tree->f : group < tree->f ? group : group - tree->f;
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
  if (set.stride == 0 || has_own(tree))
    return unique;
  if (tree->level->labelling == TT_XOR)
    return xor_subset(&set, home) ? set : unique;
  int64_t last = set.first + (set.count - 1) * set.stride;
  set.first = tt_shape_group(tree, goes_back(tree) ? last : set.first, home);
  if (set.count * set.stride == tree->f) /* a coset: it does not matter where it begins */
    set.first %= set.stride;
  return set;
}

/* Whether labels first .. last have one of the groups 0 .. count - 1, where labels advance with the groups or against
 * them. */
static bool run_meets(const tt_tree *tree, int64_t first, int64_t last, int64_t home, int64_t count) {
  int64_t begin = tt_shape_label(tree, goes_back(tree) ? count - 1 : 0, home), end = begin + count - 1;
  return (first <= end && last >= begin) || first + tree->f <= end;
}

/* The same for all labels below v, row by row. */
static bool rows_meet(const tt_tree *tree, int64_t v, int64_t home, int64_t count) {
  int64_t first = v, last = v;
  do
    if (run_meets(tree, first, last, home, count))
      return true;
  while (tree->level->shape->next_row(tree, &first, &last));
  return false;
}

/* A strided set in ascending order: its smallest group is the first, or the first one after it goes around. */
static bool set_meets(const tt_tree *tree, const tt_subset *set, int64_t count) {
  assert(set->first >= 0 && set->first < tree->f && set->stride > 0);
  int64_t before = (tree->f - set->first + set->stride - 1) / set->stride;
  return set->first < count || (before < set->count && set->first + before * set->stride - tree->f < count);
}

bool tt_shape_meets(const tt_tree *tree, int64_t v, int64_t home, int64_t count) {
  if (count <= 0 || count >= tree->f)
    return count > 0;
  tt_subset set = tt_shape_subset(tree, v, home);
  if (set.stride > 0)
    return set_meets(tree, &set, count);
  if (tree->level->shape->next_row && tree->level->labelling != TT_XOR && !has_own(tree))
    return rows_meet(tree, v, home, count);
  for (int64_t group = 0; group < count; group++)
    if (tt_shape_is_under(tree, v, tt_shape_label(tree, group, home)))
      return true;
  return false;
}

/* ---- what reductions need to know ---- */

bool tt_shape_shares(const tt_tree *tree) {
  const tt_shape *shape = tree->level->shape;
  return tree->f < 2 || (shape->shares && shape->shares(tree));
}

static tt_order_kept order_kept(const tt_tree *tree) {
  const tt_shape *shape = tree->level->shape;
  if (tt_shape_rounds(tree) < 2) /* all comes at once */
    return TT_KEPT_ANYWHERE;
  return shape->keeps_order ? shape->keeps_order(tree) : TT_KEPT_NOWHERE;
}

bool tt_shape_always_keeps_order(const tt_tree *tree) { return order_kept(tree) == TT_KEPT_ANYWHERE; }

/* Around, labels may also follow the groups from the other end's neighbor, if what the root gets is all one run. */
bool tt_shape_keeps_order(const tt_tree *tree, int64_t home) {
  tt_order_kept kept = order_kept(tree);
  if (kept != TT_KEPT_FROM_END)
    return kept == TT_KEPT_ANYWHERE;
  int64_t last = tree->f - 1;
  bool around = tree->level->labelling != TT_XOR, one_child = tt_shape_is_under(tree, 1, last);
  bool straight = home == (around && goes_back(tree) ? last : 0); /* labels are groups, in order or against it */
  return straight || (around && one_child && (home == 0 || home == last));
}
