/* tools/bench/flow.h - --nics. */
#ifndef TUTTI_TOOLS_BENCH_FLOW_H
#define TUTTI_TOOLS_BENCH_FLOW_H

#include "job.h"
#include "row.h"

void bench_print_flow(const bench_job *job, const bench_row *row);

#endif
