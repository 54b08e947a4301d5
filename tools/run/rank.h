/* tools/run/rank.h - starting one rank. */
#ifndef TUTTI_TOOLS_RUN_RANK_H
#define TUTTI_TOOLS_RUN_RANK_H

#include "job.h"

int run_start(run_job *job, int64_t rank); /* 0, or the exit code of a job that cannot start; says why */
bool run_binds(const run_options *options);

#endif
