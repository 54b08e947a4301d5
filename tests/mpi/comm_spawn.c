/* tests/mpi/comm_spawn.c - processes that join later, and communicators over several jobs: they pass through, each
 * job's own go on.
 *
 * Without an argument it is the parent, and starts as many children of itself as there are ranks. */
#include "comm_check.h"

static void test_across(MPI_Comm across, bool child) {
  MPI_Comm merged, again, remote;
  int mine = child ? 2 : 1, sum = 0, size, others;
  check_calls(MPI_COMM_WORLD, "world");
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_remote_size(across, &others);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, across); /* of the other side */
  check(sum == (3 - mine) * others, "between jobs", sum);
  MPI_Intercomm_merge(across, child, &merged);
  check_calls(merged, "merged");
  MPI_Comm_dup(merged, &again);
  check_calls(again, "dup of merged");
  MPI_Comm_dup(across, &remote);
  MPI_Barrier(remote);
  MPI_Comm_free(&remote);
  int rank;
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_free(&merged);
  MPI_Comm_split(again, child, rank, &merged);
  check_calls(merged, "own part of merged");
  MPI_Comm_free(&merged);
  MPI_Comm_free(&again);
  check_calls(MPI_COMM_WORLD, "world again");
}

int main(int argc, char **argv) {
  MPI_Comm across;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&across);
  bool child = across != MPI_COMM_NULL;
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!child)
    MPI_Comm_spawn(argv[0], (char *[]){"child", NULL}, size, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &across,
                   MPI_ERRCODES_IGNORE);
  test_across(across, child);
  MPI_Comm_disconnect(&across);
  return check_finish();
}
