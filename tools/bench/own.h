/* tools/bench/own.h - tutti as a library of the measuring loop, for whoever is a rank. */
#ifndef TUTTI_TOOLS_BENCH_OWN_H
#define TUTTI_TOOLS_BENCH_OWN_H

#include "bench/loop.h"

const bench_library *bench_own_library(void);

#endif
