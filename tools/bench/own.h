/* tools/bench/own.h - tutti as a library of the measuring loop, for whoever is a rank. */
#ifndef TUTTI_TOOLS_BENCH_OWN_H
#define TUTTI_TOOLS_BENCH_OWN_H

#include "bench/loop.h"
#include "tune/tune.h"

const bench_library *bench_own_library(void);
/* All that a call of this rank's job could run with: the same on all ranks. tt_candidates_finish is called afterwards
 * in any case. */
tutti_status bench_own_space(tt_collective collective, int64_t bytes, tt_candidates *space);

#endif
