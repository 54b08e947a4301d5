/* tools/topo/ranks.h - `tutti topo --ranks`. */
#ifndef TUTTI_TOOLS_TOPO_RANKS_H
#define TUTTI_TOOLS_TOPO_RANKS_H

#include "subject.h"

/* Where each rank of the map lies, and the levels that follow. rank_count 0: as many as the map says. */
tutti_status topo_print_ranks(topo_subject *subject, const char *map, int64_t rank_count);

#endif
