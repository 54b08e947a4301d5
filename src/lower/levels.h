/* lower/levels.h - the levels of one stage after the passes that add levels: ring(n) and folding.
 *
 * The stage's ranks are laid in one line, `perm`, so that every group of every level is a run of it:
 *
 *     node   [ 0  2  4 ][ 1  3  5  6 ]      group g of a level: perm[start[g]] .. perm[start[g + 1] - 1]
 *     core   [0][2][4] [1][3][5][6]         its subgroups one level in: first[g] .. first[g + 1] - 1
 *
 * so that a tree is laid over the subgroups of one group, and everything is found by position in the line. Groups of
 * one group stand in the order of their lowest ranks, but for levels of a size: these are runs of the line as it is. */
#ifndef TT_LOWER_LEVELS_H
#define TT_LOWER_LEVELS_H

#include "lower/shape.h"

typedef struct tt_lower_level {
  char name[TT_TOPO_NAME]; /* of the topology's level; with ".ring" or ".pair" where a pass has added it */
  tt_level_params params;
  bool fold;    /* groups of one or two; a group is represented in its first subgroup */
  bool striped; /* part t is represented by member t, in turn; else a primitive's root's own place */
  bool shares;  /* from here inwards, one partial result may serve several roots */
  bool publish; /* the topology offers it, and every group has one rank */
  int64_t group_count;
  int32_t *first;    /* [groups of the level before + 1]: its groups are first[g] .. first[g + 1] - 1 */
  int32_t *start;    /* [group_count + 1]: position of the first member */
  int32_t *group_at; /* [ranks]: group of the rank at a position */
  int32_t *highest;  /* [group_count]: highest rank in it and in those before it in their outer group */
  int64_t rounds;    /* most rounds of any tree at this level */
} tt_lower_level;

typedef struct tt_lower_stage {
  int64_t rank_total; /* of the communicator */
  int64_t rank_count; /* that take part */
  int64_t most;       /* members of the largest group of the outermost level that parameters name */
  int32_t *perm;      /* rank at a position */
  int32_t *position;  /* of each rank; -1: takes no part */
  int level_count;
  tt_lower_level level[TT_PLAN_LEVELS];
  int64_t time[TT_PLAN_LEVELS + 1]; /* rounds of a whole tree from this level inwards */
} tt_lower_stage;

/* Fills in perm and position of the ranks that take part. level: of the topology, from the outermost. */
bool tt_lower_members(const tt_stage *stage, const tt_topo_level *const *level, int level_count, tt_arena *arena,
                      tt_lower_stage *out);

/* Resolves parameters for one stage. In the arena. */
tutti_status tt_lower_resolve(const tt_composition *composition, int stage, const tt_topo *topo,
                              const tt_params *params, tt_arena *arena, tt_lower_stage *out);

/* Members of the largest group that a stage begins with, as its parameters have it. */
int64_t tt_lower_most(const tt_params *params, const tt_topo *topo);

/* The tree over the subgroups of group `outer` of the level before (of all ranks: 0). */
tt_tree tt_lower_tree(const tt_lower_stage *stage, int level, int64_t outer);

/* The number of the member, in every group of a level that has so many, that represents it. */
int64_t tt_lower_place_of(const tt_lower_stage *stage, int level, int64_t root, int64_t part);
/* The rank that goes on with a primitive in subgroup `index` of group `outer`, where `root` is the root in that group.
 */
int64_t tt_lower_representative(const tt_lower_stage *stage, int level, int64_t outer, int64_t root, int64_t part,
                                int64_t index);

/* What all ranks share: the levels of all stages, and of the plan. */
struct tt_lowering {
  tt_arena arena;
  const tt_composition *composition;
  const tt_topo *topo;
  tt_params params;
  uint32_t part_count;
  tt_lower_stage stage[TT_STAGES];
  uint32_t stage_time[TT_STAGES + 1];               /* round in which each stage begins */
  uint16_t level_number[TT_STAGES][TT_PLAN_LEVELS]; /* level of a stage -> level of the plan */
  int level_count;
  char level_name[TT_PLAN_LEVELS][TT_TOPO_NAME];
};

/* ---- what all ranks know of a stage (facts.c) ---- */

/* TUTTI_ERR_PLAN with stage, level and reason where reductions that are ordered, or all of them, would not be in rank
 * order, or where ends up to a rank are not in the first groups. */
tutti_status tt_lower_check_order(const tt_stage *stage, const tt_lower_stage *levels, int64_t stripe, bool all);
/* Whether some rank may pass on a block that is not for it. */
bool tt_lower_relays(const tt_stage *stage, const tt_lower_stage *levels);

#endif
