/* tests/mpi/traps/misuse.c - ranks that call different things: an error that names them, on ranks that are in the call,
 * and never a wrong result. The job ends by MPI_Abort with code 40 where the error was returned, or by MPI itself. */
#include "traps.h"

#include <stdio.h>
#include <stdlib.h>

enum { RETURNED = 40, NO_ERROR = 41 };

void trap_expect_error(int code) {
  if (code == MPI_SUCCESS) /* it had left the call before the others came to it: it gets the error in the next one */
    code = MPI_Barrier(MPI_COMM_WORLD);
  if (code == MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, NO_ERROR);
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  printf("rank %d: %s\n", trap_rank, text);
  fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, RETURNED);
}

static int different_counts_call(void) {
  int in[64] = {0}, out[64];
  return MPI_Allreduce(in, out, trap_rank == 1 ? 7 : 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void different_counts(void) { trap_expect_error(different_counts_call()); }

static void different_roots(void) {
  int words[4] = {0};
  trap_expect_error(MPI_Bcast(words, 4, MPI_INT, trap_rank == 1 ? 1 : 0, MPI_COMM_WORLD));
}

static void different_types(void) {
  float in[4] = {0}, out[4];
  trap_expect_error(MPI_Allreduce(in, out, 4, trap_rank == 1 ? MPI_INT : MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
}

static void different_calls(void) {
  int word = 0, sum;
  trap_expect_error(trap_rank == 1 ? MPI_Barrier(MPI_COMM_WORLD)
                                   : MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void different_nonblocking_calls(void) {
  int in[64] = {0}, out[64];
  MPI_Request request;
  int code = MPI_Iallreduce(in, out, trap_rank == 1 ? 7 : 5, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  trap_expect_error(code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code);
}

static void different_counts_are_fatal(void) { different_counts_call(); }

static void wrong_root_is_fatal(void) {
  int word = 0;
  MPI_Bcast(&word, 1, MPI_INT, 99, MPI_COMM_WORLD);
}

const trap trap_misuse[] = {
    {"different_counts", 3, TRAP_MISUSE, different_counts},
    {"different_roots", 3, TRAP_MISUSE, different_roots},
    {"different_types", 3, TRAP_MISUSE, different_types},
    {"different_calls", 3, TRAP_MISUSE, different_calls},
    {"different_nonblocking_calls", 3, TRAP_MISUSE, different_nonblocking_calls},
    {"different_counts_are_fatal", 3, TRAP_FATAL, different_counts_are_fatal},
    {"wrong_root_is_fatal", 2, TRAP_FAILS, wrong_root_is_fatal},
    {0},
};
