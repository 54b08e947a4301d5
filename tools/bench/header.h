/* tools/bench/header.h - the comment lines above the table. */
#ifndef TUTTI_TOOLS_BENCH_HEADER_H
#define TUTTI_TOOLS_BENCH_HEADER_H

#include "job.h"

void bench_print_header(const bench_job *job); /* legend and names of columns */

#endif
