/* The last rank exits with code 3 in the middle of the job. With an argument, what it has forked keeps that from the
 * launcher for a while, but not from the other ranks, which wait for it in a collective. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
  int rank, ranks, one = 1, sum;
  MPI_Init(&count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == ranks - 1) {
    if (count > 1 && fork() == 0) {
      usleep(300000);
      _exit(0);
    }
    exit(3);
  }
  for (;;)
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
