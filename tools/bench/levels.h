/* tools/bench/levels.h - --levels. */
#ifndef TUTTI_TOOLS_BENCH_LEVELS_H
#define TUTTI_TOOLS_BENCH_LEVELS_H

#include "job.h"
#include "row.h"

/* Of the last job, where there are several. */
void bench_stats_set_levels(bench_stats *stats, const bench_levels *levels);
void bench_print_levels(const bench_job *job, const bench_row *row);

#endif
