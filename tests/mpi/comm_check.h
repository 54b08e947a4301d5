/* tests/mpi/comm_check.h - checks that count failures, and a few calls on any communicator. */
#ifndef COMM_CHECK_H
#define COMM_CHECK_H

#include <mpi.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;

static inline void check(bool right, const char *what, int64_t value) {
  int rank;
  if (right)
    return;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d: %s: wrong: %" PRId64 "\n", rank, what, value);
  failures++;
}

/* Sum, order of ranks, and root. */
static inline void check_calls(MPI_Comm comm, const char *what) {
  int rank, size;
  if (comm == MPI_COMM_NULL)
    return;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int64_t mine = rank + 1, sum = 0, from = rank == size - 1 ? 77 + size : 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm);
  check(sum == (int64_t)size * (size + 1) / 2, what, sum);
  int64_t *all = malloc((size_t)size * sizeof *all);
  MPI_Allgather(&mine, 1, MPI_INT64_T, all, 1, MPI_INT64_T, comm);
  for (int r = 0; r < size; r++)
    check(all[r] == r + 1, what, all[r]);
  free(all);
  MPI_Bcast(&from, 1, MPI_INT64_T, size - 1, comm);
  check(from == 77 + size, what, from);
}

/* MPI_Finalize, and what main returns: 0 where no rank has a failure. */
static inline int check_finish(void) {
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all > 0;
}

#endif
