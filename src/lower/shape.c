/* lower/shape.c - star, chain, k-nomial (near or far first), k-ary, planted and exchange, each in closed form.
 *
 *   star          chain            2-nomial, near first     2-nomial, far first      2-ary
 *   0 -> 1 2 3    0 -> 1 -> 2 -> 3  0 -> 1 2 4, 1 -> 3 5     0 -> 4 2 1, 4 -> 6 5     0 -> 1 2, 1 -> 3 4
 *
 *   2-planted                        exchange
 *   0 -> 1, 1 -> 2 3, 2 -> 4 5       0 -> 1 2, 1 -> 3 -> 5, 2 -> 4 -> 6
 *
 * A k-nomial label is a number in base k. Near first: the parent drops the highest digit, so that distances grow with
 * the rounds; far first: the parent drops the lowest nonzero digit. Planted: a k-ary tree whose root is the only child
 * of label 0, as in two-tree algorithms (Sanders, Speck, Traeff 2009). Exchange: neighbor exchange (Chen et al. 2005),
 * two chains that begin at the root and its partner. */
#include "lower/shape.h"

/* k^m <= v < k^(m+1): gives k^m and m. v >= 1. */
static int64_t highest_power(int64_t v, int64_t k, int64_t *exponent) {
  int64_t power = 1;
  for (*exponent = 0; power <= v / k; (*exponent)++)
    power *= k;
  return power;
}

/* The largest k^m that divides v, and m. v >= 1. */
static int64_t lowest_power(int64_t v, int64_t k, int64_t *exponent) {
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

/* ---- k-nomial, near first ---- */

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

/* ---- k-nomial, far first ---- */

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

/* ---- k-ary; planted trees are k-ary over the labels from 1 ---- */

static bool is_planted(const tt_tree *tree) { return tree->level->shape == TT_PLANTED; }

static int64_t ary_parent(const tt_tree *tree, int64_t v) {
  int64_t root = is_planted(tree);
  return v == root ? 0 : (v - root - 1) / tree->level->k + root;
}

static int64_t ary_depth(const tt_tree *tree, int64_t v) {
  int64_t depth = 0;
  for (; v > 0; v = ary_parent(tree, v))
    depth++;
  return depth;
}

static int64_t ary_first_child(const tt_tree *tree, int64_t v) {
  if (!is_planted(tree))
    return tree->level->k * v + 1;
  return v == 0 ? 1 : tree->level->k * (v - 1) + 2;
}

static bool ary_next(const tt_tree *tree, int64_t v, int64_t *child) {
  int64_t first = ary_first_child(tree, v), most = is_planted(tree) && v == 0 ? 1 : tree->level->k;
  *child = *child < 0 ? first : *child + 1;
  return *child < first + most && *child < tree->f;
}

static bool ary_under(const tt_tree *tree, int64_t v, int64_t u) {
  while (u > v)
    u = ary_parent(tree, u);
  return u == v;
}

static int64_t ary_toward(const tt_tree *tree, int64_t v, int64_t u) {
  while (ary_parent(tree, u) != v)
    u = ary_parent(tree, u);
  return u;
}

static int64_t ary_way(const tt_tree *tree, int64_t v) { return v - ary_first_child(tree, ary_parent(tree, v)); }

bool tt_shape_next_row(const tt_tree *tree, int64_t *first, int64_t *last) {
  int64_t behind = ary_first_child(tree, *last + 1);
  *first = ary_first_child(tree, *first);
  *last = behind < tree->f ? behind - 1 : tree->f - 1;
  return *first < tree->f;
}

static int64_t ary_next_below(const tt_tree *tree, int64_t v, int64_t u) {
  int64_t first = v, last = v;
  while (last < u)
    tt_shape_next_row(tree, &first, &last);
  if (u < last)
    return u + 1;
  return tt_shape_next_row(tree, &first, &last) ? first : tree->f;
}

/* ---- all shapes ---- */

static bool is_far(const tt_tree *tree) { return tree->level->order == TT_FAR; }

int64_t tt_shape_parent(const tt_tree *tree, int64_t v) {
  switch (tree->level->shape) {
  case TT_CHAIN:
    return v - 1;
  case TT_KNOMIAL:
    return is_far(tree) ? far_parent(tree, v) : near_parent(tree, v);
  case TT_KARY:
  case TT_PLANTED:
    return ary_parent(tree, v);
  case TT_EXCHANGE:
    return v == 1 ? 0 : v - 2;
  default:
    return 0;
  }
}

int64_t tt_shape_round(const tt_tree *tree, int64_t v) {
  switch (tree->level->shape) {
  case TT_CHAIN:
    return v - 1;
  case TT_KNOMIAL:
    return is_far(tree) ? far_round(tree, v) : near_round(tree, v);
  case TT_KARY:
  case TT_PLANTED:
    return ary_depth(tree, v) - 1;
  case TT_EXCHANGE:
    return v / 2;
  default:
    return 0;
  }
}

int64_t tt_shape_rounds(const tt_tree *tree) {
  if (tree->f < 2)
    return 0;
  switch (tree->level->shape) {
  case TT_CHAIN:
    return tree->f - 1;
  case TT_KNOMIAL:
    return digits(tree->f, tree->level->k);
  case TT_KARY:
  case TT_PLANTED:
    return ary_depth(tree, tree->f - 1);
  case TT_EXCHANGE:
    return (tree->f - 1) / 2 + 1;
  default:
    return 1;
  }
}

bool tt_shape_next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  switch (tree->level->shape) {
  case TT_CHAIN:
    *child = *child < 0 ? v + 1 : tree->f;
    return *child < tree->f;
  case TT_KNOMIAL:
    return is_far(tree) ? far_next(tree, v, child) : near_next(tree, v, child);
  case TT_KARY:
  case TT_PLANTED:
    return ary_next(tree, v, child);
  case TT_EXCHANGE:
    *child = *child < 0 ? (v == 0 ? 1 : v + 2) : v == 0 && *child == 1 ? 2 : tree->f;
    return *child < tree->f;
  default:
    *child = *child < 0 ? 1 : *child + 1;
    return v == 0 && *child < tree->f;
  }
}

