/* tools/run/loop.h - watching over the ranks. */
#ifndef TUTTI_TOOLS_RUN_LOOP_H
#define TUTTI_TOOLS_RUN_LOOP_H

#include "job.h"

void run_watch(run_job *job); /* until every rank has ended */

#endif
