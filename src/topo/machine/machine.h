/* topo/machine/machine.h - a machine as hwloc sees it: which cores share an L3, a NUMA node, a package.
 *
 *     read.c       this machine, or a recorded one, as tables
 *     locality.c   where this process runs
 *     fingerprint.c  which kind of machine it is
 *
 * Packages, NUMA nodes, L3s and cores are numbered from 0 as hwloc orders them. All processes of a machine see the same
 * numbers, since cores that a cgroup takes from some of them are counted too. */
#ifndef TT_TOPO_MACHINE_MACHINE_H
#define TT_TOPO_MACHINE_MACHINE_H

#include "base/base.h"
#include "topo/topo.h"

#include <stdio.h>

typedef struct tt_machine_core {
  int32_t package, numa, l3; /* -1: it is in none */
  int32_t thread_count;
  int32_t *thread; /* the system's numbers, as taskset has them */
  bool usable;     /* for processes like the one that looked: one of its threads at least */
} tt_machine_core;

typedef struct tt_machine_numa {
  int32_t number;  /* the system's */
  int32_t package; /* -1: in none, or in several */
  int64_t memory_bytes;
  int64_t core_count; /* that are nearest to it; 0: memory alone */
} tt_machine_numa;

typedef struct tt_machine_device {
  const char *name, *kind; /* "mlx5_0", "network" */
  int32_t package, numa;   /* where it is attached; -1: to none, or to several */
} tt_machine_device;

/* In the arena. */
typedef struct tt_machine {
  const char *name; /* of the host; "": not recorded */
  tt_machine_core *core;
  tt_machine_numa *numa;
  int64_t *l3_bytes;         /* 0: unknown */
  tt_machine_device *device; /* GPUs, network devices, other accelerators */
  int64_t core_count, numa_count, l3_count, package_count, device_count;
  int64_t thread_count, usable_count, offline_count; /* threads; usable: as the process that looked was restricted */
  uint64_t *distance;                                /* numa_count x numa_count, row by row; NULL: not recorded */
} tt_machine;

/* path: "" for this machine, else an XML file of `lstopo --disallowed FILE.xml`. Reads devices too: 30 ms. */
tutti_status tt_machine_read(const char *path, tt_arena *arena, tt_machine **machine);
/* Writes what tt_machine_read reads of this machine to such a file. */
tutti_status tt_machine_write(const char *path);
/* The locality of a process that is bound to one core of the machine; sets package, numa, l3 and core. */
void tt_machine_core_locality(const tt_machine *machine, int64_t core, tt_locality *locality);

/* Where the calling thread may run: sets package, numa, l3 and core of `locality`, -1 where it is more than one. Reads
 * the machine, some ms: ask once. A system that does not say gives -1, no error. */
tutti_status tt_machine_locality(tt_locality *locality);

#define TT_FINGERPRINT_TEXT 17 /* 16 hexadecimal digits */
/* Equal on machines of one kind. Reads the machine, 30 ms. */
tutti_status tt_machine_fingerprint(char text[static TT_FINGERPRINT_TEXT]);

#endif
