/* tools/bench/overlap.h - one row of calls beside computation. */
#ifndef TUTTI_TOOLS_BENCH_OVERLAP_H
#define TUTTI_TOOLS_BENCH_OVERLAP_H

#include "job.h"
#include "row.h"

/* -1: the job is over. */
int bench_overlap_run(bench_job *job, bench_row *row);

#endif
