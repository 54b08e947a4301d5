/* tools/bench/columns.h - the columns of the table, and numbers in them. */
#ifndef TUTTI_TOOLS_BENCH_COLUMNS_H
#define TUTTI_TOOLS_BENCH_COLUMNS_H

#include "job.h"
#include "row.h"

#define BENCH_BY 14       /* width of the media */
#define BENCH_INTERVAL 15 /* width of a 95 % interval */

int bench_name_width(const bench_options *options);
int bench_params_width(const bench_options *options); /* 0: no column */
int bench_column_width(const bench_group *group);
bool bench_has_media(const bench_job *job); /* whether there is a column of them */
bool bench_has_bound(const bench_job *job); /* whether there are columns of the link bound */

/* "7.21" us: three digits or more. */
void bench_print_time(int width, double time_ns);
void bench_print_ratio(double ratio); /* coloured: green where the other library takes longer */

/* In GB/s by nccl-tests' definitions. */
double bench_algorithm_bandwidth(const bench_row *row);
double bench_bus_bandwidth(const bench_row *row, int64_t rank_count);

#endif
