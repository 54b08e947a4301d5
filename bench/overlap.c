/* bench/overlap.c - how much of a non-blocking allreduce a progress thread hides, where it has a core to run on.
 *
 * Rank 0 posts the call, computes for three times the call's length and waits; its progress thread is on the last core.
 * Rank 1 posts and waits, on that same core, so that rank 0's computation has a core of its own even with two cores.
 * hidden = (call + computation - both) / call: 100 % means that the call costs rank 0 nothing. Medians.
 *
 *     tutti run -n 2 --bind none bench_overlap [BYTES ...]    default 1M 4M 16M */
#include "base/base.h"
#include "cores.h"
#include "spin.h"
#include "stats.h"

#include <tutti/tutti.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 61, TIMES = 3 };

typedef struct medians {
  double call, computation, both; /* us */
} medians;

static tutti_comm *comm;
static int64_t rank;

static void must(tutti_status status) {
  if (status == TUTTI_OK)
    return;
  fprintf(stderr, "bench_overlap: %s\n", tutti_last_error());
  exit(1);
}

/* us of the call, posted where `in` is not NULL, with rank 0's computation before the wait. */
static double once(const float *in, float *out, int64_t count, int64_t turns) {
  tutti_request *request = NULL;
  must(tutti_barrier(comm));
  int64_t begin_ns = tt_clock_ns();
  if (in)
    must(tutti_allreduce_start(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm, &request));
  if (rank == 0)
    bench_compute(turns);
  must(tutti_wait(&request));
  return (double)(tt_clock_ns() - begin_ns) * 1e-3;
}

static medians measure(const float *in, float *out, int64_t count, int64_t turns) {
  double call[ROUNDS], computation[ROUNDS], both[ROUNDS];
  for (int n = 0; n < ROUNDS; n++) {
    call[n] = once(in, out, count, 0);
    computation[n] = once(NULL, NULL, 0, turns);
    both[n] = once(in, out, count, turns);
  }
  return (medians){bench_median(call, ROUNDS), bench_median(computation, ROUNDS), bench_median(both, ROUNDS)};
}

static void measure_size(int64_t bytes) {
  int64_t count = bytes / (int64_t)sizeof(float), turns = 100000;
  float *in = calloc((size_t)count + 1, sizeof *in), *out = calloc((size_t)count + 1, sizeof *out);
  if (!in || !out)
    exit(1);
  memset(in, 1, (size_t)bytes); /* what was never written is one page of zeros to all readers */
  medians found = measure(in, out, count, turns);
  turns = (int64_t)((double)turns * (double)TIMES * found.call / found.computation);
  found = measure(in, out, count, turns);
  if (rank == 0)
    printf("%12" PRId64 "  %10.1f  %10.1f  %10.1f  %6.0f%%\n", bytes, found.call, found.computation, found.both,
           100 * (found.call + found.computation - found.both) / found.call);
  free(in);
  free(out);
}

/* Rank 0 on the first core, its thread and rank 1 on the last; who shares a core does not spin. */
static void take_cores(int number) {
  int core[1024], cores = bench_cores(core, (int)TT_COUNT(core));
  char text[16];
  snprintf(text, sizeof text, "%d", core[cores - 1]);
  setenv("TUTTI_PROGRESS", "thread", 0);
  setenv("TUTTI_PROGRESS_CORE", text, 0);
  setenv("TUTTI_SPIN", "1", 0);
  bench_bind(core[number == 0 ? 0 : cores - 1]);
}

int main(int argument_count, char **arguments) {
  static const int64_t sizes[] = {1 << 20, 4 << 20, 16 << 20};
  const char *number = getenv("TUTTI_RANK");
  tutti_context *context;
  if (!number)
    return fprintf(stderr, "usage: tutti run -n 2 --bind none bench_overlap [BYTES ...]\n"), 2;
  take_cores(atoi(number));
  must(tutti_context_create(NULL, &context));
  must(tutti_comm_create(context, &comm));
  rank = tutti_comm_rank(comm);
  if (rank == 0)
    printf("       bytes     call us    comp. us     both us  hidden\n");
  for (int n = 1; n < argument_count; n++) {
    int64_t bytes;
    must(tt_parse_bytes(arguments[n], &bytes));
    measure_size(bytes);
  }
  for (size_t n = 0; n < TT_COUNT(sizes) && argument_count == 1; n++)
    measure_size(sizes[n]);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  return 0;
}
