/* tools/tools.h - the subcommands of `tutti`: each gets the arguments from its own name on and returns the exit code.
 */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

int tt_tool_run(int argc, char **argv);
int tt_tool_mpirun(int argc, char **argv);
int tt_tool_bench(int argc, char **argv);
int tt_tool_bench_worker(int argc, char **argv); /* a rank of bench; not for people */
int tt_tool_plan(int argc, char **argv);
int tt_tool_verify(int argc, char **argv);
int tt_tool_topo(int argc, char **argv);
int tt_tool_info(int argc, char **argv);

#endif
