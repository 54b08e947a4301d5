/* tools/bench/search.h - `tutti bench --params search`: all that a call could run with, against each other.
 *
 *     first        every candidate of the space (tune/space.c) once; what is far slower than the profile's choice, or
 *                  makes no plan, leaves
 *     second       the others once more; the better time counts
 *     rounds       the best and the choice, one after the other in each round, in an order that turns
 *
 * Ranks measure by themselves (bench/ranks.h) and know the same times, so all choose the same. */
#ifndef TUTTI_TOOLS_BENCH_SEARCH_H
#define TUTTI_TOOLS_BENCH_SEARCH_H

#include "row.h"

#include "bench/ranks.h"

/* One row. `task` has all but parameters and seconds. Its result and text become the row's where nothing was found.
 * Returns 0, or -1: the job is over. */
int bench_search_row(bench_ranks *ranks, const bench_options *options, const bench_task *task, bench_row *row);

#endif
