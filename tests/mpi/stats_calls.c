/* tests/mpi/stats_calls.c - a known number of calls: 100 allreduces of a long, 50 broadcasts of 4 bytes, 25 barriers,
 * and 10 Iallreduces of 3 ints; half of the last 20 broadcasts are on a communicator between two groups. */
#include <mpi.h>

#include <stddef.h>

static void call_between(int rank, int size) {
  MPI_Comm half, across;
  int upper = rank >= size / 2, value = 0;
  MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 3, &across);
  for (int n = 0; n < 10; n++)
    MPI_Bcast(&value, 1, MPI_INT, upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, across);
  MPI_Comm_free(&half);
  MPI_Comm_free(&across);
}

int main(int argc, char **argv) {
  int rank, size, some[4] = {0}, sums[3];
  long value = 1, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int n = 0; n < 100; n++)
    MPI_Allreduce(&value, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  for (int n = 0; n < 40; n++)
    MPI_Bcast(&some[3], 1, MPI_INT, n % size, MPI_COMM_WORLD);
  for (int n = 0; n < 25; n++)
    MPI_Barrier(MPI_COMM_WORLD);
  for (int n = 0; n < 10; n++) {
    MPI_Request request;
    MPI_Iallreduce(some, sums, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  call_between(rank, size);
  return MPI_Finalize();
}
