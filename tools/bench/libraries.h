/* tools/bench/libraries.h - which libraries the user asks for, and by which launchers. */
#ifndef TUTTI_TOOLS_BENCH_LIBRARIES_H
#define TUTTI_TOOLS_BENCH_LIBRARIES_H

#include "options.h"

/* Finds those that the options name. Error: there is none of a name, or it cannot be started as the options say. */
int bench_libraries_find(bench_options *options);
/* The user's launcher for it; NULL: he has named none. */
const char *bench_libraries_launch(const bench_options *options, const bench_launcher *launcher);

#endif
