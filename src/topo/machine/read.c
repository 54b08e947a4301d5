/* topo/machine/read.c - hwloc's tree of a machine, as tables. */
#include "topo/machine/holder.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- hwloc ---- */

static tutti_status no_memory(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for the tables of a machine"); }

/* What asks libraries of drivers and X servers is left out: it is slow, leaks, and /sys says as much. */
static void stay_in_sys(hwloc_topology_t topology) {
  static const char *const components[] = {"pci", "gl", "opencl"};
  for (size_t n = 0; n < TT_COUNT(components); n++)
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, components[n]);
}

static tutti_status load(const char *path, hwloc_topology_t *topology) {
  if (hwloc_topology_init(topology) != 0)
    return no_memory();
  errno = 0;
  bool taken = !path[0] || hwloc_topology_set_xml(*topology, path) == 0;
  stay_in_sys(*topology);
  hwloc_topology_set_io_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_flags(*topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (taken && hwloc_topology_load(*topology) == 0)
    return TUTTI_OK;
  hwloc_topology_destroy(*topology);
  if (path[0])
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is not a machine that hwloc recorded as XML", path);
  return tt_fail(TUTTI_ERR_SYSTEM, "hwloc cannot read the topology of this machine: %s", strerror(errno));
}

static int64_t count_objects(hwloc_topology_t topology, hwloc_obj_type_t type) {
  int count = hwloc_get_nbobjs_by_type(topology, type);
  return count > 0 ? count : 0;
}

/* ---- tables ---- */

/* A machine may name no cores: then its threads are taken for them. */
static hwloc_obj_type_t core_type(hwloc_topology_t topology) {
  return count_objects(topology, HWLOC_OBJ_CORE) ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
}

static bool read_core(hwloc_topology_t topology, hwloc_obj_t from, tt_arena *arena, tt_machine_core *core) {
  hwloc_const_bitmap_t allowed = hwloc_topology_get_allowed_cpuset(topology);
  *core = (tt_machine_core){.package = tt_machine_holder(topology, HWLOC_OBJ_PACKAGE, from->cpuset),
                            .numa = tt_machine_holder(topology, HWLOC_OBJ_NUMANODE, from->cpuset),
                            .l3 = tt_machine_holder(topology, HWLOC_OBJ_L3CACHE, from->cpuset),
                            .usable = hwloc_bitmap_intersects(allowed, from->cpuset)};
  core->thread = tt_arena_alloc(arena, (size_t)hwloc_bitmap_weight(from->cpuset) + 1, sizeof *core->thread);
  if (!core->thread)
    return false;
  for (int at = -1; (at = hwloc_bitmap_next(from->cpuset, at)) >= 0;)
    core->thread[core->thread_count++] = at;
  assert(core->thread_count == hwloc_bitmap_weight(from->cpuset));
  return true;
}

static bool read_cores(hwloc_topology_t topology, tt_arena *arena, tt_machine *machine) {
  hwloc_obj_type_t type = core_type(topology);
  machine->core_count = count_objects(topology, type);
  machine->core = tt_arena_alloc(arena, (size_t)machine->core_count, sizeof *machine->core);
  for (int64_t n = 0; machine->core && n < machine->core_count; n++)
    if (!read_core(topology, hwloc_get_obj_by_type(topology, type, (unsigned)n), arena, &machine->core[n]))
      return false;
  return machine->core;
}

static bool read_numa(hwloc_topology_t topology, tt_arena *arena, tt_machine *machine) {
  machine->numa_count = count_objects(topology, HWLOC_OBJ_NUMANODE);
  machine->numa = tt_arena_alloc(arena, (size_t)machine->numa_count + 1, sizeof *machine->numa);
  for (int64_t n = 0; machine->numa && n < machine->numa_count; n++) {
    hwloc_obj_t from = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, (unsigned)n);
    machine->numa[n] = (tt_machine_numa){.number = (int32_t)from->os_index,
                                         .package = tt_machine_holder(topology, HWLOC_OBJ_PACKAGE, from->cpuset),
                                         .memory_bytes = (int64_t)from->attr->numanode.local_memory};
  }
  for (int64_t n = 0; machine->numa && n < machine->core_count; n++)
    if (machine->core[n].numa >= 0) {
      assert(machine->core[n].numa < machine->numa_count);
      machine->numa[machine->core[n].numa].core_count++;
    }
  return machine->numa;
}

static bool read_l3(hwloc_topology_t topology, tt_arena *arena, tt_machine *machine) {
  machine->l3_count = count_objects(topology, HWLOC_OBJ_L3CACHE);
  machine->l3_bytes = tt_arena_alloc(arena, (size_t)machine->l3_count + 1, sizeof *machine->l3_bytes);
  for (int64_t n = 0; machine->l3_bytes && n < machine->l3_count; n++)
    machine->l3_bytes[n] = (int64_t)hwloc_get_obj_by_type(topology, HWLOC_OBJ_L3CACHE, (unsigned)n)->attr->cache.size;
  return machine->l3_bytes;
}

