/* tools/bench/launch.h - starts and ends the ranks of a library through its launcher. */
#ifndef TUTTI_TOOLS_BENCH_LAUNCH_H
#define TUTTI_TOOLS_BENCH_LAUNCH_H

#include "job.h"

#include "tools/shared/shared.h"

/* Finds the launcher and starts it, without waiting. 0; 1: it is not installed, which has been said; -1. */
int bench_launch(bench_job *job, bench_group *group);
/* Adds the program that the launcher starts. 0; 1: it was not built, which has been said; -1. */
int bench_launch_add_worker(tool_words *line, const bench_launcher *launcher);
/* Starts a launcher as a process group of its own. What it prints goes to `output`, -1: with its errors, which the
 * group keeps. */
int bench_launch_start(const bench_job *job, bench_group *group, char *const *argument, int output);
/* How a launcher that prints no more has ended, in words. */
const char *bench_launch_ending(bench_group *group, char text[64]);
/* Waits for a launcher whose ranks have been told to end, or ends it. Returns whether it has ended by itself. */
bool bench_launch_end(bench_group *group, bool success);
/* Prints the last lines that the group's launcher and ranks have printed. Returns -1. */
int bench_launch_show_output(const bench_group *group);
/* Ends the group: its launcher, its ranks, and what it holds open. */
void bench_launch_end_group(bench_group *group, bool success);

#endif
