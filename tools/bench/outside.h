/* tools/bench/outside.h - one job that a launcher of the user's starts, from its command line to its end. */
#ifndef TUTTI_TOOLS_BENCH_OUTSIDE_H
#define TUTTI_TOOLS_BENCH_OUTSIDE_H

#include "job.h"

#include "bench/report.h"

/* What is told while the job runs. */
typedef struct bench_listener {
  void *user;
  void (*point)(void *user, int number, const bench_figures *figures); /* of the job's list */
} bench_listener;

typedef struct bench_outside {
  bench_job *job;
  bench_group *group;
  bench_task task; /* settings for all points */
  int point_count; /* 0: only to see where its ranks are */
  char **point;    /* as in report.h */
  bench_listener listener;
  bench_map map; /* of its ranks; the caller finishes it */
  char version[BENCH_TEXT];
} bench_outside;

/* Starts the job, listens until it has said everything, sees to it that it ends. 0; 1: its worker was not built, which
 * has been said; -1: it has failed or was interrupted, and why was printed. */
int bench_outside_run(bench_outside *outside);

#endif
