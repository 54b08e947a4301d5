/* tools/tune/against.h - `tutti tune --mpi`. */
#ifndef TUTTI_TOOLS_TUNE_AGAINST_H
#define TUTTI_TOOLS_TUNE_AGAINST_H

#include "options.h"

/* Returns an exit code. */
int tune_against_mpi(const tune_options *options, int argc, char **argv);

#endif
