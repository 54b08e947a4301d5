/* topo/machine/holder.h - what of hwloc's tree holds a set of cores; between the files of this folder. */
#ifndef TT_TOPO_MACHINE_HOLDER_H
#define TT_TOPO_MACHINE_HOLDER_H

#include "topo/machine/machine.h"

#include <hwloc.h>

/* The number of the smallest object of that type that holds all of the set; -1: none does, or the set is empty. */
int32_t tt_machine_holder(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_cpuset_t set);

#endif
