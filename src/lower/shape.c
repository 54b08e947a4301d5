/* lower/shape.c - star, chain, k-nomial (near or far first) and k-ary, each in closed form.
 *
 *   star          chain            2-nomial, near first     2-nomial, far first      2-ary
 *   0 -> 1 2 3    0 -> 1 -> 2 -> 3  0 -> 1 2 4, 1 -> 3 5     0 -> 4 2 1, 4 -> 6 5     0 -> 1 2, 1 -> 3 4
 *
 * A k-nomial label is a number in base k. Near first: the parent drops the highest digit, so that distances grow with
 * the rounds; far first: the parent drops the lowest nonzero digit. */
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

/* ---- k-ary ---- */

static int64_t ary_depth(int64_t v, int64_t k) {
  int64_t depth = 0;
  for (; v > 0; v = (v - 1) / k)
    depth++;
  return depth;
}

static bool ary_under(int64_t v, int64_t u, int64_t k) {
  while (u > v)
    u = (u - 1) / k;
  return u == v;
}

static int64_t ary_toward(int64_t v, int64_t u, int64_t k) {
  while ((u - 1) / k != v)
    u = (u - 1) / k;
  return u;
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
    return (v - 1) / tree->level->k;
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
    return ary_depth(v, tree->level->k) - 1;
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
    return ary_depth(tree->f - 1, tree->level->k);
  default:
    return 1;
  }
}

bool tt_shape_next_child(const tt_tree *tree, int64_t v, int64_t *child) {
  int64_t k = tree->level->k;
  switch (tree->level->shape) {
  case TT_CHAIN:
    *child = *child < 0 ? v + 1 : tree->f;
    return *child < tree->f;
  case TT_KNOMIAL:
    return is_far(tree) ? far_next(tree, v, child) : near_next(tree, v, child);
  case TT_KARY:
    *child = *child < 0 ? k * v + 1 : *child + 1;
    return *child <= k * v + k && *child < tree->f;
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
    return ary_under(v, u, tree->level->k);
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
    return ary_toward(v, u, tree->level->k);
  default:
    return u;
  }
}

int64_t tt_shape_way(const tt_tree *tree, int64_t v) {
  return tree->level->shape == TT_KARY ? (v - 1) % tree->level->k : 0;
}

/* ---- labels ---- */

int64_t tt_shape_label(const tt_tree *tree, int64_t group, int64_t home) {
  if (tree->level->labelling == TT_XOR)
    return group ^ home;
  int64_t distance = tree->backward ? home - group : group - home;
  return distance < 0 ? distance + tree->f : distance;
}

int64_t tt_shape_group(const tt_tree *tree, int64_t v, int64_t home) {
  if (tree->level->labelling == TT_XOR)
    return v ^ home;
  int64_t group = tree->backward ? home - v : home + v;
  return group < 0 ? group + tree->f : group < tree->f ? group : group - tree->f;
}

/* Labels of v and those below as a strided range; false where the shape has none. */
static bool labels_below(const tt_tree *tree, int64_t v, tt_subset *labels) {
  switch (tree->level->shape) {
  case TT_CHAIN:
    *labels = (tt_subset){v, 1, tree->f - v};
    return true;
  case TT_KNOMIAL:
    if (is_far(tree)) {
      int64_t width = far_width(tree, v);
      *labels = (tt_subset){v, 1, v + width <= tree->f ? width : tree->f - v};
    } else {
      int64_t stride = near_stride(tree, v);
      *labels = (tt_subset){v, stride, (tree->f - v + stride - 1) / stride};
    }
    return true;
  case TT_KARY:
    return false;
  default:
    *labels = v == 0 ? (tt_subset){0, 1, tree->f} : (tt_subset){v, 1, 1};
    return true;
  }
}

static bool is_power_of_two(int64_t n) { return (n & (n - 1)) == 0; }

/* xor keeps a strided range one where it is a coset or an aligned run of a power of two. */
static bool xor_subset(tt_subset *set, int64_t home) {
  if (!is_power_of_two(set->stride) || !is_power_of_two(set->count))
    return false;
  if (set->stride == 1) {
    set->first = (set->first ^ home) / set->count * set->count;
    return true;
  }
  if (set->first >= set->stride)
    return false;
  set->first = (set->first ^ home) % set->stride;
  return true;
}

tt_subset tt_shape_subset(const tt_tree *tree, int64_t v, int64_t home) {
  tt_subset set, unique = {home, 0, v};
  if (!labels_below(tree, v, &set))
    return unique;
  if (tree->level->labelling == TT_XOR) {
    bool aligned = set.stride > 1 || set.first % set.count == 0;
    return aligned && xor_subset(&set, home) ? set : unique;
  }
  set.first = tt_shape_group(tree, set.first, home);
  if (set.count * set.stride == tree->f) /* a coset: it does not matter where it begins */
    set.first %= set.stride;
  return set;
}

bool tt_shape_shares(const tt_tree *tree) {
  int64_t k = tree->level->k;
  if (tree->level->shape == TT_STAR || tree->f < 2)
    return true;
  if (tree->level->shape != TT_KNOMIAL)
    return false;
  if (tree->level->labelling == TT_XOR)
    return is_power_of_two(k);
  return !is_far(tree) && power_of(k, digits(tree->f, k)) == tree->f;
}

/* ---- names ---- */

const char *tt_shape_name(tt_shape shape) {
  static const char *const names[TT_SHAPE_COUNT] = {"star", "chain", "nomial", "ary"};
  return names[shape];
}

const char *tt_labelling_name(tt_labelling labelling) { return labelling == TT_XOR ? "xor" : "rotate"; }

const char *tt_order_name(tt_order order) { return order == TT_FAR ? "far" : "near"; }
