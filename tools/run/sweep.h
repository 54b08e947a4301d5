/* tools/run/sweep.h - what ranks have left behind. */
#ifndef TUTTI_TOOLS_RUN_SWEEP_H
#define TUTTI_TOOLS_RUN_SWEEP_H

#include "job.h"

bool run_note_others(run_job *job); /* before the first rank; false: no memory */
void run_forget_other(run_job *job, pid_t pid);
void run_sweep(run_job *job); /* ends what ranks have left behind, passes on the rest of their output */

#endif
