/* tests/mpi/stats_queue.c - ten times, allreduces of 1 MB and 4 bytes and a broadcast of 4 bytes, the last a blocking
 * one, all of them outstanding at once. With an argument each is waited for before the next one is called. */
#include <mpi.h>

#include <stdbool.h>
#include <stdlib.h>

enum { LONG = 1 << 18 };

int main(int argc, char **argv) {
  bool apart = argc > 1;
  int *in = calloc(LONG, sizeof *in), *out = calloc(LONG, sizeof *out), word = 1, sum, other = 2, root_word = 3;
  MPI_Request requests[3];
  MPI_Init(&argc, &argv);
  for (int n = 0; n < 10; n++) {
    MPI_Iallreduce(in, out, LONG, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    if (apart)
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Ibcast(&root_word, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    if (apart)
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Iallreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
    if (apart)
      MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Bcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  }
  free(in);
  free(out);
  return MPI_Finalize();
}
