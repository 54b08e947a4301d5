/* verify/forest.c - each tree once, by hash. */
#include "verify/forest.h"

#include <assert.h>

enum { LEAF = 1, COMBINED, FINISHED };

bool tt_forest_init(tt_forest *forest, tt_arena *arena, uint64_t most) {
  uint64_t size = 16;
  while (size < 2 * most)
    size *= 2;
  if (size >= TT_NONE)
    return false;
  forest->mask = (uint32_t)(size - 1);
  forest->tree = tt_arena_alloc(arena, size, sizeof *forest->tree);
  return forest->tree != NULL;
}

static uint32_t find(tt_forest *forest, tt_tree wanted) {
  assert((forest->mask & (forest->mask + 1)) == 0);
  uint64_t hash = ((uint64_t)wanted.left << 32 | wanted.right) * 0x9e3779b97f4a7c15u + wanted.kind;
  uint32_t at = (uint32_t)(hash * 0xff51afd7ed558ccdu >> 32) & forest->mask;
  for (;; at = (at + 1) & forest->mask) {
    tt_tree *found = &forest->tree[at];
    if (found->kind == 0)
      *found = wanted;
    if (found->kind == wanted.kind && found->left == wanted.left && found->right == wanted.right)
      return at;
  }
}

#ifndef NDEBUG
/* Of an order that is wrong, TT_NONE may be combined, too: it is a tree like no other. */
static inline bool is_tree(const tt_forest *forest, uint32_t tree) { return tree <= forest->mask || tree == TT_NONE; }
#endif

uint32_t tt_forest_leaf(tt_forest *forest, uint32_t rank, uint32_t block) {
  return find(forest, (tt_tree){LEAF, rank, block});
}

uint32_t tt_forest_combined(tt_forest *forest, uint32_t left, uint32_t right) {
  assert(is_tree(forest, left) && is_tree(forest, right));
  return find(forest, (tt_tree){COMBINED, left, right});
}

uint32_t tt_forest_finished(tt_forest *forest, uint32_t tree, uint32_t count) {
  assert(is_tree(forest, tree) && count > 1);
  return find(forest, (tt_tree){FINISHED, tree, count});
}
