/* tools/bench/call.h - what the calls of a row are. */
#ifndef TUTTI_TOOLS_BENCH_CALL_H
#define TUTTI_TOOLS_BENCH_CALL_H

#include "options.h"

#include "bench/layout.h"
#include "bench/ranks.h"

/* The problem of a size in bytes. */
bench_problem bench_call_problem(const bench_options *options, tt_collective collective, int64_t bytes);

/* Blocks that the stated size is cut into (bench/layout.h), and whether they are equally long. */
int64_t bench_call_blocks(const bench_options *options, tt_collective collective, bool *even);

/* What ranks are told of all calls; of which collective, sizes and parameters is a row's. */
bench_command bench_call_command(const bench_options *options);
/* The same for ranks that measure by themselves. */
bench_task bench_call_task(const bench_options *options);

#endif
