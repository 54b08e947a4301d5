/* tests/mpi/sanitizer.c - sums into memory of the heap: sanitizer [ELEMENTS OF ROOM FOR 4]. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int room = argc > 1 ? atoi(argv[1]) : 4, rank, in[4] = {1, 2, 3, 4}, *out = malloc((size_t)room * sizeof *out);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; i++)
    MPI_Allreduce(in, out, room, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("the last is %d\n", out[3]);
  free(out);
  MPI_Finalize();
  return 0;
}
