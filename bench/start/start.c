/* bench/start/start.c - what scripts/bench_start.py runs under an MPI, with tutti and without; rank 0 prints
 * microseconds.
 *
 *     start            MPI_Init, an allreduce of 8 bytes, MPI_Finalize
 *     start shell N    one of N times system("true")
 */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double shells_us(int count) {
  double began_us = now_us();
  for (int n = 0; n < count; n++)
    if (system("true") != 0)
      exit(1);
  return (now_us() - began_us) / count;
}

int main(int argc, char **argv) {
  double one = 1, sum = 0, began_us = now_us(), us = 0;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (argc > 2 && rank == 0)
    us = shells_us(atoi(argv[2]));
  MPI_Finalize();
  if (rank == 0)
    printf("%.1f\n", argc > 2 ? us : now_us() - began_us);
  return (int)sum != ranks;
}
