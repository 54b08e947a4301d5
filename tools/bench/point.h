/* tools/bench/point.h - one row of calls. */
#ifndef TUTTI_TOOLS_BENCH_POINT_H
#define TUTTI_TOOLS_BENCH_POINT_H

#include "job.h"
#include "row.h"

/* -1: the job is over. */
int bench_point_run(bench_job *job, bench_row *row);

#endif
