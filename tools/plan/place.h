/* tools/plan/place.h - where ranks are. */
#ifndef TUTTI_TOOLS_PLAN_PLACE_H
#define TUTTI_TOOLS_PLAN_PLACE_H

#include "options.h"

#include "topo/topo.h"

/* The topology of the options. In the arena, also where it fails. */
tutti_status plan_place(const plan_options *options, tt_arena *arena, tt_topo **topo);
/* Its level of nodes; NULL: ranks are not placed. */
const tt_topo_level *plan_nodes(const tt_topo *topo);

#endif
