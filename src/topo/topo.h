/* topo/topo.h - the machine as lowering sees it: at each level, which group every rank belongs to.
 *
 * A level is a map from rank to group, not a division: groups may be uneven and interleaved. Levels go from the
 * outermost
 * ("node") inwards and nest: ranks in one group of a level are in one group of every level before it. The innermost
 * level, "core", puts every rank in a group of its own; it always exists and is not stored as a map. */
#ifndef TT_TOPO_TOPO_H
#define TT_TOPO_TOPO_H

#include "base/base.h"

#define TT_TOPO_LEVELS 6
#define TT_TOPO_NAME 16

typedef struct tt_topo_level {
  char name[TT_TOPO_NAME];
  int32_t *group_of; /* group of each rank, numbered from 0 by first appearance; NULL for "core" */
  int64_t group_count;
  bool publish; /* between groups of this level a stream may have several readers */
} tt_topo_level;

typedef struct tt_topo {
  int64_t rank_count;
  int level_count; /* >= 1; the last is "core" */
  int32_t *
      reach_of; /* of each rank: a stream may have several readers where all its ends have one number; NULL: anywhere */
  tt_topo_level level[TT_TOPO_LEVELS];
} tt_topo;

/* One group: only "core". In the arena. */
tt_topo *tt_topo_flat(tt_arena *arena, int64_t rank_count);
/* Adds a level outside "core" and inside the levels before it. group_of: any numbers, equal = same group; NULL with
 * group_size > 0: rank / group_size. Error where it does not nest. */
tutti_status tt_topo_add(tt_topo *topo, tt_arena *arena, const char *name, const int64_t *group_of);
/* Text of a group map -> group of each rank (map: rank_count entries):
 *   "4x8" 4 groups of 8; "7,8,3,1" sizes in rank order; "cyclic:4" rank modulo 4; "0,0,1,2:" the map itself, ended by
 * ':'. */
tutti_status tt_topo_parse_map(const char *text, int64_t rank_count, int64_t *map);
/* How many ranks a map text stands for, where it says (not for cyclic): else 0. */
int64_t tt_topo_map_size(const char *text);

#endif
