/* tools/topo/network.h - `tutti topo` of a network of switches. */
#ifndef TUTTI_TOOLS_TOPO_NETWORK_H
#define TUTTI_TOOLS_TOPO_NETWORK_H

#include "subject.h"

tutti_status topo_print_network(topo_subject *subject);
/* The switches above this machine, by TUTTI_TOPOLOGY; nothing where that is not set. */
tutti_status topo_print_own_switches(tt_arena *arena);

/* "spine0 / leaf0": the switches above a node. */
const char *topo_above_text(tt_arena *arena, const tt_switches *network, int64_t node);

/* What is attached to a switch: first switches, then nodes. */
typedef struct topo_branches {
  int64_t *first_below, *next; /* of each switch; -1: none */
  int64_t first_top;           /* its `next` are the others that hang on none */
  int64_t **node;              /* of each switch: the nodes on it, node_count of them */
} topo_branches;

tutti_status topo_branches_find(const tt_switches *network, tt_arena *arena, topo_branches *branches);

#endif
