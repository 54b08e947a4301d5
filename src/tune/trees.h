/* tune/trees.h - the trees of a topology, as texts such as "node:chain/core:star". */
#ifndef TT_TUNE_TREES_H
#define TT_TUNE_TREES_H

#include "tune/tune.h"

#define TT_TREE_TEXT 128

typedef struct tt_tree_text {
  char text[TT_TREE_TEXT];
  bool usual;      /* one of the few that are worth all coordinates */
  bool pairs;      /* one of the fewer of which another one may be another stage's */
  int chain;       /* equal for trees of the same levels */
  int level_count; /* of them */
  int64_t groups;  /* of the outermost one */
  int64_t most;    /* ranks of its largest group */
  bool of_size;    /* the outermost level is one that the machine does not have */
} tt_tree_text;

typedef struct tt_trees {
  tt_tree_text *tree;
  int count, room;
  int chain_count;
} tt_trees;

/* In the arena; it fails where memory is exhausted. ordered: operands combine in rank order, which few trees keep. */
void tt_trees_make(const tt_topo *topo, bool ordered, tt_arena *arena, tt_trees *trees);

#endif
