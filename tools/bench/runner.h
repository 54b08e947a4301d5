/* tools/bench/runner.h - one participant of a row: a library, or the copy, with a command that it repeats.
 *
 *     round:   tutti runs a set of batches | openmpi runs one | mpich runs one | memcpy of what has to move
 *
 * Only one library is awake at a time, and ratios compare sets of the same round, so that what disturbs the machine
 * for longer than a round disturbs all of them alike. */
#ifndef TUTTI_TOOLS_BENCH_RUNNER_H
#define TUTTI_TOOLS_BENCH_RUNNER_H

#include "job.h"
#include "row.h"

#include "bench/stats.h"

#define BENCH_RUNNERS (4 * BENCH_GROUPS) /* of a row */

typedef struct bench_runner {
  bench_group *group;
  bench_command command;
  int64_t rank_count; /* that take part */
  double *batch_ns;   /* of a call: one entry a batch */
  double *set_ns;     /* the median of each round */
  int64_t batch_count;
  bench_ran ran;
} bench_runner;

/* The command is that of the row and the options, to be changed. -1: no memory, which has been said. */
int bench_runner_init(const bench_job *job, const bench_row *row, bench_group *group, bench_runner *who);
void bench_runner_finish(bench_runner *who);

/* Each of the following: -1 where the job is over. What ends the row only is noted in it. */

/* New buffers. *lacks: the group's library has no such type or operator, and is not the one that is measured. */
int bench_runner_prepare(bench_job *job, bench_row *row, bench_runner *who, bool *lacks);
/* Asks for as many calls a batch as make it so long; *call_ns: of the shortest batch, a call. Checks the first one. */
int bench_runner_calibrate(bench_job *job, bench_row *row, bench_runner *who, int64_t target_ns, double *call_ns);
/* Rounds until the time is over. */
int bench_runner_rounds(bench_job *job, bench_row *row, bench_runner *all, int count);
/* One more set, which says where the time goes; of no ranks where the library cannot tell. */
int bench_runner_watch(bench_job *job, bench_row *row, bench_runner *who, bench_levels *levels);
/* One more batch, checked. */
int bench_runner_check(bench_job *job, bench_row *row, bench_runner *who);

/* How long a batch of a library must be: longer where ranks share cores, since they leave a barrier further apart. */
int64_t bench_runner_target_ns(const bench_job *job);

#endif
