/* lower/visit.h - one visit of a walk: the tree over the subgroups of one group, and its edges at one rank. */
#ifndef TT_LOWER_VISIT_H
#define TT_LOWER_VISIT_H

#include "lower/walk.h"

/* The ends that one visit still has to reach. */
typedef struct tt_reach {
  bool every;     /* every rank of the group */
  int64_t upto;   /* else those up to this rank, if it is not -1 */
  int64_t one;    /* else this rank; -1: those in the family's list */
  int64_t except; /* has the block already; -1: nobody */
  bool others;    /* so have others */
} tt_reach;

/* Where a visit stands. */
typedef struct tt_visit {
  int level;
  int64_t group; /* the group whose subgroups the tree joins */
  int64_t root;
  tt_reach ends;
  int64_t reached;      /* ends up to a rank: the first `reached` subgroups have some */
  int64_t base;         /* time at which it begins */
  tt_payload_kind kind; /* BLOCK and COMPLETE go away from the root, PARTIAL toward it */
  int complete_level;   /* COMPLETE: of which level and group it is the result */
  int64_t complete_group;
} tt_visit;

/* The subgroup of a rank of the group. */
static inline int64_t tt_visit_home(const tt_walk *walk, const tt_visit *at, int64_t rank) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  return level->group_at[walk->stage->position[rank]] - level->first[at->group];
}

/* The rank that goes on in subgroup `index`. */
static inline int64_t tt_visit_representative(const tt_walk *walk, const tt_visit *at, int64_t index) {
  return tt_lower_representative(walk->stage, at->level, at->group, at->root, walk->part, index);
}

/* Whether the rank is one of the group. */
bool tt_visit_has(const tt_walk *walk, const tt_visit *at, int64_t rank);
/* Whether an end lies below label v of the tree. */
bool tt_visit_needs(const tt_walk *walk, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v);
/* A reduction's, of this tree: with ends up to a rank it begins as early as its own tree can. */
int64_t tt_visit_rounds(const tt_walk *walk, const tt_visit *at, const tt_tree *tree);
/* Adds the edges of rank `me`, which is label v: to its parent, and to the children that are needed. */
void tt_visit_edges(tt_walk *walk, int64_t me, const tt_visit *at, const tt_tree *tree, int64_t home, int64_t v);

#endif
