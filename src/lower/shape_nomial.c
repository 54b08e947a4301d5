/* lower/shape_nomial.c - k-nomial: a label is a number in base k, and its parent drops a digit.
 *
 *   2-nomial, near first      2-nomial, far first
 *   0 -> 1 2 4, 1 -> 3 5      0 -> 4 2 1, 4 -> 6 5
 *
 * Near first: the parent drops the highest digit, so that distances grow with the rounds. Far first: it drops the
 * lowest digit that is not 0. */
#include "lower/shape.h"

#include <assert.h>

static bool is_far(const tt_tree *tree) { return tree->level->order == TT_FAR; }

/* ---- numbers in base k ---- */

/* k^m <= v < k^(m+1): gives k^m and m. v >= 1. */
static int64_t highest_power(int64_t v, int64_t k, int64_t *exponent) {
  assert(v >= 1 && k >= 2);
  int64_t power = 1;
  for (*exponent = 0; power <= v / k; (*exponent)++)
    power *= k;
  return power;
}

/* The largest k^m that divides v, and m. v >= 1. */
static int64_t lowest_power(int64_t v, int64_t k, int64_t *exponent) {
  assert(v >= 1 && k >= 2);
  int64_t power = 1;
  for (*exponent = 0; v % (power * k) == 0; (*exponent)++)
    power *= k;
  return power;
}

/* ceil(log_k f) */
static int64_t digits(int64_t f, int64_t k) {
  int64_t count = 0;
  for (int64_t power = 1; power < f; power *= k)
    count++;
  return count;
}

static int64_t power_of(int64_t k, int64_t exponent) {
  int64_t power = 1;
  while (exponent-- > 0)
    power *= k;
  return power;
}

/* ---- near first ---- */

static int64_t near_parent(const tt_tree *tree, int64_t v) {
  int64_t m;
  return v % highest_power(v, tree->level->k, &m);
}

static int64_t near_round(const tt_tree *tree, int64_t v) {
  int64_t m;
  highest_power(v, tree->level->k, &m);
  return m;
}

/* Labels below v differ from it by multiples of this. */
static int64_t near_stride(const tt_tree *tree, int64_t v) {
  int64_t m;
  return v == 0 ? 1 : highest_power(v, tree->level->k, &m) * tree->level->k;
}

static bool near_next(const tt_tree *tree, int64_t v, int64_t *child) {
  int64_t m, k = tree->level->k;
  if (*child < 0) {
    *child = v + near_stride(tree, v);
    return *child < tree->f;
  }
  int64_t step = highest_power(*child - v, k, &m);
  *child += (*child - v) / step < k - 1 ? step : step * k - (k - 1) * step;
  return *child < tree->f;
}

static bool near_under(const tt_tree *tree, int64_t v, int64_t u) {
  return u >= v && (u - v) % near_stride(tree, v) == 0;
}

static int64_t near_toward(const tt_tree *tree, int64_t v, int64_t u) {
  int64_t m, k = tree->level->k, step = lowest_power(u - v, k, &m);
  return v + (u - v) / step % k * step;
}

/* ---- far first ---- */

static int64_t far_width(const tt_tree *tree, int64_t v) { /* labels v .. v + width - 1 are v and those below it */
  int64_t m, k = tree->level->k;
  return v == 0 ? power_of(k, digits(tree->f, k)) : lowest_power(v, k, &m);
}

static int64_t far_parent(const tt_tree *tree, int64_t v) {
  int64_t m, k = tree->level->k, step = lowest_power(v, k, &m);
  return v - v / step % k * step;
}

static int64_t far_round(const tt_tree *tree, int64_t v) {
  int64_t m, k = tree->level->k;
  lowest_power(v, k, &m);
  return digits(tree->f, k) - 1 - m;
}

static bool far_next(const tt_tree *tree, int64_t v, int64_t *child) {
  int64_t m, k = tree->level->k, width = far_width(tree, v);
  if (*child < 0) {
    *child = v + 1;
    return width > 1 && *child < tree->f;
  }
  int64_t step = highest_power(*child - v, k, &m);
  *child += step;
  return *child < v + width && *child < tree->f;
}

static bool far_under(const tt_tree *tree, int64_t v, int64_t u) { return u >= v && u < v + far_width(tree, v); }

static int64_t far_toward(const tt_tree *tree, int64_t v, int64_t u) {
  int64_t m, step = highest_power(u - v, tree->level->k, &m);
  return v + (u - v) / step * step;
}

/* ---- both ---- */

static int64_t parent(const tt_tree *tree, int64_t v) {
  return is_far(tree) ? far_parent(tree, v) : near_parent(tree, v);
}

static int64_t round_of(const tt_tree *tree, int64_t v) {
  return is_far(tree) ? far_round(tree, v) : near_round(tree, v);
}

static int64_t rounds(const tt_tree *tree) { return digits(tree->f, tree->level->k); }

static bool next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  return is_far(tree) ? far_next(tree, v, child) : near_next(tree, v, child);
}

static bool is_under(const tt_tree *tree, int64_t v, int64_t u) {
  return is_far(tree) ? far_under(tree, v, u) : near_under(tree, v, u);
}

static int64_t toward(const tt_tree *tree, int64_t v, int64_t u) {
  return is_far(tree) ? far_toward(tree, v, u) : near_toward(tree, v, u);
}

static tt_subset below(const tt_tree *tree, int64_t v) {
  if (!is_far(tree)) {
    int64_t stride = near_stride(tree, v);
    return (tt_subset){v, stride, (tree->f - v + stride - 1) / stride};
  }
  int64_t width = far_width(tree, v);
  return (tt_subset){v, 1, v + width < tree->f ? width : tree->f - v};
}

/* ---- reductions ---- */

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

static bool shares(const tt_tree *tree) {
  int64_t k = tree->level->k;
  if (tree->level->labelling == TT_XOR)
    return is_power_of_two(k);
  return !is_far(tree) && power_of(k, digits(tree->f, k)) == tree->f;
}

/* Where xor and k are powers of two, each subtree is an aligned run of groups. */
static tt_order_kept keeps_order(const tt_tree *tree) {
  if (!is_far(tree))
    return TT_KEPT_NOWHERE;
  bool aligned = tree->level->labelling == TT_XOR && is_power_of_two(tree->level->k);
  return aligned ? TT_KEPT_ANYWHERE : TT_KEPT_FROM_END;
}

const tt_shape tt_shape_nomial = {
    .info = {.name = "nomial",
             .tree = "a label is a number in base K; its parent drops a digit",
             .rounds = "log_K f, rounded up",
             .k_least = 2,
             .k_most = TT_K_MOST,
             .labellings = TT_ANY_LABELLING,
             .has_order = true},
    .parent = parent,
    .round = round_of,
    .rounds = rounds,
    .next_child = next_child,
    .is_under = is_under,
    .toward = toward,
    .below = below,
    .shares = shares,
    .keeps_order = keeps_order,
};
