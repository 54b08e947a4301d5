/* tools/run/run.h - `tutti run`. */
#ifndef TUTTI_TOOLS_RUN_H
#define TUTTI_TOOLS_RUN_H

/* The arguments from the command's own name on. Returns the exit code. */
int tt_tool_run(int argc, char **argv);

#endif
