/* tools/bench/start.h - ranks that this program starts itself, on this machine. */
#ifndef TUTTI_TOOLS_BENCH_START_H
#define TUTTI_TOOLS_BENCH_START_H

#include "job.h"

/* Starts every library and waits until all ranks are ready. bench_start_end is always called afterwards. */
int bench_start(const bench_options *options, bench_job *job);
/* Ends everything: politely after success, by force otherwise. */
void bench_start_end(bench_job *job, bool success);

#endif
