/* bench/mpi/peer.c - the worker of `tutti bench --against openmpi,mpich`: the loop of bench/loop.h on MPI.
 *
 * One source, compiled by each MPI's own wrapper compiler into libexec/tutti/peer-openmpi and peer-mpich, so tutti
 * itself links with neither. Every call is a row of the switch in `issue`, blocking or not. */
#include "../worker.h"

#include <mpi.h>

#include "arrays.inc"
#include "names.inc"

#ifdef MPICH
#include "yield.h"
#endif

static struct {
  MPI_Datatype type;
  MPI_Op op;
  MPI_Comm grid; /* neighbors; made at the first point that needs them */
  MPI_Request request;
  peer_arrays arrays;
} self = {.grid = MPI_COMM_NULL, .request = MPI_REQUEST_NULL};

static int failed(int code, const char *what, char *text) {
  char reason[MPI_MAX_ERROR_STRING] = "?";
  int length = 0;
  MPI_Error_string(code, reason, &length);
  snprintf(text, BENCH_TEXT, "%s: %.400s", what, reason);
  return BENCH_FAILED;
}

static int result_of(int code, const char *what, char *text) {
  return __builtin_expect(code == MPI_SUCCESS, 1) ? BENCH_OK : failed(code, what, text);
}

static int peer_open(int32_t *rank, int32_t *size, char *text) {
  static char version[MPI_MAX_LIBRARY_VERSION_STRING];
  char number[64];
  int length = 0;
  int code = MPI_Init(NULL, NULL);
  if (code != MPI_SUCCESS)
    return failed(code, "MPI_Init", text);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  MPI_Get_library_version(version, &length);
  if (sscanf(version, "MPICH Version: %63s", number) == 1)
    snprintf(text, BENCH_TEXT, "MPICH %s", number);
  else
    snprintf(text, BENCH_TEXT, "%.*s", (int)strcspn(version, ",\n"), version);
  return BENCH_OK;
}

/* ---- a point ---- */

static int lacks(const char *what, char *text) {
  snprintf(text, BENCH_TEXT, "%s", what);
  return BENCH_LACKS;
}

/* Whether MPI combines elements of that type so: tried on one of them. */
static bool combines(void) {
  static char left[BENCH_ELEMENT_MOST], right[BENCH_ELEMENT_MOST];
  return MPI_Reduce_local(left, right, 1, self.type, self.op) == MPI_SUCCESS;
}

static int choose_arithmetic(const bench_command *command, char *text) {
  self.type = peer_type((tutti_type)command->type);
  self.op = peer_op((tutti_op)command->op);
  if (self.type == MPI_DATATYPE_NULL)
    return lacks("has no such type", text);
  if (bench_forms[command->collective].sum == BENCH_NO_SUM)
    return BENCH_OK;
  if (self.op == MPI_OP_NULL)
    return lacks("has no such operator", text);
  return combines() ? BENCH_OK : lacks("does not combine this type with this operator", text);
}

static int make_grid(const bench_point *point, char *text) {
  static const int weight[4] = {1, 1, 1, 1};
  int32_t neighbor[4];
  int count = bench_neighbors(point->size, point->rank, neighbor);
  if (self.grid != MPI_COMM_NULL)
    return BENCH_OK;
  int code = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, neighbor, weight, count, neighbor, weight,
                                            MPI_INFO_NULL, 0, &self.grid);
  return result_of(code, "MPI_Dist_graph_create_adjacent", text);
}

static int peer_prepare(const bench_point *point, char *text) {
  int result = choose_arithmetic(point->command, text);
  if (result == BENCH_OK && bench_forms[point->command->collective].neighbor)
    result = make_grid(point, text);
  if (result == BENCH_OK && !peer_arrays_init(point, self.type, &self.arrays))
    return snprintf(text, BENCH_TEXT, "MPI counts end at 2147483647"), BENCH_FAILED;
  return result;
}

static void peer_release(void) { peer_arrays_finish(&self.arrays); }

/* ---- calls ---- */

#define CALL(blocking, nonblocking, ...) return request ? nonblocking(__VA_ARGS__, request) : blocking(__VA_ARGS__)

