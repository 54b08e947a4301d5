/* lower/shape.c - the table of shapes, and what follows from a row where it says nothing itself. */
#include "lower/shape.h"

#include <assert.h>
#include <stdio.h>

/* ---- the table ---- */

const tt_shape *const *tt_shape_table(size_t *count) {
#define ROW(name) &tt_shape_##name,
  static const tt_shape *const table[] = {TT_SHAPES(ROW)};
#undef ROW
  *count = TT_COUNT(table);
  return table;
}

const tt_shape_info *tt_shape_about(const tt_shape *shape) { return &shape->info; }

void tt_shape_print(const tt_level_params *level, char text[static TT_SHAPE_TEXT]) {
  const tt_shape_info *info = &level->shape->info;
  if (info->k_most)
    snprintf(text, TT_SHAPE_TEXT, "%d-%s", level->k, info->name);
  else
    snprintf(text, TT_SHAPE_TEXT, "%s", info->name);
}

const char *tt_labelling_name(tt_labelling labelling) {
  static const char *const names[TT_LABELLING_COUNT] = {"rotate", "xor", "reflect"};
  assert((size_t)labelling < TT_LABELLING_COUNT);
  return names[labelling];
}

const char *tt_order_name(tt_order order) { return order == TT_FAR ? "far" : "near"; }

/* ---- trees ---- */

static int64_t depth(const tt_tree *tree, int64_t v) {
  int64_t steps = 0;
  for (; v > 0; v = tt_shape_parent(tree, v))
    steps++;
  return steps;
}

int64_t tt_shape_round(const tt_tree *tree, int64_t v) {
  const tt_shape *shape = tree->level->shape;
  assert(v > 0 && v < tree->f); /* nobody sends to the root */
  return shape->round ? shape->round(tree, v) : depth(tree, v) - 1;
}

int64_t tt_shape_rounds(const tt_tree *tree) {
  const tt_shape *shape = tree->level->shape;
  if (tree->f < 2)
    return 0;
  return shape->rounds ? shape->rounds(tree) : tt_shape_round(tree, tree->f - 1) + 1;
}

bool tt_shape_is_under(const tt_tree *tree, int64_t v, int64_t u) {
  const tt_shape *shape = tree->level->shape;
  if (shape->is_under)
    return shape->is_under(tree, v, u);
  while (u > v)
    u = tt_shape_parent(tree, u);
  return u == v;
}

int64_t tt_shape_toward(const tt_tree *tree, int64_t v, int64_t u) {
  const tt_shape *shape = tree->level->shape;
  assert(v < u && u < tree->f); /* labels grow downwards */
  if (shape->toward)
    return shape->toward(tree, v, u);
  for (int64_t up = tt_shape_parent(tree, u); up != v; up = tt_shape_parent(tree, u))
    u = up;
  return u;
}

int64_t tt_shape_branch(const tt_tree *tree, int64_t v) {
  const tt_shape *shape = tree->level->shape;
  return shape->branch ? shape->branch(tree, v) : 0;
}

const char *tt_shape_misfit(const tt_tree *tree) {
  const tt_shape *shape = tree->level->shape;
  return shape->misfit && tree->f > 1 ? shape->misfit(tree) : NULL;
}

tt_subset tt_shape_below(const tt_tree *tree, int64_t v) {
  const tt_shape *shape = tree->level->shape;
  return shape->below ? shape->below(tree, v) : (tt_subset){v, 0, 0};
}

static int64_t next_in_rows(const tt_tree *tree, int64_t v, int64_t u) {
  const tt_shape *shape = tree->level->shape;
  int64_t first = v, last = v;
  while (last < u)
    shape->next_row(tree, &first, &last);
  if (u < last)
    return u + 1;
  return shape->next_row(tree, &first, &last) ? first : tree->f;
}

int64_t tt_shape_next_below(const tt_tree *tree, int64_t v, int64_t u) {
  assert(u >= v && u < tree->f);
  if (!tree->level->shape->below)
    return next_in_rows(tree, v, u);
  tt_subset labels = tree->level->shape->below(tree, v);
  return u + labels.stride < labels.first + labels.count * labels.stride ? u + labels.stride : tree->f;
}
