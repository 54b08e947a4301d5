/* bench/map.h - which rank is on which machine, and what joins these: made by each rank from what all have told, or by
 * the driver from what rank 0 has printed.
 *
 * Machines and hosts (place.h) are numbered by their lowest ranks. */
#ifndef BENCH_MAP_H
#define BENCH_MAP_H

#include "place.h"

typedef struct bench_machine {
  int32_t host, first; /* its lowest rank */
  int32_t ranks, cores;
  char name[64];
  int32_t nic_count;
  bench_nic nic[BENCH_NICS];
} bench_machine;

typedef struct bench_map {
  int32_t ranks, machines, hosts;
  int32_t *machine_of; /* of each rank */
  bench_machine *machine;
} bench_map;

static inline void bench_map_finish(bench_map *map) {
  free(map->machine_of);
  free(map->machine);
  *map = (bench_map){0};
}

static inline bool bench_map_alloc(bench_map *map, int32_t ranks, int32_t machines) {
  *map = (bench_map){.ranks = ranks};
  if (ranks < 1 || machines < 1)
    return false;
  map->machine_of = calloc((size_t)ranks, sizeof *map->machine_of);
  map->machine = calloc((size_t)machines, sizeof *map->machine);
  return map->machine_of && map->machine;
}

/* The lowest rank whose place is as that rank's. */
static inline int32_t bench_map_first(const bench_place *place, int32_t rank, bool host_only) {
  int32_t first = 0;
  while (place[first].host != place[rank].host || (!host_only && place[first].part != place[rank].part))
    first++;
  return first;
}

static inline void bench_map_add_machine(bench_map *map, const bench_place *place, int32_t rank) {
  bench_machine *machine = &map->machine[map->machines];
  int32_t first_on_host = bench_map_first(place, rank, true);
  machine->first = rank;
  machine->host = first_on_host == rank ? map->hosts++ : map->machine[map->machine_of[first_on_host]].host;
  machine->cores = place[rank].cores;
  memcpy(machine->name, place[rank].name, sizeof machine->name);
  machine->nic_count = place[rank].nic_count;
  memcpy(machine->nic, place[rank].nic, sizeof machine->nic);
  map->machine_of[rank] = map->machines++;
}

/* false: no memory. */
static inline bool bench_map_make(bench_map *map, const bench_place *place, int32_t ranks) {
  if (!bench_map_alloc(map, ranks, ranks))
    return false;
  for (int32_t rank = 0; rank < ranks; rank++) {
    int32_t first = bench_map_first(place, rank, false);
    if (first == rank)
      bench_map_add_machine(map, place, rank);
    map->machine_of[rank] = map->machine_of[first];
    map->machine[map->machine_of[rank]].ranks++;
  }
  return true;
}

/* The lowest machine of a host. */
static inline const bench_machine *bench_map_host(const bench_map *map, int32_t host) {
  const bench_machine *machine = map->machine;
  while (machine->host != host)
    machine++;
  return machine;
}

static inline int32_t bench_map_machines_on(const bench_map *map, int32_t host) {
  int32_t count = 0;
  for (int32_t m = 0; m < map->machines; m++)
    count += map->machine[m].host == host;
  return count;
}

static inline bool bench_map_is_crowded(const bench_map *map) {
  for (int32_t m = 0; m < map->machines; m++)
    if (map->machine[m].ranks > map->machine[m].cores)
      return true;
  return false;
}

/* Ranks on a core of that rank's host, at most, if they are dealt evenly. */
static inline int32_t bench_map_sharing(const bench_map *map, int32_t rank) {
  const bench_machine *own = &map->machine[map->machine_of[rank]];
  int32_t ranks = 0;
  for (int32_t m = 0; m < map->machines; m++)
    ranks += map->machine[m].host == own->host ? map->machine[m].ranks : 0;
  return own->cores > 0 ? (ranks - 1) / own->cores + 1 : 1;
}

/* Whether ranks are grouped alike, on hosts with the same names. */
static inline bool bench_map_equal(const bench_map *a, const bench_map *b) {
  bool equal = a->ranks == b->ranks && a->machines == b->machines;
  for (int32_t rank = 0; equal && rank < a->ranks; rank++)
    equal = a->machine_of[rank] == b->machine_of[rank];
  for (int32_t m = 0; equal && m < a->machines; m++)
    equal = strcmp(a->machine[m].name, b->machine[m].name) == 0;
  return equal;
}

#endif
