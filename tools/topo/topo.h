/* tools/topo/topo.h - `tutti topo`. */
#ifndef TUTTI_TOOLS_TOPO_H
#define TUTTI_TOOLS_TOPO_H

/* The arguments from the command's own name on. Returns the exit code. */
int tt_tool_topo(int argc, char **argv);

#endif
