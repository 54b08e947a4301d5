/* tools/bench/print.h - one line a row. */
#ifndef TUTTI_TOOLS_BENCH_PRINT_H
#define TUTTI_TOOLS_BENCH_PRINT_H

#include "job.h"
#include "row.h"

void bench_print_row(const bench_job *job, const bench_row *row);

#endif
