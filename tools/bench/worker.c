/* tools/bench/worker.c - `tutti bench-worker`: a rank of tutti that a driver has started. */
#include "bench.h"
#include "own.h"

#include "bench/worker.h"

int tt_tool_bench_worker(int argc, char **argv) { return bench_worker_main(bench_own_library(), argc, argv); }
