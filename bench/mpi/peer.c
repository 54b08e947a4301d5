/* bench/mpi/peer.c - the worker of `tutti bench --against openmpi,mpich`: the loop of bench/loop.h on MPI.
 *
 * One source, compiled by each MPI's own wrapper compiler into libexec/tutti/peer-openmpi and peer-mpich, so tutti
 * itself links with neither. Every call is a row of calls.inc, blocking or not. */
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

static bool has(int32_t collective) {
#define PEER_CALL(collective, ...) [TT_##collective] = true,
  static const bool calls[TT_COLLECTIVE_COUNT] = {
#include "calls.inc"
  };
  return calls[collective];
}

static int choose_arithmetic(const bench_command *command, char *text) {
  if (!has(command->collective))
    return lacks("has no such collective", text);
  self.type = peer_type((tutti_type)command->type);
  self.op = peer_op((tutti_op)command->op);
  if (self.type == MPI_DATATYPE_NULL)
    return lacks("has no such type", text);
  if (!bench_form_of(command->collective).sums)
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
  if (result == BENCH_OK && bench_form_of(point->command->collective).neighbor)
    result = make_grid(point, text);
  if (result == BENCH_OK && !peer_arrays_init(point, self.type, &self.arrays))
    return snprintf(text, BENCH_TEXT, "MPI counts end at 2147483647"), BENCH_FAILED;
  return result;
}

static void peer_release(void) { peer_arrays_finish(&self.arrays); }

/* ---- calls ---- */

#define PEER_CALL(collective, blocking, nonblocking, ...)                                                              \
  case TT_##collective:                                                                                                \
    return request ? nonblocking(__VA_ARGS__, request) : blocking(__VA_ARGS__);

static int issue(const bench_point *point, int root, MPI_Request *request) {
  const peer_arrays *a = &self.arrays;
  const void *in = point->in;
  void *out = point->out, *both = point->rank == root ? point->in : point->out;
  MPI_Datatype type = self.type;
  MPI_Op op = self.op;
  MPI_Comm world = MPI_COMM_WORLD, grid = self.grid;
  switch (point->command->collective) {
#include "calls.inc"
  default:
    return MPI_ERR_UNKNOWN;
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

/* The MPI's own, also where tutti stands in front of it: what ranks leave it with is the same for both. */
static int peer_barrier(char *text) { return result_of(PMPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier", text); }

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
