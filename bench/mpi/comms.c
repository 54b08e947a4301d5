/* bench/mpi/comms.c - what short communicators cost an MPI program, in us, medians of rank 0: a split, 8 bytes and the
 * end; and calls of 8 bytes by their number on a communicator. scripts/bench_comms.py runs it with tutti and without.
 *
 *     comms-openmpi [COUNT]    medians of COUNT communicators, default 300 */
#include "../stats.h"

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 300, COUNT_MOST = 100000, CALLS = 40 };

static int rank;

static double now(void) { return MPI_Wtime() * 1e6; }

static void print(const char *name, double *took, int count) {
  double median = bench_median(took, count);
  if (rank == 0)
    printf("%s %.2f\n", name, median);
}

static MPI_Comm split(void) {
  MPI_Comm made;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &made);
  return made;
}

static void use(MPI_Comm comm) {
  double in = 1, out;
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, comm);
}

static double use_timed(MPI_Comm comm) {
  double began = now();
  use(comm);
  return now() - began;
}

static void measure_life(double *took, int count) {
  for (int n = 0; n < count; n++) {
    double began = now();
    MPI_Comm made = split();
    use(made);
    MPI_Comm_free(&made);
    took[n] = now() - began;
  }
  print("life", took, count);
}

/* took: of each number, and then of the mean of the last half of a communicator's. */
static void measure_calls(double *took, int count) {
  for (int n = 0; n < count; n++) {
    MPI_Comm made = split();
    double *later = &took[CALLS * count + n];
    *later = 0;
    for (int call = 0; call < CALLS; call++) {
      double spent = use_timed(made);
      took[call * count + n] = spent;
      *later += call >= CALLS / 2 ? spent / (CALLS - CALLS / 2) : 0;
    }
    MPI_Comm_free(&made);
  }
  for (int call = 0; call < 8; call++) {
    char name[32];
    snprintf(name, sizeof name, "call-%d", call + 1);
    print(name, took + call * count, count);
  }
  print("later-calls", took + CALLS * count, count);
}

int main(int argc, char **argv) {
  int count = argc > 1 ? atoi(argv[1]) : COUNT;
  if (count < 1 || count > COUNT_MOST) {
    fprintf(stderr, "comms: COUNT '%s': 1 to %d\n", argv[1], COUNT_MOST);
    return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double *took = malloc((size_t)count * (CALLS + 1) * sizeof *took);
  if (!took)
    MPI_Abort(MPI_COMM_WORLD, 1);
  measure_life(took, count < 20 ? count : count / 10); /* what comes with the first ones only */
  measure_life(took, count);
  measure_calls(took, count);
  free(took);
  MPI_Finalize();
  return 0;
}
