/* tests/mpi/request_sum.h - what the programs about requests share: checks, and a reduction whose result is known.
 *
 * The programs are legal MPI and know nothing of tutti: they pass without it, too. */
#ifndef REQUEST_SUM_H
#define REQUEST_SUM_H

#include "persistent.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: rank %d: not so: %s\n", __FILE__, __LINE__, rank, #condition);                           \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                                    \
    }                                                                                                                  \
  } while (0)

/* A sum over the ranks of a communicator, long enough for many steps or of one element. */
typedef struct sum {
  double *in, *out;
  int count;
  MPI_Comm comm;
  MPI_Request request;
} sum;

static sum sum_create(int count, MPI_Comm comm) {
  size_t bytes = (size_t)count * sizeof(double) + 1;
  return (sum){.in = malloc(bytes), .out = malloc(bytes), .count = count, .comm = comm, .request = MPI_REQUEST_NULL};
}

static void sum_fill(sum *sum, int salt) {
  int mine;
  MPI_Comm_rank(sum->comm, &mine);
  for (int n = 0; n < sum->count; n++) {
    sum->in[n] = mine + (n + salt) % 1000;
    sum->out[n] = -1;
  }
}

/* MPI_Iallreduce */
static void sum_start(sum *sum, int salt) {
  sum_fill(sum, salt);
  MPI_Iallreduce(sum->in, sum->out, sum->count, MPI_DOUBLE, MPI_SUM, sum->comm, &sum->request);
}

static void sum_check(const sum *sum, int salt) {
  int ranks;
  MPI_Comm_size(sum->comm, &ranks);
  for (int n = 0; n < sum->count; n++)
    CHECK(sum->out[n] == ranks * (ranks - 1) / 2 + ranks * ((n + salt) % 1000));
}

static void sum_destroy(sum *sum) {
  free(sum->in);
  free(sum->out);
}

#endif
