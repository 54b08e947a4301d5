/* tools/verify/verify.h - `tutti verify`. */
#ifndef TUTTI_TOOLS_VERIFY_H
#define TUTTI_TOOLS_VERIFY_H

/* The arguments from the command's own name on. Returns the exit code. */
int tt_tool_verify(int argc, char **argv);

#endif
