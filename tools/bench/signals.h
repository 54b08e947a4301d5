/* tools/bench/signals.h - what interrupts a run. */
#ifndef TUTTI_TOOLS_BENCH_SIGNALS_H
#define TUTTI_TOOLS_BENCH_SIGNALS_H

#include "job.h"

/* Opens the descriptor that bench_signals_read reads, and becomes the parent of what launchers leave behind. */
int bench_signals_open(bench_job *job);
/* Reads what signals have come: 0 where none of them ends the job, else -1 after saying what happened. */
int bench_signals_read(bench_job *job);

#endif
