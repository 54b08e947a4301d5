/* tools/tune/mpi/calls.c - one task in an MPI program. Batches are those of tools/tune/ranks.c: a barrier, then calls
 * one behind the other whose roots rotate; or, where ranks share cores, a barrier before each call. */
#include "tools/tune/mpi/calls.h"
#include "tools/tune/load.h"

#include "bench/stats.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 4, IN_STEP = 8 /* see tools/tune/ranks.c */ };

/* ---- life ---- */

static float *zeros(int64_t count) {
  size_t bytes = (size_t)(count > 16 ? count : 16) * sizeof(float);
  void *memory = NULL;
  return posix_memalign(&memory, 4096, bytes) == 0 ? memset(memory, 0, bytes) : NULL;
}

bool tune_mpi_calls_open(tune_mpi_calls *calls, tt_collective collective, int64_t bytes) {
  bool cut = tt_compose_side(collective, TT_IN).unit != TT_ONE_BLOCK ||
             tt_compose_side(collective, TT_OUT).unit != TT_ONE_BLOCK;
  int64_t elements = bytes / (int64_t)sizeof(float), blocks = cut ? calls->size : 1;
  calls->collective = collective;
  calls->all = 0;
  if (elements > INT_MAX)
    return false;
  calls->count = (int)(elements / blocks);
  calls->in = zeros(elements);
  calls->out = zeros(elements);
  calls->counts = malloc((size_t)calls->size * sizeof *calls->counts);
  calls->offsets = malloc((size_t)calls->size * sizeof *calls->offsets);
  for (int r = 0; r < calls->size && calls->counts && calls->offsets; r++) {
    calls->counts[r] = calls->count;
    calls->offsets[r] = cut ? r * calls->count : 0; /* whole vectors may be too long for it, and need none */
  }
  return calls->in && calls->out && calls->counts && calls->offsets;
}

void tune_mpi_calls_close(tune_mpi_calls *calls) {
  free(calls->in);
  free(calls->out);
  free(calls->counts);
  free(calls->offsets);
  calls->in = calls->out = NULL;
  calls->counts = calls->offsets = NULL;
}

/* ---- a call ---- */

#define CALL(id, name, ...)                                                                                            \
  case TT_##id:                                                                                                        \
    return on_tutti ? MPI_##name(__VA_ARGS__) : PMPI_##name(__VA_ARGS__);

/* Errors end the job: the communicators have MPI's handler. */
static int call(tune_mpi_calls *of, bool on_tutti) {
  float *in = of->in, *out = of->out;
  int n = of->count, root = (int)(of->all++ % of->size);
  MPI_Comm comm = of->target;
  switch (of->collective) {
    CALL(ALLREDUCE, Allreduce, in, out, n, MPI_FLOAT, MPI_SUM, comm)
    CALL(REDUCE, Reduce, in, out, n, MPI_FLOAT, MPI_SUM, root, comm)
    CALL(REDUCE_SCATTER, Reduce_scatter_block, in, out, n, MPI_FLOAT, MPI_SUM, comm)
    CALL(REDUCE_SCATTERV, Reduce_scatter, in, out, of->counts, MPI_FLOAT, MPI_SUM, comm)
    CALL(SCAN, Scan, in, out, n, MPI_FLOAT, MPI_SUM, comm)
    CALL(EXSCAN, Exscan, in, out, n, MPI_FLOAT, MPI_SUM, comm)
    CALL(BROADCAST, Bcast, out, n, MPI_FLOAT, root, comm)
    CALL(GATHER, Gather, in, n, MPI_FLOAT, out, n, MPI_FLOAT, root, comm)
    CALL(SCATTER, Scatter, in, n, MPI_FLOAT, out, n, MPI_FLOAT, root, comm)
    CALL(ALLGATHER, Allgather, in, n, MPI_FLOAT, out, n, MPI_FLOAT, comm)
    CALL(ALLGATHERV, Allgatherv, in, n, MPI_FLOAT, out, of->counts, of->offsets, MPI_FLOAT, comm)
    CALL(ALL_TO_ALL, Alltoall, in, n, MPI_FLOAT, out, n, MPI_FLOAT, comm)
    CALL(BARRIER, Barrier, comm)
  default:
    return MPI_Abort(MPI_COMM_WORLD, 1); /* options.c takes no other */
  }
}

static void run(tune_mpi_calls *of, bool on_tutti, int64_t count) {
  for (int64_t n = 0; n < count; n++)
    call(of, on_tutti);
}

/* The first calls compile, and wake what has slept; they are not timed. */
static double time_together(tune_mpi_calls *calls, bool on_tutti, int64_t each) {
  double mine[BATCHES], slowest[BATCHES];
  run(calls, on_tutti, calls->size + each / 8);
  for (int b = 0; b < BATCHES; b++) {
    PMPI_Barrier(calls->words);
    int64_t start_ns = tt_clock_ns();
    run(calls, on_tutti, each);
    mine[b] = (double)(tt_clock_ns() - start_ns);
  }
  PMPI_Allreduce(mine, slowest, BATCHES, MPI_DOUBLE, MPI_MAX, calls->words);
  return bench_median(slowest, BATCHES) / (double)each;
}

/* When a call has ended, and, as a negative number, when it has begun: the largest are the last end and the first
 * beginning. */
static void run_apart(tune_mpi_calls *calls, bool on_tutti, double ends[static 2]) {
  PMPI_Barrier(calls->words);
  ends[1] = -(double)tt_clock_ns();
  run(calls, on_tutti, 1);
  ends[0] = (double)tt_clock_ns();
}

static double time_apart(tune_mpi_calls *calls, bool on_tutti, int64_t each) {
  int count = (int)(BATCHES * each);
  double ignored[2], *mine = calloc((size_t)count, 2 * sizeof *mine), *most = calloc((size_t)count, 2 * sizeof *most);
  if (!mine || !most)
    MPI_Abort(MPI_COMM_WORLD, 1);
  for (int64_t n = calls->size + (each < IN_STEP ? each : IN_STEP); n > 0; n--)
    run_apart(calls, on_tutti, ignored);
  for (int n = 0; n < count; n++)
    run_apart(calls, on_tutti, mine + 2 * n);
  PMPI_Allreduce(mine, most, 2 * count, MPI_DOUBLE, MPI_MAX, calls->words);
  for (int n = 0; n < count; n++)
    mine[n] = most[2 * n] + most[2 * n + 1];
  double median_ns = bench_median(mine, count);
  free(mine);
  free(most);
  return median_ns;
}

double tune_mpi_calls_time(tune_mpi_calls *calls, bool on_tutti, int64_t each) {
  return (tune_load_shares_cores(calls->size) ? time_apart : time_together)(calls, on_tutti, each);
}
