/* tune/trees.h - the trees of a topology, as texts such as "node:chain/core:star". */
#ifndef TT_TUNE_TREES_H
#define TT_TUNE_TREES_H

#include "tune/tune.h"

#define TT_TREE_TEXT 96

typedef struct tt_tree_text {
  char text[TT_TREE_TEXT];
  bool usual;      /* of the few that are combined with others */
  int level_count; /* of its levels */
  int64_t groups;  /* of the outermost one */
  int64_t most;    /* ranks of its largest group */
  bool of_size;    /* the outermost level is one that the machine does not have */
} tt_tree_text;

typedef struct tt_trees {
  tt_tree_text *tree;
  int count, room;
} tt_trees;

/* In the arena; it fails where memory is exhausted. */
void tt_trees_make(const tt_topo *topo, tt_arena *arena, tt_trees *trees);

#endif
