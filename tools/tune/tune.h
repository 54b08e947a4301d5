/* tools/tune/tune.h - `tutti tune`. */
#ifndef TUTTI_TOOLS_TUNE_TUNE_H
#define TUTTI_TOOLS_TUNE_TUNE_H

int tt_tool_tune(int argc, char **argv);

#endif
