/* bench/simulated/candidates.h - which of tutti's parameters src/sim finds cheapest on a large machine.
 *
 * All are timed on a machine of the same kind with fewer ranks. Those that are cheapest there, and those that would be
 * if a message took as many times longer as there are ranks more, go on to a machine of more ranks. */
#ifndef BENCH_SIMULATED_CANDIDATES_H
#define BENCH_SIMULATED_CANDIDATES_H

#include "simgrid/compare.h"

enum { LENGTHS_MOST = 8, PACKETS_MOST = 4000000 };

/* A call; bytes are of what a rank has, or gets. */
typedef struct point {
  const machine *on;
  int64_t ranks;
  tt_collective collective;
  int64_t bytes[LENGTHS_MOST];
  int length_count;
} point;

typedef struct candidate {
  char text[200];
  int64_t slice_bytes;          /* 0: whole blocks */
  unsigned alive;               /* a bit for each length */
  double time_ns[LENGTHS_MOST]; /* by src/sim; negative: none */
} candidate;

typedef struct candidates {
  candidate *of;
  int count;
} candidates;

tutti_status point_plans(const point *of, const char *params, plans *all);
tutti_status point_model(const point *of, const plans *all, double stretch, tt_sim_model *model);
int64_t point_total(const point *of, int length); /* bytes of all blocks */
/* By src/sim; negative: none. Of slices, a stream has one under way. */
double point_time(const point *of, int length, const plans *all, const tt_sim_model *model);

void candidates_make(const point *of, candidates *all);
/* The `most` cheapest of each length are alive then, and have times. */
void candidates_judge(const point *of, int most, candidates *all);

#endif
