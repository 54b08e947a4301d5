/* tools/bench/group.h - talks to the ranks of a group. */
#ifndef TUTTI_TOOLS_BENCH_GROUP_H
#define TUTTI_TOOLS_BENCH_GROUP_H

#include "job.h"

/* Tells ranks 0..rank_count-1 of the group and waits for their answers. -1: the job is over, the reason has been
 * printed. */
int bench_group_ask(bench_job *job, bench_group *group, const bench_command *command, int64_t rank_count,
                    bench_answer *answer);

/* Waits for one answer of each rank. */
int bench_group_collect(bench_job *job, bench_group *group, int64_t rank_count, bench_answer *answer);

#endif
