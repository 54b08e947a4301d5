/* tools/bench/rows.h - the rows that the options ask for, one after the other. */
#ifndef TUTTI_TOOLS_BENCH_ROWS_H
#define TUTTI_TOOLS_BENCH_ROWS_H

#include "job.h"
#include "row.h"

int bench_rows_alloc(const bench_options *options, bench_rows *rows);
void bench_rows_free(bench_rows *rows);
/* Where the job has a map. */
void bench_row_set_bound(const bench_job *job, bench_row *row);
/* Every row that the options ask for, in order: `visit` gets it with collective, parameters and bytes. Its result: 0;
 * 1: and so for every other size; -1: the job is over. */
typedef int (*bench_visit)(bench_job *job, bench_rows *rows, bench_row *row);
int bench_rows_visit(bench_job *job, bench_rows *rows, bench_visit visit);
/* Prints the row and notes whether it is a failure. Returns as a visit. */
int bench_rows_done(bench_job *job, bench_rows *rows, bench_row *row);

#endif
