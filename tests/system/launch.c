/* A program that any launcher may have started: contexts one after the other, each with a communicator and a sum over
 * all ranks. Built with an MPI as well (-DWITH_MPI) it makes them before MPI_Init, between and after MPI_Finalize.
 *
 *   launch RANKS CONTEXTS        prints "rank R: right" when the job has that size and the sums are right
 *   launch RANKS absent R        rank R never comes; the others print the error
 *   launch RANKS dead R          rank R ends before it comes
 *   launch RANKS before,amid,after    with MPI: when */
#include <tutti/tutti.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#endif

static int fail(const char *call) {
  printf("%s: %s\n", call, tutti_last_error());
  fflush(stdout);
  return 1;
}

static int check(tutti_context *context, tutti_comm *comm, int64_t ranks) {
  int64_t rank = tutti_context_rank(context), mine = rank + 1, sum = 0;
  if (tutti_context_size(context) != ranks) {
    printf("rank %" PRId64 ": the job has %" PRId64 " ranks\n", rank, tutti_context_size(context));
    return 1;
  }
  if (tutti_allreduce(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm) != TUTTI_OK)
    return fail("tutti_allreduce");
  if (sum != ranks * (ranks + 1) / 2) {
    printf("rank %" PRId64 ": the sum is %" PRId64 "\n", rank, sum);
    return 1;
  }
  return 0;
}

static int run_context(int64_t ranks) {
  tutti_context *context = NULL;
  tutti_comm *comm = NULL;
  if (tutti_context_create(NULL, &context) != TUTTI_OK)
    return fail("tutti_context_create");
  int failed = tutti_comm_create(context, &comm) == TUTTI_OK ? check(context, comm, ranks) : fail("tutti_comm_create");
  int64_t rank = tutti_context_rank(context);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  if (!failed)
    printf("rank %" PRId64 ": right\n", rank);
  return failed;
}

/* As the launcher says it, before anybody has joined. */
static const char *own_rank(void) {
  static const char *const variables[] = {"TUTTI_RANK", "PMIX_RANK", "PMI_RANK"};
  for (size_t v = 0; v < sizeof variables / sizeof variables[0]; v++)
    if (getenv(variables[v]))
      return getenv(variables[v]);
  return "";
}

static int run_without(int64_t ranks, const char *how, const char *rank) {
  if (strcmp(own_rank(), rank) != 0)
    return run_context(ranks);
  if (strcmp(how, "dead") == 0)
    return 3;
  alarm(300); /* until the launcher ends it, since the others have failed */
  pause();
  return 3;
}

#ifdef WITH_MPI
static int run(int64_t ranks, const char *when) {
  int failed = strstr(when, "before") ? run_context(ranks) : 0;
  MPI_Init(NULL, NULL);
  for (int again = 0; again < 2 && strstr(when, "amid"); again++) {
    failed |= run_context(ranks);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failed | (strstr(when, "after") ? run_context(ranks) : 0);
}
#else
static int run(int64_t ranks, const char *contexts) {
  int failed = 0;
  for (int c = 0; c < atoi(contexts); c++)
    failed |= run_context(ranks);
  return failed;
}
#endif

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4)
    return 2;
  int64_t ranks = atoi(argv[1]);
  return argc == 4 ? run_without(ranks, argv[2], argv[3]) : run(ranks, argv[2]);
}
