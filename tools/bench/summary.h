/* tools/bench/summary.h - geometric means below the table. */
#ifndef TUTTI_TOOLS_BENCH_SUMMARY_H
#define TUTTI_TOOLS_BENCH_SUMMARY_H

#include "job.h"
#include "row.h"

void bench_print_summary(const bench_job *job, const bench_row *row, int row_count);

#endif
