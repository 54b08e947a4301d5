/* tests/packages/sum.c - an MPI program like any other: what the packages' libraries for MPI programs are tried with.
 */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
  int rank, size, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int call = 0; call < 100; call++)
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("the sum of %d ranks is %d\n", size, sum);
  MPI_Finalize();
  return 0;
}
