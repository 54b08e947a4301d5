/* topo/switches/switches.h - which switches stand above each node, from a file of the user's (TUTTI_TOPOLOGY).
 *
 *     plain.c      a line for each node: its name, its switch, the switch above that one, ...
 *     slurm.c      Slurm's topology.conf
 *     hostlist.c   node[0-3,7] in both
 *     builder.c    what both build: a tree of switches with nodes at it; names are found by hashing
 *
 * Files come from people: all that is wrong is told with the line where it stands. */
#ifndef TT_TOPO_SWITCHES_SWITCHES_H
#define TT_TOPO_SWITCHES_SWITCHES_H

#include "base/base.h"
#include "topo/topo.h"

typedef struct tt_switch {
  const char *name;
  int32_t above;      /* the switch that it hangs on; -1: none */
  int64_t node_count; /* that hang on this one itself */
} tt_switch;

typedef struct tt_switch_node {
  const char *name;
  int32_t leaf; /* its switch */
} tt_switch_node;

/* In the arena; in the file's order. No switch stands above itself, and at most TT_TOPO_SWITCHES above each node. */
typedef struct tt_switches {
  const char *path; /* of the file, for errors */
  tt_switch *at;
  tt_switch_node *node;
  int64_t count, node_count;
} tt_switches;

/* A file whose first line that says something begins with "SwitchName=" or "BlockName=" is Slurm's. */
tutti_status tt_switches_read(const char *path, tt_arena *arena, tt_switches **switches);
/* The same of text; path is for errors. */
tutti_status tt_switches_parse(const char *text, size_t size, const char *path, tt_arena *arena,
                               tt_switches **switches);

/* The node of that name; a name with a domain also finds the file's one without, and the other way round. An error
 * names what is not in the file. */
tutti_status tt_switches_find(const tt_switches *switches, const char *name, int64_t *node);
/* The switches above a node, outermost first; returns how many, at least 1. */
int tt_switches_above(const tt_switches *switches, int64_t node, int32_t above[static TT_TOPO_SWITCHES]);
/* The same in a locality: switch_of and switch_count. Equal names give equal numbers on every machine. */
void tt_switches_locality(const tt_switches *switches, int64_t node, tt_locality *locality);

#endif