bool tt_shape_is_under(const tt_tree *tree, int64_t v, int64_t u) {
  switch (tree->level->shape) {
  case TT_CHAIN:
    return u >= v;
  case TT_KNOMIAL:
    return is_far(tree) ? far_under(tree, v, u) : near_under(tree, v, u);
  case TT_KARY:
  case TT_PLANTED:
    return ary_under(tree, v, u);
  case TT_EXCHANGE:
    return v == 0 || (u >= v && (u - v) % 2 == 0);
  default:
    return v == 0 || u == v;
  }
}

int64_t tt_shape_toward(const tt_tree *tree, int64_t v, int64_t u) {
  switch (tree->level->shape) {
  case TT_CHAIN:
    return v + 1;
  case TT_KNOMIAL:
    return is_far(tree) ? far_toward(tree, v, u) : near_toward(tree, v, u);
  case TT_KARY:
  case TT_PLANTED:
    return ary_toward(tree, v, u);
  case TT_EXCHANGE:
    return v > 0 ? v + 2 : u % 2 ? 1 : 2;
  default:
    return u;
  }
}

int64_t tt_shape_next_below(const tt_tree *tree, int64_t v, int64_t u) {
  if (tree->level->shape == TT_KARY || tree->level->shape == TT_PLANTED)
    return ary_next_below(tree, v, u);
  tt_subset labels = tt_shape_below(tree, v);
  return u + labels.stride < labels.first + labels.count * labels.stride ? u + labels.stride : tree->f;
}

int64_t tt_shape_way(const tt_tree *tree, int64_t v) {
  bool side_by_side = tree->level->shape == TT_KARY || tree->level->shape == TT_PLANTED;
  return side_by_side ? ary_way(tree, v) : 0;
}

const char *tt_shape_misfit(const tt_tree *tree) {
  if (tree->level->shape != TT_EXCHANGE || tree->f < 2)
    return NULL;
  if (tree->level->labelling != TT_ROTATE)
    return "exchange has a labelling of its own";
  return tree->f % 2 ? "exchange needs an even number of groups" : NULL;
}

tt_subset tt_shape_below(const tt_tree *tree, int64_t v) {
  int64_t stride = 1, end = tree->f;
  switch (tree->level->shape) {
  case TT_CHAIN:
    break;
  case TT_KNOMIAL:
    if (!is_far(tree))
      stride = near_stride(tree, v);
    else if (v + far_width(tree, v) < end)
      end = v + far_width(tree, v);
    break;
  case TT_KARY:
  case TT_PLANTED:
    return (tt_subset){v, 0, 0};
  case TT_EXCHANGE:
    stride = v == 0 ? 1 : 2;
    break;
  default:
    end = v == 0 ? tree->f : v + 1;
  }
  return (tt_subset){v, stride, (end - v + stride - 1) / stride};
}

/* ---- names ---- */

const char *tt_shape_name(tt_shape shape) {
  static const char *const names[TT_SHAPE_COUNT] = {"star", "chain", "nomial", "ary", "planted", "exchange"};
  return names[shape];
}

bool tt_shape_has_k(tt_shape shape) { return shape == TT_KNOMIAL || shape == TT_KARY || shape == TT_PLANTED; }

const char *tt_labelling_name(tt_labelling labelling) {
  static const char *const names[TT_LABELLING_COUNT] = {"rotate", "xor", "reflect"};
  return names[labelling];
}

const char *tt_order_name(tt_order order) { return order == TT_FAR ? "far" : "near"; }
