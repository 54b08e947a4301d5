/* tests/cluster/misuse.c - ranks of different nodes call different things: all of them get an error that names ranks
 * and their calls, from the call or from one of the next, and other communicators go on.
 *
 * The last rank is the odd one. In some cases it gets data from the others or they from it; in others nobody gets
 * anything that he waits for, so that ranks have to ask. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DOUBLES = 20000, CALLS = 3 };

static double in[DOUBLES], out[DOUBLES];
static int rank, size;

static int call_counts(MPI_Comm comm, bool odd) {
  return MPI_Allreduce(in, out, odd ? 11 : 10, MPI_DOUBLE, MPI_SUM, comm);
}

static int call_long(MPI_Comm comm, bool odd) {
  return MPI_Allreduce(in, out, odd ? DOUBLES : DOUBLES - 1, MPI_DOUBLE, MPI_SUM, comm);
}

static int call_roots(MPI_Comm comm, bool odd) { return MPI_Bcast(out, 5, MPI_INT, odd ? size - 1 : 0, comm); }

static int call_types(MPI_Comm comm, bool odd) {
  return MPI_Allreduce(in, out, 7, odd ? MPI_INT : MPI_FLOAT, MPI_MAX, comm);
}

static int call_moved_types(MPI_Comm comm, bool odd) { return MPI_Bcast(out, 100, odd ? MPI_INT : MPI_FLOAT, 0, comm); }

static int call_others(MPI_Comm comm, bool odd) {
  return odd ? MPI_Scan(in, out, 5, MPI_INT, MPI_MAX, comm) : MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, size - 1, comm);
}

static int call_later(MPI_Comm comm, bool odd) {
  MPI_Request request;
  int error = odd ? MPI_Ibcast(out, 3, MPI_INT, 1, comm, &request)
                  : MPI_Iallreduce(in, out, 3, MPI_INT, MPI_SUM, comm, &request);
  return error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct misuse {
  int (*call)(MPI_Comm comm, bool odd);
  const char *odd, *other; /* of the calls, as the error names them */
} cases[] = {
    {call_counts, "allreduce(count 11", "allreduce(count 10"},
    {call_long, "allreduce(count 20000", "allreduce(count 19999"},
    {call_roots, "root 7", "root 0"},
    {call_types, "int32, max", "float32, max"},
    {call_moved_types, "broadcast(count 100, int32", "broadcast(count 100, float32"},
    {call_others, "scan(count 5", "reduce(count 4"},
    {call_later, "broadcast(count 3, int32", "allreduce(count 3"},
};

static bool is_right(const struct misuse *of) {
  char text[MPI_MAX_ERROR_STRING] = "no error", name[32];
  MPI_Comm comm, next;
  int length, error;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &next);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  error = of->call(comm, rank == size - 1);
  for (int n = 0; !error && n < CALLS; n++) /* who waited for nobody learns it later */
    error = MPI_Barrier(comm);
  if (error)
    MPI_Error_string(error, text, &length);
  snprintf(name, sizeof name, "rank %d called", size - 1);
  bool right = error && strstr(text, name) && strstr(text, of->odd) && strstr(text, of->other);
  if (!right)
    fprintf(stderr, "rank %d, expected '%s', '%s' and '%s': %s\n", rank, name, of->odd, of->other, text);
  MPI_Barrier(next);
  MPI_Comm_free(&next);
  MPI_Comm_free(&comm);
  return right;
}

int main(int argc, char **argv) {
  bool right = true;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++)
    right = is_right(&cases[n]) && right;
  MPI_Finalize();
  return !right;
}
