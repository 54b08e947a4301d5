/* tests/simgrid/compare.h - the same plans' messages on the same machine, by tt_sim and by SimGrid (simgrid.org).
 *
 *     machines.c   the machines
 *     compare.c    compositions, the table
 *     platform.c   the machine as SimGrid reads it
 *     play.c       plans as SimGrid's actors
 *     once.c       each in a process of its own
 *
 * One unit of SimGrid's time is a microsecond, since it takes a nanosecond for nothing. */
#ifndef TESTS_SIMGRID_COMPARE_H
#define TESTS_SIMGRID_COMPARE_H

#include "sim/sim.h"
#include "support/plans.h"

#include <stdio.h>

enum { CALLS_MOST = 2 };

typedef struct machine {
  const char *name, *key;                             /* for people; for command lines */
  int64_t per_node, nodes_a_switch, switches_a_group; /* 0: no such level */
  const char *model;
  const char *also; /* parameters of a broadcast from the last rank at the same time; NULL: none */
} machine;

const machine *machines_all(size_t *count);
/* Adds the machine's levels to the topology of plans_begin. */
tutti_status machine_place(const machine *on, plans *all);

/* Every block of the plans has so many bytes, and nothing is published. */
typedef struct played {
  const tt_sim_model *model;
  const plans *all[CALLS_MOST]; /* of each call; they go on at once */
  int call_count;
  int64_t block_bytes;
  int64_t slice_bytes;   /* 0: no block is cut */
  int64_t eager_bytes;   /* 0: ranks have the model's ports. Else there are none, and packets are messages as SMPI has
                          * them: shorter ones set off when they are sent, others when their reader waits, too */
  unsigned seconds_most; /* of play_once's own time; 0: any number */
} played;

/* platform.c: hosts are n0, n1, ..., one for each node. */
int64_t platform_hosts(const tt_topo *topo);
int64_t platform_host(const tt_topo *topo, int64_t rank);
void platform_write(const tt_sim_model *model, FILE *file); /* with routes between all */
void platform_write_for(const played *of, FILE *file);      /* with those that are needed */
/* play.c: the time in ns, negative where the plans never end. Once a process. */
double play(const played *of, const char *platform);
/* once.c: the same, any number of times. */
double play_once(const played *of);

#endif
