/* tools/info/info.h - `tutti info`. */
#ifndef TUTTI_TOOLS_INFO_H
#define TUTTI_TOOLS_INFO_H

/* The arguments from the command's own name on. Returns the exit code. */
int tt_tool_info(int argc, char **argv);

#endif
