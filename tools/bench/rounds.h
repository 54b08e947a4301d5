/* tools/bench/rounds.h - jobs of launchers of the user's, in turn. */
#ifndef TUTTI_TOOLS_BENCH_ROUNDS_H
#define TUTTI_TOOLS_BENCH_ROUNDS_H

#include "rows.h"

#include <stdio.h>

/* Starts every library's job again and again by the user's launchers. */
int bench_rounds_run(bench_options *options, bench_rows *rows, FILE *json);

#endif
