/* topo/topo.h - the machine as lowering sees it: at each level, which group every rank belongs to.
 *
 * A level is a map from rank to group, not a division: groups may be uneven and interleaved. Levels go from the
 * outermost
 * ("node") inwards and nest: ranks in one group of a level are in one group of every level before it. The innermost
 * level, "core", puts every rank in a group of its own; it always exists and is not stored as a map. */
#ifndef TT_TOPO_TOPO_H
#define TT_TOPO_TOPO_H

#include "base/base.h"

#define TT_TOPO_LEVELS 7
#define TT_TOPO_NAME 16
#define TT_TOPO_SWITCHES 6 /* above a node, one above the other */

typedef struct tt_topo_level {
  char name[TT_TOPO_NAME];
  int32_t *group_of; /* group of each rank, numbered from 0 by first appearance; NULL for "core" */
  int64_t group_count;
  int64_t most; /* ranks of the largest group */
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

/* Where a rank runs. All of it is told to all ranks, so that they build the same topology. */
typedef struct tt_locality {
  uint64_t node;                        /* its machine: equal numbers, one machine */
  uint64_t switch_of[TT_TOPO_SWITCHES]; /* the switches above the node, outermost first: equal numbers, one switch */
  int32_t switch_count;                 /* 0: nothing is known of switches */
  int32_t package, numa, l3, core;      /* numbers in its machine; -1: it is not bound to one, or there is none */
} tt_locality;

/* Where the calling thread runs: all of `locality` but `node`, which is the caller's. switch_file: TUTTI_TOPOLOGY, ""
 * for none. node_name: as that file has it; "" for the host's name. Reads the file and, with hwloc, the machine, which
 * takes some ms: ask once. Errors name what is wrong in the file, or that the node is not in it. */
tutti_status tt_topo_locality(const char *switch_file, const char *node_name, tt_locality *locality);

/* Levels from outermost: switches ("switch" is the one of the node, "switch2" the one above it, ...), "node", and
 * inside it "package", "numa" and "l3", the one with fewer groups outside, then "core". "node" and "core" are always
 * there; the others only where they separate ranks, and otherwise than the next one inwards and than "node" do. Ranks
 * of a node that are not bound to one package (NUMA node, L3) are one more group. Where TT_TOPO_LEVELS does not hold
 * them all, those go whose groups consist of the fewest groups. Uneven and interleaved localities are ordinary.
 * locality: in rank order; nothing of it is kept. publish and reach_of are left to the caller. In the arena;
 * TUTTI_ERR_MEMORY only.
 */
tutti_status tt_topo_build(tt_arena *arena, const tt_locality *locality, int64_t rank_count, tt_topo **topo);

/* ---- permutations of ranks that change nothing (symmetry.c) ----
 *
 * Ranks stand in a line, cut into units of equal size. A permutation moves whole units, each rank to its own place in
 * another one: it rotates the units by `by`, a multiple of `step`, or changes bits of `mask` in their numbers.
 *
 *     units of 2, step 2, by 2    [0 1][2 3][4 5][6 7]  ->  [4 5][6 7][0 1][2 3]       representatives: 0 1 2 3 */
typedef struct tt_symmetry {
  int64_t unit_count, unit_size;
  const int32_t *line;     /* rank at each position */
  const int32_t *position; /* of each rank */
  bool exchanges;          /* by bits of mask; else rotates */
  int64_t step;            /* a divisor of unit_count, which itself means: only the identity */
  int64_t mask;            /* 0: only the identity */
} tt_symmetry;

int64_t tt_symmetry_move(const tt_symmetry *symmetry, int64_t rank, int64_t by);
/* The permutation that moves the rank to the one that stands for it. */
int64_t tt_symmetry_home(const tt_symmetry *symmetry, int64_t rank);
/* Ranks that stand for themselves, in units 0 .. count - 1 of those; and how many each stands for. */
int64_t tt_symmetry_unit_total(const tt_symmetry *symmetry);
int64_t tt_symmetry_unit(const tt_symmetry *symmetry, int64_t number);
int64_t tt_symmetry_order(const tt_symmetry *symmetry);
/* Leaves of the permutations those that bring every group of every level onto a group, and that bring no group of the
 * levels with apart[level] onto itself. TUTTI_ERR_MEMORY only. */
tutti_status tt_topo_symmetry(const tt_topo *topo, const bool *apart, tt_symmetry *symmetry);

/* Text of a group map -> group of each rank (map: rank_count entries):
 *   "4x8" 4 groups of 8; "7,8,3,1" sizes in rank order; "cyclic:4" rank modulo 4; "0,0,1,2:" the map itself, ended by
 * ':'. */
tutti_status tt_topo_parse_map(const char *text, int64_t rank_count, int64_t *map);
/* How many ranks a map text stands for, where it says (not for cyclic): else 0. */
int64_t tt_topo_map_size(const char *text);

#endif