static int issue(const bench_point *point, int root, MPI_Request *request) {
  const peer_arrays *a = &self.arrays;
  const void *in = point->in;
  void *out = point->out, *both = point->rank == root ? point->in : point->out;
  MPI_Datatype type = self.type;
  MPI_Op op = self.op;
  MPI_Comm world = MPI_COMM_WORLD, grid = self.grid;
  switch (point->command->collective) {
  case TT_ALLREDUCE:
    CALL(MPI_Allreduce, MPI_Iallreduce, in, out, a->count, type, op, world);
  case TT_BROADCAST:
    CALL(MPI_Bcast, MPI_Ibcast, both, a->count, type, root, world);
  case TT_ALLGATHER:
    CALL(MPI_Allgather, MPI_Iallgather, in, a->count, type, out, a->count, type, world);
  case TT_REDUCE_SCATTER:
    CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, a->count, type, op, world);
  case TT_REDUCE:
    CALL(MPI_Reduce, MPI_Ireduce, in, out, a->count, type, op, root, world);
  case TT_GATHER:
    CALL(MPI_Gather, MPI_Igather, in, a->count, type, out, a->count, type, root, world);
  case TT_SCATTER:
    CALL(MPI_Scatter, MPI_Iscatter, in, a->count, type, out, a->count, type, root, world);
  case TT_ALL_TO_ALL:
    CALL(MPI_Alltoall, MPI_Ialltoall, in, a->count, type, out, a->count, type, world);
  case TT_SCAN:
    CALL(MPI_Scan, MPI_Iscan, in, out, a->count, type, op, world);
  case TT_EXSCAN:
    CALL(MPI_Exscan, MPI_Iexscan, in, out, a->count, type, op, world);
  case TT_ALLGATHERV:
    CALL(MPI_Allgatherv, MPI_Iallgatherv, in, a->in_all, type, out, a->out_count, a->out_at, type, world);
  case TT_REDUCE_SCATTERV:
    CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, a->in_count, type, op, world);
  case TT_GATHERV:
    CALL(MPI_Gatherv, MPI_Igatherv, in, a->in_all, type, out, a->out_count, a->out_at, type, root, world);
  case TT_SCATTERV:
    CALL(MPI_Scatterv, MPI_Iscatterv, in, a->in_count, a->in_at, type, out, a->out_all, type, root, world);
  case TT_ALL_TO_ALLV:
    CALL(MPI_Alltoallv, MPI_Ialltoallv, in, a->in_count, a->in_at, type, out, a->out_count, a->out_at, type, world);
  case TT_ALL_TO_ALLW:
    CALL(MPI_Alltoallw, MPI_Ialltoallw, in, a->in_count, a->in_at, a->in_type, out, a->out_count, a->out_at,
         a->out_type, world);
  case TT_NEIGHBOR_ALLGATHER:
    CALL(MPI_Neighbor_allgather, MPI_Ineighbor_allgather, in, a->count, type, out, a->count, type, grid);
  case TT_NEIGHBOR_ALLGATHERV:
    CALL(MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, in, a->in_all, type, out, a->out_count, a->out_at, type,
         grid);
  case TT_NEIGHBOR_ALL_TO_ALL:
    CALL(MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, in, a->count, type, out, a->count, type, grid);
  case TT_NEIGHBOR_ALL_TO_ALLV:
    CALL(MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, in, a->in_count, a->in_at, type, out, a->out_count, a->out_at,
         type, grid);
  case TT_NEIGHBOR_ALL_TO_ALLW:
    CALL(MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, in, a->in_count, a->in_bytes, a->in_type, out, a->out_count,
         a->out_bytes, a->out_type, grid);
  default:
    return request ? MPI_Ibarrier(world, request) : MPI_Barrier(world);
  }
}

static int peer_call(const bench_point *point, int root, char *text) {
  return result_of(issue(point, root, NULL), "the collective", text);
}

static int peer_post(const bench_point *point, int root, char *text) {
  return result_of(issue(point, root, &self.request), "the non-blocking collective", text);
}

static int peer_test(char *text) {
  int done;
  return result_of(MPI_Test(&self.request, &done, MPI_STATUS_IGNORE), "MPI_Test", text);
}

static int peer_wait(char *text) { return result_of(MPI_Wait(&self.request, MPI_STATUS_IGNORE), "MPI_Wait", text); }

static int peer_barrier(char *text) { return result_of(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier", text); }

static int peer_gather(const void *mine, void *all, size_t bytes, char *text) {
  int count = (int)bytes;
  return result_of(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD), "MPI_Allgather", text);
}

static void peer_close(void) {
  if (self.grid != MPI_COMM_NULL)
    MPI_Comm_free(&self.grid);
  MPI_Finalize();
}

int main(int argc, char **argv) {
  static const bench_library library = {.open = peer_open,
                                        .prepare = peer_prepare,
                                        .call = peer_call,
                                        .post = peer_post,
                                        .test = peer_test,
                                        .wait = peer_wait,
                                        .barrier = peer_barrier,
                                        .release = peer_release,
                                        .close = peer_close,
                                        .gather = peer_gather};
  return bench_worker_main(&library, argc, argv);
}
