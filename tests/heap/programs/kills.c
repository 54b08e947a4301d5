/* tests/heap/programs/kills.c - a rank of tutti's API is killed while the others read its memory, as they do most
 * of the time: each of them gets an error that names it. argv[1]: seed. */
#include "../../support/die.h"

#include <tutti/tutti.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1 << 19, KEPT_NS = 20000000, RANDOM_NS = 60000000 };

static int fail(int64_t rank, int64_t victim) {
  char expected[64];
  snprintf(expected, sizeof expected, "(rank %" PRId64 " of the job) died", victim);
  if (strstr(tutti_last_error(), expected))
    printf("rank %" PRId64 ": it was named\n", rank);
  else
    printf("rank %" PRId64 ": %s\n", rank, tutti_last_error());
  return 3;
}

int main(int argc, char **argv) {
  tutti_context *context;
  tutti_comm *comm;
  if (tutti_context_create(NULL, &context) || tutti_comm_create(context, &comm))
    return fail(-1, -1);
  float *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
  int64_t rank = tutti_comm_rank(comm);
  srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
  int64_t victim = rand() % tutti_comm_size(comm);
  for (int n = 0; n < COUNT; n++)
    in[n] = out[n] = 1;
  for (int call = 0;; call++) {
    if (call == 4 && rank == victim)
      die_in(KEPT_NS + rand() % RANDOM_NS);
    if (tutti_allreduce(in, out, COUNT, TUTTI_FLOAT32, TUTTI_SUM, comm) ||
        tutti_broadcast(in, in, COUNT, TUTTI_FLOAT32, victim, comm))
      return fail(rank, victim);
  }
}
