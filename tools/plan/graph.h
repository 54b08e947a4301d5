/* tools/plan/graph.h - graphs of neighbor collectives from the command line. */
#ifndef TUTTI_TOOLS_PLAN_GRAPH_H
#define TUTTI_TOOLS_PLAN_GRAPH_H

#include "compose/compose.h"

enum { PLAN_RANKS_MOST = 1 << 20 };

/* "4x4": a periodic grid, each rank with an edge to either side in each dimension; else a file of edges, a line each:
 * "0 1" from rank 0 to rank 1. rank_count 0: as many as the text says. In the arena. */
tutti_status plan_graph_read(const char *text, int64_t rank_count, tt_arena *arena, tt_graph *graph);

#endif
