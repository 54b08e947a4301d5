/* topo/machine/locality.c - where the calling thread may run. Nothing is looked at but packages, NUMA nodes, L3s and
 * cores: devices would cost ten times as much. */
#include "topo/machine/holder.h"

int32_t tt_machine_holder(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_cpuset_t set) {
  int32_t found = -1;
  int least = 0;
  if (!set || hwloc_bitmap_iszero(set))
    return -1;
  for (hwloc_obj_t at = NULL; (at = hwloc_get_next_obj_by_type(topology, type, at));) {
    int size = hwloc_bitmap_weight(at->cpuset);
    if (hwloc_bitmap_isincluded(set, at->cpuset) && (found < 0 || size < least)) {
      found = (int32_t)at->logical_index;
      least = size;
    }
  }
  return found;
}

static void find_locality(hwloc_topology_t topology, tt_locality *locality) {
  hwloc_bitmap_t set = hwloc_bitmap_alloc();
  if (set && hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_THREAD) == 0) {
    locality->package = tt_machine_holder(topology, HWLOC_OBJ_PACKAGE, set);
    locality->numa = tt_machine_holder(topology, HWLOC_OBJ_NUMANODE, set);
    locality->l3 = tt_machine_holder(topology, HWLOC_OBJ_L3CACHE, set);
    locality->core = tt_machine_holder(topology, HWLOC_OBJ_CORE, set);
  }
  hwloc_bitmap_free(set);
}

tutti_status tt_machine_locality(tt_locality *locality) {
  static const hwloc_obj_type_t kinds[] = {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_CORE};
  hwloc_topology_t topology;
  locality->package = locality->numa = locality->l3 = locality->core = -1;
  if (hwloc_topology_init(&topology) != 0)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the topology of this machine");
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (size_t n = 0; n < TT_COUNT(kinds); n++)
    hwloc_topology_set_type_filter(topology, kinds[n], HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(topology) == 0)
    find_locality(topology, locality);
  hwloc_topology_destroy(topology);
  return TUTTI_OK;
}
