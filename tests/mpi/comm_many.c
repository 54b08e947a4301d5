/* tests/mpi/comm_many.c - ten thousand communicators one after the other, and hundreds that live together.
 *
 *     comm_many [loops [live]]
 *
 * With a third argument it prints what making and freeing one costs. */
#include "comm_check.h"

static int world_rank, world_size;

enum { BATCH = 100 };

static void make_and_free(int n) {
  MPI_Comm made;
  if (n % 2)
    MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank, &made);
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
  if (n % BATCH == 0)
    check_calls(made, "loop");
  MPI_Comm_free(&made);
}

static void test_loop(int loops, bool prints) {
  double least = 1e9;
  for (int n = 0; n < loops; n += BATCH) {
    double began = MPI_Wtime();
    for (int i = 0; i < BATCH; i++)
      make_and_free(n + i);
    least = MPI_Wtime() - began < least ? MPI_Wtime() - began : least;
  }
  if (prints && world_rank == 0)
    printf("%.2f us to make and free one of %d, in the best batch of %d\n", 1e6 * least / BATCH, loops, BATCH);
}

static long shared_kilobytes(void) {
  FILE *file = fopen("/proc/self/status", "r");
  char line[200];
  long found = 0;
  while (file && fgets(line, sizeof line, file))
    sscanf(line, "RssShmem: %ld", &found);
  fclose(file);
  return found;
}

/* Of this making alone. Each has 24 KB of shared memory. */
static void test_idups(int loops) {
  long before = 0;
  for (int n = 0; n < loops; n++) {
    MPI_Comm made;
    MPI_Request request;
    MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_calls(made, "idups");
    MPI_Comm_free(&made);
    before = n == loops / 10 ? shared_kilobytes() : before;
  }
  check(shared_kilobytes() - before < 2 * loops, "shared memory that idups leave", shared_kilobytes() - before);
}

static void test_live(int live) {
  MPI_Comm *made = malloc((size_t)live * sizeof *made);
  for (int n = 0; n < live; n++)
    MPI_Comm_split(MPI_COMM_WORLD, n % 3 ? world_rank % (n % 3) : 0, n % 2 ? world_rank : -world_rank, &made[n]);
  for (int round = 0; round < 2; round++)
    for (int n = 0; n < live; n++)
      check_calls(made[(n * 7) % live], "live");
  for (int n = 0; n < live; n++)
    MPI_Comm_free(&made[n]);
  free(made);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  test_loop(argc > 1 ? atoi(argv[1]) : 10000, argc > 3);
  test_idups(400);
  test_live(argc > 2 ? atoi(argv[2]) : 400);
  return check_finish();
}
