/* tools/tune/task.h - the task that a call is, for its space: what a job's ranks would do on machines like this one. */
#ifndef TUTTI_TOOLS_TUNE_TASK_H
#define TUTTI_TOOLS_TUNE_TASK_H

#include "tune/tune.h"

/* apart: some of the ranks are on other machines. bytes: of the whole vector. */
tt_task tune_task_of(const tt_problem *problem, const tt_topo *topo, bool apart, int64_t bytes);

#endif
