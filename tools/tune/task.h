/* tools/tune/task.h - the task that a call is, for its space: what a job's ranks do on machines like this one. */
#ifndef TUTTI_TOOLS_TUNE_TASK_H
#define TUTTI_TOOLS_TUNE_TASK_H

#include "job/comm.h"
#include "tune/tune.h"

/* apart: some of the ranks are on other machines. bytes: of the whole vector. */
tt_task tune_task_of(const tt_problem *problem, const tt_topo *topo, bool apart, int64_t bytes);
/* On a communicator that is placed. */
tt_task tune_task_on(const tutti_comm *comm, tt_collective collective, int64_t bytes);
/* The next length that leaves no block empty. */
int64_t tune_task_bytes(const tutti_comm *comm, tt_collective collective, int64_t bytes);

#endif
