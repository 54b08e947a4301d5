/* tests/mpi/random/random.c - the trials, from a seed: random [seed [trials]]. */
#include "random.h"

#include <inttypes.h>

#define COMMS 5

stream common, own;
MPI_Comm comm;
int rank, size, failures;
form how;
MPI_Request request = MPI_REQUEST_NULL;
char trial[512];

static MPI_Comm comms[COMMS];

void finish(void) {
  if (how == BLOCKING)
    return;
  if (how == PERSISTENT)
    MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (how == PERSISTENT)
    MPI_Request_free(&request);
}

static void make_comms(void) {
  comms[0] = MPI_COMM_WORLD;
  comms[1] = MPI_COMM_SELF;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[4]);
}

/* With another call outstanding all the while, which blocking ones must move on. */
static void try_among(void (*trial_of_kind)(void), MPI_Comm other) {
  int one = 1, sum = 0, count;
  MPI_Request outstanding;
  MPI_Comm_size(other, &count);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, other, &outstanding);
  trial_of_kind();
  MPI_Wait(&outstanding, MPI_STATUS_IGNORE);
  failures += sum != count;
}

/* Each trial begins with streams of its own, so that it can be run alone. */
static void try(uint64_t seed, int number, int world_rank) {
  static void (*const kinds[])(void) = {try_reduction, try_move, try_neighbors};
  common.state = seed * 1000003 + (uint64_t)number * 7919;
  own.state = common.state * 31 + (uint64_t)world_rank;
  comm = comms[pick(&common, COMMS)];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  how = (form)pick(&common, FORMS);
  snprintf(trial, sizeof trial, "seed %" PRIu64 " trial %d form %d", seed, number, (int)how);
  bool among = pick(&common, 3) == 0;
  void (*kind)(void) = kinds[pick(&common, 7) * 3 / 7];
  if (among)
    try_among(kind, comms[2]);
  else
    kind();
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  int trials = argc > 2 ? atoi(argv[2]) : 300, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int world_rank = rank;
  common.state = seed;
  make_comms();
  make_neighborhoods();
  for (int n = 0; n < trials && failures < 10; n++)
    try(seed, n, world_rank);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0 && all > 0)
    printf("%d failures\n", all);
  MPI_Finalize();
  return all > 0;
}
