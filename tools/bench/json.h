/* tools/bench/json.h - the rows as JSON. */
#ifndef TUTTI_TOOLS_BENCH_JSON_H
#define TUTTI_TOOLS_BENCH_JSON_H

#include "job.h"
#include "row.h"

#include <stdio.h>

/* In place of what the file has, which is open to append. */
int bench_json_write(const bench_job *job, const bench_row *row, int row_count, FILE *file);

#endif
