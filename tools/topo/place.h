/* tools/topo/place.h - `tutti topo --place`: which placement of the ranks would be faster.
 *
 *     place        what is asked, and the answer: a table
 *     calls        which calls: one collective, or what a job has counted
 *     placements   which placements there are, and the network's levels under each
 *     traffic      who sends to whom, and the placement that keeps it near */
#ifndef TUTTI_TOOLS_TOPO_PLACE_H
#define TUTTI_TOOLS_TOPO_PLACE_H

#include "calls.h"
#include "subject.h"

/* subject: the network, or a machine, which says nothing of nodes. */
tutti_status topo_place(const topo_place_options *options, topo_subject *subject);

#endif
