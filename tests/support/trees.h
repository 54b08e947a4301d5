/* tests/support/trees.h - every shape of the table as trees built edge by edge, from what its row says of parents and
 * rounds. */
#ifndef TEST_SUPPORT_TREES_H
#define TEST_SUPPORT_TREES_H

#include "lower/shape.h"
#include "support/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { TREE_GROUPS = SANITIZED ? 24 : 40 };

typedef struct built_tree {
  int64_t parent[TREE_GROUPS], round[TREE_GROUPS], rounds;
} built_tree;

static inline void tree_build(const tt_tree *tree, built_tree *out) {
  memset(out, 0, sizeof *out);
  for (int64_t v = 1; v < tree->f; v++) {
    out->parent[v] = tt_shape_parent(tree, v);
    out->round[v] = tt_shape_round(tree, v);
    assert_true(out->parent[v] >= 0 && out->parent[v] < v);
    out->rounds = out->round[v] + 1 > out->rounds ? out->round[v] + 1 : out->rounds;
  }
}

static inline bool tree_is_under(const built_tree *in, int64_t v, int64_t u) {
  while (u > v)
    u = in->parent[u];
  return u == v;
}

/* Over every number of groups; xor for powers of two only, as lowering does. */
static inline void tree_every_size(const tt_level_params *level, void (*check)(const tt_tree *tree)) {
  for (int64_t f = 1; f <= TREE_GROUPS; f++) {
    tt_tree tree = {level, f, false};
    if (tt_shape_misfit(&tree) || (level->labelling == TT_XOR && (f & (f - 1)) != 0))
      continue;
    check(&tree);
    tree.backward = true;
    if (level->labelling == TT_ROTATE)
      check(&tree);
  }
}

/* Calls `check` for every shape, k, order, labelling and number of groups. */
static inline void tree_every(void (*check)(const tt_tree *tree)) {
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    int least = info->k_most ? info->k_least : 2, most = info->k_most ? 5 : 2;
    for (int k = least; k <= most; k++)
      for (int order = 0; order <= info->has_order; order++)
        for (int labelling = 0; labelling < TT_LABELLING_COUNT; labelling++) {
          tt_level_params level = {"core", shapes[n], k, (tt_labelling)labelling, (tt_order)order};
          tree_every_size(&level, check);
        }
  }
}

#endif