/* Distances are of those NUMA nodes that the firmware names; all of them, or none are kept. */
static bool read_distances(hwloc_topology_t topology, tt_arena *arena, tt_machine *machine) {
  struct hwloc_distances_s *from = NULL;
  unsigned count = 1;
  if (machine->numa_count < 2 ||
      hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &from, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) !=
          0 ||
      count == 0 || !from)
    return true;
  if (from->nbobjs == machine->numa_count)
    machine->distance = tt_arena_alloc(arena, from->nbobjs * (size_t)from->nbobjs, sizeof *machine->distance);
  for (unsigned x = 0; machine->distance && x < from->nbobjs; x++)
    for (unsigned y = 0; y < from->nbobjs; y++)
      machine->distance[from->objs[x]->logical_index * from->nbobjs + from->objs[y]->logical_index] =
          from->values[x * from->nbobjs + y];
  hwloc_distances_release(topology, from);
  return !arena->failed;
}

/* ---- devices ---- */

/* "": not shown: disks, and NICs, which have a table of their own. */
static const char *device_kind(hwloc_obj_osdev_type_t type) {
  switch (type) {
  case HWLOC_OBJ_OSDEV_GPU:
    return "gpu";
  case HWLOC_OBJ_OSDEV_OPENFABRICS:
    return "network";
  case HWLOC_OBJ_OSDEV_COPROC:
    return "accelerator";
  default:
    return "";
  }
}

static const char *copy_text(tt_arena *arena, const char *text) {
  return tt_arena_format(arena, "%s", text ? text : "");
}

static bool read_devices(hwloc_topology_t topology, tt_arena *arena, tt_machine *machine) {
  int64_t room = count_objects(topology, HWLOC_OBJ_OS_DEVICE);
  machine->device = tt_arena_alloc(arena, (size_t)room + 1, sizeof *machine->device);
  for (hwloc_obj_t at = NULL; machine->device && (at = hwloc_get_next_osdev(topology, at));) {
    const char *kind = device_kind(at->attr->osdev.type);
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, at);
    if (kind[0])
      machine->device[machine->device_count++] =
          (tt_machine_device){.name = copy_text(arena, at->name),
                              .kind = kind,
                              .package = tt_machine_holder(topology, HWLOC_OBJ_PACKAGE, near ? near->cpuset : NULL),
                              .numa = tt_machine_holder(topology, HWLOC_OBJ_NUMANODE, near ? near->cpuset : NULL)};
  }
  return !arena->failed;
}

/* ---- the whole ---- */

static bool read_rest(hwloc_topology_t topology, tt_arena *arena, tt_machine *machine) {
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  hwloc_bitmap_t usable = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
  machine->name = copy_text(arena, hwloc_obj_get_info_by_name(root, "HostName"));
  machine->package_count = count_objects(topology, HWLOC_OBJ_PACKAGE);
  machine->thread_count = hwloc_bitmap_weight(root->cpuset);
  machine->offline_count = hwloc_bitmap_weight(root->complete_cpuset) - machine->thread_count;
  assert(machine->offline_count >= 0);
  if (usable)
    hwloc_bitmap_and(usable, usable, root->cpuset);
  machine->usable_count = usable ? hwloc_bitmap_weight(usable) : 0;
  hwloc_bitmap_free(usable);
  return usable && machine->name;
}

tutti_status tt_machine_read(const char *path, tt_arena *arena, tt_machine **machine) {
  hwloc_topology_t topology;
  tt_machine *read = tt_arena_alloc(arena, 1, sizeof *read);
  tutti_status status = read ? load(path, &topology) : no_memory();
  if (status != TUTTI_OK)
    return status;
  bool whole = read_cores(topology, arena, read) && read_numa(topology, arena, read) &&
               read_l3(topology, arena, read) && read_distances(topology, arena, read) &&
               read_devices(topology, arena, read) && read_rest(topology, arena, read);
  hwloc_topology_destroy(topology);
  if (!whole)
    return no_memory();
  *machine = read;
  return TUTTI_OK;
}

tutti_status tt_machine_write(const char *path) {
  hwloc_topology_t topology;
  tutti_status status = load("", &topology);
  if (status != TUTTI_OK)
    return status;
  errno = 0;
  if (hwloc_topology_export_xml(topology, path, 0) != 0)
    status = tt_fail(TUTTI_ERR_SYSTEM, "cannot write '%s': %s", path, strerror(errno));
  hwloc_topology_destroy(topology);
  return status;
}

void tt_machine_core_locality(const tt_machine *machine, int64_t core, tt_locality *locality) {
  assert(core >= 0 && core < machine->core_count);
  const tt_machine_core *of = &machine->core[core];
  locality->package = of->package;
  locality->numa = of->numa;
  locality->l3 = of->l3;
  locality->core = (int32_t)core;
}
