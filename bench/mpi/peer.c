/* bench/mpi/peer.c - the worker of `tutti bench --against openmpi,mpich`: the loop of bench/loop.h on MPI.
 *
 * One source, compiled by each MPI's own wrapper compiler into libexec/tutti/peer-openmpi and peer-mpich, so tutti
 * itself links with neither. */
#include "../loop.h"

#include <mpi.h>

#ifdef MPICH
#include "yield.h"
#endif

static int failed(int code, const char *what, char *text) {
  char reason[MPI_MAX_ERROR_STRING] = "?";
  int length = 0;
  MPI_Error_string(code, reason, &length);
  snprintf(text, BENCH_TEXT, "%s: %.400s", what, reason);
  return BENCH_FAILED;
}

static int peer_open(int32_t *rank, int32_t *size, char *text) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  char number[64];
  int length = 0;
  int code = MPI_Init(NULL, NULL);
  if (code != MPI_SUCCESS)
    return failed(code, "MPI_Init", text);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  MPI_Get_library_version(version, &length);
  if (sscanf(version, "MPICH Version: %63s", number) == 1)
    snprintf(text, BENCH_TEXT, "MPICH %s", number);
  else
    snprintf(text, BENCH_TEXT, "%.*s", (int)strcspn(version, ",\n"), version);
  return BENCH_OK;
}

static int peer_prepare(const bench_point *point, char *text) {
  if (point->count <= INT32_MAX)
    return BENCH_OK;
  snprintf(text, BENCH_TEXT, "MPI counts end at 2147483647 elements");
  return BENCH_FAILED;
}

static int peer_call(const bench_point *point, int root, char *text) {
  int count = (int)point->count;
  int code = MPI_SUCCESS;
  switch (point->command->collective) {
  case BENCH_ALLREDUCE:
    code = MPI_Allreduce(point->in, point->out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    break;
  case BENCH_BROADCAST:
    code = MPI_Bcast(point->rank == root ? point->in : point->out, count, MPI_FLOAT, root, MPI_COMM_WORLD);
    break;
  case BENCH_ALLGATHER:
    code = MPI_Allgather(point->in, count, MPI_FLOAT, point->out, count, MPI_FLOAT, MPI_COMM_WORLD);
    break;
  case BENCH_REDUCE_SCATTER:
    code = MPI_Reduce_scatter_block(point->in, point->out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    break;
  default:
    code = MPI_Barrier(MPI_COMM_WORLD);
  }
  return code == MPI_SUCCESS ? BENCH_OK : failed(code, "the collective", text);
}

static int peer_barrier(char *text) {
  int code = MPI_Barrier(MPI_COMM_WORLD);
  return code == MPI_SUCCESS ? BENCH_OK : failed(code, "MPI_Barrier", text);
}

static void peer_close(void) { MPI_Finalize(); }

int main(int argc, char **argv) {
  static const bench_library library = {
      .open = peer_open, .prepare = peer_prepare, .call = peer_call, .barrier = peer_barrier, .close = peer_close};
  return bench_worker_main(&library, argc, argv);
}
