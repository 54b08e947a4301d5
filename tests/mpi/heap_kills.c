/* A rank is killed while others read its memory, by large allreduces and broadcasts. argv[1]: seed. */
#include "../support/die.h"

#include <mpi.h>

#include <stdlib.h>

enum { COUNT = 1 << 19, KEPT_NS = 20000000, RANDOM_NS = 60000000 };

int main(int argc, char **argv) {
  int rank, size;
  float *in = calloc(COUNT, sizeof *in), *out = calloc(COUNT, sizeof *out);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  srand(argc > 1 ? (unsigned)atoi(argv[1]) : 1);
  int victim = rand() % size;
  for (int call = 0;; call++) {
    if (call == 4 && rank == victim)
      die_in(KEPT_NS + rand() % RANDOM_NS);
    MPI_Allreduce(in, out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(in, COUNT, MPI_FLOAT, victim, MPI_COMM_WORLD);
  }
}
