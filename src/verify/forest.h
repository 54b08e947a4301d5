/* verify/forest.h - values as trees of what they were made of: equal trees have equal bits. Each tree stands once.
 *
 *     (in, b) of a rank          a leaf
 *     left (op) right            in this order
 *     finished over n            an average's division */
#ifndef TT_VERIFY_FOREST_H
#define TT_VERIFY_FOREST_H

#include "verify/proof.h"

typedef struct tt_tree {
  uint32_t kind;        /* 1: leaf, 2: combined, 3: finished; 0: an empty place of the table */
  uint32_t left, right; /* leaf: rank, block; finished: of what, over how many */
} tt_tree;

typedef struct tt_forest {
  tt_tree *tree; /* a hash table, open addressing: a tree's number is its place */
  uint32_t mask;
} tt_forest;

/* Room for so many trees; false: no memory. */
bool tt_forest_init(tt_forest *forest, tt_arena *arena, uint64_t most);
uint32_t tt_forest_leaf(tt_forest *forest, uint32_t rank, uint32_t block);
uint32_t tt_forest_combined(tt_forest *forest, uint32_t left, uint32_t right);
uint32_t tt_forest_finished(tt_forest *forest, uint32_t tree, uint32_t count);

#endif
