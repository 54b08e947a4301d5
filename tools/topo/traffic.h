/* tools/topo/traffic.h - who sends to whom, and the placement that keeps it near. */
#ifndef TUTTI_TOOLS_TOPO_TRAFFIC_H
#define TUTTI_TOOLS_TOPO_TRAFFIC_H

#include "tools/plan/work.h"

enum { TOPO_TRAFFIC_RANKS = 256 }; /* of more, there is no matrix */

/* Bytes between any two ranks, either way. */
typedef struct topo_traffic {
  int64_t rank_count;
  double *bytes; /* [rank][rank] */
} topo_traffic;

tutti_status topo_traffic_make(tt_arena *arena, int64_t rank_count, topo_traffic *traffic);
/* Adds what the plans send in a call of so many bytes, made so often. */
void topo_traffic_add(topo_traffic *traffic, const plan_work *work, int64_t bytes, double count);

/* The slot of each rank, so that ranks with much traffic are near. near[a * slots + b]: how near two slots are, the
 * more the nearer; those of one node are as near as a slot is to itself. */
void topo_traffic_place(const topo_traffic *traffic, const uint8_t *near, int64_t *slot_of);

#endif
