/* tools/bench/bench.h - `tutti bench`. */
#ifndef TUTTI_TOOLS_BENCH_H
#define TUTTI_TOOLS_BENCH_H

/* The arguments from the command's own name on. Return the exit code. */
int tt_tool_bench(int argc, char **argv);
int tt_tool_bench_worker(int argc, char **argv); /* a rank; not for people */

#endif
