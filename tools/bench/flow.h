/* tools/bench/flow.h - --nics. */
#ifndef TUTTI_TOOLS_BENCH_FLOW_H
#define TUTTI_TOOLS_BENCH_FLOW_H

#include "job.h"
#include "row.h"

/* Adds what the NICs of that map's hosts have counted; NULL: nothing. */
void bench_stats_add_flow(bench_stats *stats, const bench_map *map, const bench_flow *flow);
void bench_print_flow(const bench_job *job, const bench_row *row);

#endif
