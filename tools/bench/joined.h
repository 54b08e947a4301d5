/* tools/bench/joined.h - this process is a rank itself. */
#ifndef TUTTI_TOOLS_BENCH_JOINED_H
#define TUTTI_TOOLS_BENCH_JOINED_H

#include "rows.h"

/* Measures as one of them; only rank 0 prints. The exit code's: 0 or -1. */
int bench_joined_run(bench_options *options, bench_rows *rows);

#endif
