/* tools/topo/placements.h - which rank is on which node. */
#ifndef TUTTI_TOOLS_TOPO_PLACEMENTS_H
#define TUTTI_TOOLS_TOPO_PLACEMENTS_H

#include "subject.h"

enum { TOPO_PLACEMENTS = 8 };

typedef enum topo_launch { TOPO_BLOCK, TOPO_CYCLIC, TOPO_BY_FILE } topo_launch;

typedef struct topo_placement {
  const char *name;   /* NULL: none but that it is the current one */
  topo_launch launch; /* how a launcher is told */
  int64_t *node_of;   /* of each rank: number in the network, or any */
  tt_topo *topo;
  bool is_current;
  double time_ns;
} topo_placement;

/* All have as many ranks on each node as the current one. */
typedef struct topo_placements {
  tt_arena *arena;
  const tt_switches *network; /* NULL: nodes are alike */
  int64_t rank_count;
  topo_placement at[TOPO_PLACEMENTS]; /* no two of the same levels */
  int count;
} topo_placements;

/* The current one, and those by rule. In the arena. */
tutti_status topo_placements_make(tt_arena *arena, const tt_switches *network, const int64_t *node_of,
                                  int64_t rank_count, topo_placements *placements);
/* Unless there is one of the same levels. */
tutti_status topo_placements_add(topo_placements *placements, const char *name, topo_launch launch,
                                 const int64_t *node_of);

/* The nodes of all slots, each as often as it has ranks; those that share switches stand together. */
const int64_t *topo_placements_slots(const topo_placements *placements);
/* How many levels two nodes share: 0 .. TT_TOPO_SWITCHES, and one more where they are the same. */
int topo_placements_near(const topo_placements *placements, int64_t node, int64_t other);

#endif
