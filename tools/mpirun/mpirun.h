/* tools/mpirun/mpirun.h - `tutti mpirun`. */
#ifndef TUTTI_TOOLS_MPIRUN_H
#define TUTTI_TOOLS_MPIRUN_H

/* The arguments from the command's own name on. Returns the exit code, unless it has become the launcher. */
int tt_tool_mpirun(int argc, char **argv);

#endif
