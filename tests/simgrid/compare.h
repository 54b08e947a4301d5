/* tests/simgrid/compare.h - the same plans' messages on the same machine, by tt_sim and by SimGrid (simgrid.org).
 *
 *     compare.c    machines, compositions, the table
 *     platform.c   the machine as SimGrid reads it
 *     play.c       plans as SimGrid's actors
 *
 * One unit of SimGrid's time is a microsecond, since it takes a nanosecond for nothing. */
#ifndef TESTS_SIMGRID_COMPARE_H
#define TESTS_SIMGRID_COMPARE_H

#include "sim/sim.h"
#include "support/plans.h"

#include <stdio.h>

enum { CALLS_MOST = 2 };

/* Every block of the plans has so many bytes; none is cut, and nothing is published. */
typedef struct played {
  const tt_sim_model *model;
  const plans *all[CALLS_MOST]; /* of each call; they go on at once */
  int call_count;
  int64_t block_bytes;
} played;

/* platform.c: hosts are r0, r1, ...; there are routes between those that send to each other. */
void platform_write(const played *of, FILE *file);
/* play.c: the time in ns, negative where the plans never end. Once a process. */
double play(const played *of, const char *platform);

#endif
