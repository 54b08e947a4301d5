/* tools/bench_worker.c - one rank of tutti under `tutti bench`: the loop of bench/loop.h on the public API.
 *
 * Persistent mode makes one request for each root before the clock runs; a call is then a start and a wait. */
#include "../bench/loop.h"
#include "tools.h"

#include <tutti/tutti.h>

static struct {
  tutti_context *context;
  tutti_comm *comm;
  tutti_request **request; /* persistent mode: one for each root, or one */
  int request_count;
} self;

static int failed(tutti_status status, char *text) {
  snprintf(text, BENCH_TEXT, "%s: %.400s", tutti_status_name(status), tutti_last_error());
  return status == TUTTI_ERR_PLAN ? BENCH_NO_PLAN : BENCH_FAILED;
}

static int result_of(tutti_status status, char *text) {
  return __builtin_expect(status == TUTTI_OK, 1) ? BENCH_OK : failed(status, text);
}

static int worker_open(int32_t *rank, int32_t *size, char *text) {
  tutti_status status = tutti_context_create(NULL, &self.context);
  if (status == TUTTI_OK)
    status = tutti_comm_create(self.context, &self.comm);
  if (status != TUTTI_OK)
    return failed(status, text), BENCH_FAILED;
  *rank = (int32_t)tutti_comm_rank(self.comm);
  *size = (int32_t)tutti_comm_size(self.comm);
  snprintf(text, BENCH_TEXT, "tutti %s", TUTTI_VERSION);
  return BENCH_OK;
}

static void destroy_requests(void) {
  for (int i = 0; i < self.request_count; i++)
    tutti_request_destroy(self.request[i]);
  free(self.request);
  self.request = NULL;
  self.request_count = 0;
}

static const void *broadcast_in(const bench_point *point, int root) { return point->rank == root ? point->in : NULL; }

static void *broadcast_out(const bench_point *point, int root) { return point->rank == root ? point->in : point->out; }

static tutti_status init_request(const bench_point *point, int root, tutti_request **request) {
  switch (point->command->collective) {
  case BENCH_ALLREDUCE:
    return tutti_allreduce_init(point->in, point->out, point->count, TUTTI_FLOAT32, TUTTI_SUM, self.comm, request);
  case BENCH_BROADCAST:
    return tutti_broadcast_init(broadcast_in(point, root), broadcast_out(point, root), point->count, TUTTI_FLOAT32,
                                root, self.comm, request);
  case BENCH_ALLGATHER:
    return tutti_allgather_init(point->in, point->out, point->count, TUTTI_FLOAT32, self.comm, request);
  case BENCH_REDUCE_SCATTER:
    return tutti_reduce_scatter_init(point->in, point->out, point->count, TUTTI_FLOAT32, TUTTI_SUM, self.comm, request);
  default:
    return tutti_barrier_init(self.comm, request);
  }
}

static int init_requests(const bench_point *point, char *text) {
  int count = point->command->collective == BENCH_BROADCAST ? point->size : 1;
  self.request = calloc((size_t)count, sizeof *self.request);
  tutti_status status = self.request ? TUTTI_OK : TUTTI_ERR_MEMORY;
  for (int root = 0; root < count && status == TUTTI_OK; root++)
    if ((status = init_request(point, root, &self.request[root])) == TUTTI_OK)
      self.request_count++;
  return result_of(status, text);
}

static int worker_prepare(const bench_point *point, char *text) {
  static const char *const name[BENCH_COLLECTIVE_COUNT] = {"allreduce", "broadcast", "allgather", "reduce-scatter",
                                                           "barrier"};
  const char *params = point->command->params[0] != '\0' ? point->command->params : NULL;
  tutti_status status = tutti_comm_set_params(self.comm, name[point->command->collective], params);
  destroy_requests();
  if (status != TUTTI_OK || point->command->mode == BENCH_BLOCKING)
    return result_of(status, text);
  return init_requests(point, text);
}

static tutti_status call_persistent(int root) {
  tutti_request **request = &self.request[self.request_count > 1 ? root : 0];
  tutti_status status = tutti_request_start(*request);
  return status == TUTTI_OK ? tutti_wait(request) : status;
}

static tutti_status call_blocking(const bench_point *point, int root) {
  switch (point->command->collective) {
  case BENCH_ALLREDUCE:
    return tutti_allreduce(point->in, point->out, point->count, TUTTI_FLOAT32, TUTTI_SUM, self.comm);
  case BENCH_BROADCAST:
    return tutti_broadcast(broadcast_in(point, root), broadcast_out(point, root), point->count, TUTTI_FLOAT32, root,
                           self.comm);
  case BENCH_ALLGATHER:
    return tutti_allgather(point->in, point->out, point->count, TUTTI_FLOAT32, self.comm);
  case BENCH_REDUCE_SCATTER:
    return tutti_reduce_scatter(point->in, point->out, point->count, TUTTI_FLOAT32, TUTTI_SUM, self.comm);
  default:
    return tutti_barrier(self.comm);
  }
}

static int worker_call(const bench_point *point, int root, char *text) {
  tutti_status status = point->command->mode == BENCH_PERSISTENT ? call_persistent(root) : call_blocking(point, root);
  return result_of(status, text);
}

static int worker_barrier(char *text) { return result_of(tutti_barrier(self.comm), text); }

static void *worker_alloc(size_t bytes) {
  void *memory;
  return tutti_alloc(self.context, bytes, &memory) == TUTTI_OK ? memory : NULL;
}

static void worker_free(void *memory) { tutti_free(self.context, memory); }

static void worker_close(void) {
  destroy_requests();
  tutti_comm_destroy(self.comm);
  tutti_context_destroy(self.context);
}

int tt_tool_bench_worker(int argc, char **argv) {
  static const bench_library library = {.open = worker_open,
                                        .prepare = worker_prepare,
                                        .call = worker_call,
                                        .barrier = worker_barrier,
                                        .alloc = worker_alloc,
                                        .free = worker_free,
                                        .close = worker_close};
  return bench_worker_main(&library, argc, argv);
}
