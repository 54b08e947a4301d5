/* tools/bench/job.h - what starting, talking and ending share: signals, output of launchers, answers. */
#ifndef TUTTI_TOOLS_BENCH_JOB_H
#define TUTTI_TOOLS_BENCH_JOB_H

#include "bench.h"

/* Reads what signals have come: 0 where none of them ends the job, else -1 after saying what happened. */
int bench_job_signals(bench_job *job);
/* Prints the last lines that the group's launcher and ranks have printed. Returns -1. */
int bench_job_show_output(const bench_group *group);
/* Waits for one answer of each rank. */
int bench_group_collect(bench_job *job, bench_group *group, int64_t rank_count, bench_answer *answer);

/* Finds the launcher and starts it, without waiting. 0; 1: it is not installed, which has been said; -1. */
int bench_launch(bench_job *job, bench_group *group);
/* The program that the launcher starts. 0; 1: it was not built, which has been said; -1. */
int bench_launch_worker(const bench_launcher *launcher, char *path, size_t size);
/* Starts a launcher as a process group of its own. What it prints goes to `output`, -1: with its errors, which the
 * group keeps. */
int bench_launch_start(bench_group *group, char *const *argument, int output);
/* How a launcher that prints no more has ended, in words. */
const char *bench_launch_ending(bench_group *group, char text[64]);
/* Waits for a launcher whose ranks have been told to end, or ends it. Returns whether it has ended by itself. */
bool bench_launch_end(bench_group *group, bool success);
/* Opens the descriptor that bench_job_signals reads, and becomes the parent of what launchers leave behind. */
int bench_job_watch(bench_job *job);
/* Ends the group: its launcher, its ranks, and what it holds open. */
void bench_group_end(bench_group *group, bool success);

#endif
