/* tools/bench/own.c - one rank of tutti under `tutti bench`: the loop of bench/loop.h on the public API.
 *
 * Calls are those of bench/invoke.h, in their three forms. Persistent mode makes one request for each root
 * before the clock runs; a call is then a start and a wait. */
#include "own.h"

#include "api/api.h"
#include "base/base.h"
#include "bench/invoke.h"
#include "call/call.h"
#include "tools/tune/task.h"
#include "topo/nics/nics.h"
#include "topo/topo.h"

#include <tutti/tutti.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the w forms: a type for each block, counts of it, offsets in bytes. */
typedef struct typed_blocks {
  int64_t *in_count, *in_offset, *out_count, *out_offset;
  tutti_type *in_type, *out_type;
} typed_blocks;

static struct {
  tutti_context *context;
  tutti_comm *comm;
  tutti_comm *words;  /* for what ranks tell each other: parameters are set on the other one */
  tutti_graph *graph; /* neighbors; made at the first point that needs them */
  bench_arguments call;
  bool root_keeps;         /* the root's `in` is its `out`, the others have none */
  tutti_request **request; /* persistent mode: one for each root, or one */
  int request_count;
  tutti_request *posted; /* the outstanding non-blocking call */
  typed_blocks typed;
  tt_spent spent; /* since it was asked for last */
} self;

static int failed(tutti_status status, char *text) {
  if (status == TUTTI_ERR_PLAN)
    return snprintf(text, BENCH_TEXT, "%.500s", tutti_last_error()), BENCH_NO_PLAN;
  snprintf(text, BENCH_TEXT, "%s: %.400s", tutti_status_name(status), tutti_last_error());
  return BENCH_FAILED;
}

static int result_of(tutti_status status, char *text) {
  return __builtin_expect(status == TUTTI_OK, 1) ? BENCH_OK : failed(status, text);
}

static int worker_open(int32_t *rank, int32_t *size, char *text) {
  tutti_status status = tutti_context_create(NULL, &self.context);
  if (status == TUTTI_OK)
    status = tutti_comm_create(self.context, &self.comm);
  if (status == TUTTI_OK)
    status = tutti_comm_create(self.context, &self.words);
  if (status != TUTTI_OK)
    return failed(status, text), BENCH_FAILED;
  *rank = (int32_t)tutti_comm_rank(self.comm);
  *size = (int32_t)tutti_comm_size(self.comm);
  snprintf(text, BENCH_TEXT, "tutti %s", TUTTI_VERSION);
  return BENCH_OK;
}

/* ---- calls ---- */

static tutti_status issue(const bench_point *point, int root, bench_way way, tutti_request **request) {
  self.call.root = root;
  if (self.root_keeps) {
    self.call.in = point->rank == root ? point->in : NULL;
    self.call.out = point->rank == root ? point->in : point->out;
  }
  return bench_invoke(point->command->collective, way, &self.call, request);
}

static tutti_status call_persistent(int root) {
  tutti_request **request = &self.request[self.request_count > 1 ? root : 0];
  tutti_status status = tutti_request_start(*request);
  return status == TUTTI_OK ? tutti_wait(request) : status;
}

static int worker_call(const bench_point *point, int root, char *text) {
  bool persistent = point->command->mode == BENCH_PERSISTENT;
  return result_of(persistent ? call_persistent(root) : issue(point, root, BENCH_NOW, NULL), text);
}

static int worker_post(const bench_point *point, int root, char *text) {
  return result_of(issue(point, root, BENCH_START, &self.posted), text);
}

static int worker_test(char *text) {
  int done;
  return result_of(tutti_test(&self.posted, &done), text);
}

static int worker_wait(char *text) { return result_of(tutti_wait(&self.posted), text); }

static int worker_barrier(char *text) { return result_of(tutti_barrier(self.comm), text); }

/* ---- a point ---- */

static void worker_release(void) {
  for (int i = 0; i < self.request_count; i++)
    tutti_request_destroy(self.request[i]);
  free(self.request);
  free(self.typed.in_count);
  free(self.typed.in_type);
  self.request = NULL;
  self.request_count = 0;
  self.typed = (typed_blocks){0};
}

static tutti_status init_requests(const bench_point *point) {
  const bench_form form = bench_form_of(point->command->collective);
  int count = form.from_root || form.to_root ? point->size : 1;
  self.request = calloc((size_t)count, sizeof *self.request);
  tutti_status status = self.request ? TUTTI_OK : TUTTI_ERR_MEMORY;
  for (int root = 0; root < count && status == TUTTI_OK; root++)
    if ((status = issue(point, root, BENCH_INIT, &self.request[root])) == TUTTI_OK)
      self.request_count++;
  return status;
}

static tutti_status make_graph(const bench_point *point) {
  int32_t neighbor[4];
  int64_t rank[4];
  int32_t count = bench_neighbors(point->size, point->rank, neighbor);
  for (int32_t n = 0; n < count; n++)
    rank[n] = neighbor[n];
  return tutti_graph_create(self.comm, count, rank, count, rank, &self.graph);
}

static tutti_status make_typed(const bench_point *point) {
  const bench_layout *layout = &point->layout;
  size_t peers = (size_t)layout->peers;
  int64_t bytes = (int64_t)point->element_bytes, *table = calloc(4 * peers, sizeof *table);
  tutti_type *types = calloc(2 * peers, sizeof *types);
  self.typed = (typed_blocks){table, table + peers, table + 2 * peers, table + 3 * peers, types, types + peers};
  if (!table || !types)
    return TUTTI_ERR_MEMORY;
  for (int32_t n = 0; n < layout->peers; n++) {
    bool raw = bench_block_of_bytes(point->rank, bench_peer(&point->problem, point->rank, n));
    self.typed.in_type[n] = self.typed.out_type[n] = raw ? TUTTI_BYTE : (tutti_type)point->command->type;
    self.typed.in_count[n] = layout->in_count[n] * (raw ? bytes : 1);
    self.typed.out_count[n] = layout->out_count[n] * (raw ? bytes : 1);
    self.typed.in_offset[n] = layout->in_offset[n] * bytes;
    self.typed.out_offset[n] = layout->out_offset[n] * bytes;
  }
  return TUTTI_OK;
}

/* All but what the root's turn decides. */
static void set_arguments(const bench_point *point) {
  const bench_form form = bench_form_of(point->command->collective);
  const bench_layout *l = &point->layout;
  const typed_blocks *w = &self.typed;
  self.root_keeps = form.from_root && form.cut == BENCH_WHOLE;
  self.call = (bench_arguments){.in = point->in,
                                .out = point->out,
                                .count = l->count,
                                .in_count = l->in_elements,
                                .out_count = l->out_elements,
                                .in_counts = form.typed ? w->in_count : l->in_count,
                                .in_offsets = form.typed ? w->in_offset : l->in_offset,
                                .out_counts = form.typed ? w->out_count : l->out_count,
                                .out_offsets = form.typed ? w->out_offset : l->out_offset,
                                .in_types = w->in_type,
                                .out_types = w->out_type,
                                .type = (tutti_type)point->command->type,
                                .op = (tutti_op)point->command->op,
                                .comm = self.comm,
                                .graph = self.graph};
}

static int worker_prepare(const bench_point *point, char *text) {
  const bench_form form = bench_form_of(point->command->collective);
  const char *params = point->command->params[0] != '\0' ? point->command->params : NULL;
  const char *name = tt_compose_info((tt_collective)point->command->collective).name;
  tutti_status status = tutti_comm_set_params(self.comm, name, params);
  if (status == TUTTI_OK && form.neighbor && !self.graph)
    status = make_graph(point);
  if (status == TUTTI_OK && form.typed)
    status = make_typed(point);
  set_arguments(point);
  if (status == TUTTI_OK && point->command->mode == BENCH_PERSISTENT)
    status = init_requests(point);
  return result_of(status, text);
}

/* ---- where time goes ---- */

static int worker_watch(bool on, char *text) {
  return result_of(tt_comm_watch(self.comm, on ? &self.spent : NULL), text);
}

static void worker_spent(bench_spent *spent) {
  for (uint32_t n = 0; n < self.spent.level_count && n < BENCH_LEVELS; n++) {
    const tt_level_spent *from = &self.spent.level[n];
    bench_level_spent *to = &spent->level[spent->level_count++];
    *to = (bench_level_spent){.far = from->far, .move_ns = from->move_ns, .wait_ns = from->wait_ns};
    memcpy(to->name, from->name, sizeof to->name);
  }
  self.spent = (tt_spent){.level_count = 0};
}

static void worker_ran(bench_ran *ran) {
  snprintf(ran->params, sizeof ran->params, "%s", tutti_comm_last_params(self.comm));
  snprintf(ran->media, sizeof ran->media, "%s", tutti_comm_last_media(self.comm));
}

/* ---- the rest ---- */

static bench_kernel *worker_kernel(int32_t type, int32_t op) {
  return tt_dtype_combine((tutti_type)type, (tutti_op)op);
}

static void *worker_alloc(size_t bytes) {
  void *memory;
  return tutti_alloc(self.context, bytes, &memory) == TUTTI_OK ? memory : NULL;
}

static void worker_free(void *memory) { tutti_free(self.context, memory); }

static int worker_gather(const void *mine, void *all, size_t bytes, char *text) {
  return result_of(tutti_allgather(mine, all, (int64_t)bytes, TUTTI_BYTE, self.words), text);
}

/* The rails of transport tcp; none: as if nothing were known. */
static void find_rails(char nics[BENCH_LIST]) {
  tt_nic nic[TT_NICS_MOST];
  int64_t count = 0;
  size_t used = 0;
  if (tt_nics_find("", nic, TT_COUNT(nic), &count) != TUTTI_OK ||
      tt_nics_choose(tt_options_get()->nics, nic, &count) != TUTTI_OK)
    return;
  for (int64_t n = 0; n < count && n < BENCH_NICS; n++)
    used += (size_t)snprintf(nics + used, BENCH_LIST - used, "%s%s", n ? "," : "", nic[n].name);
}

/* TUTTI_NODES divides hosts. */
static void worker_place(int32_t rank, int32_t size, char nics[BENCH_LIST], int64_t *part) {
  const char *nodes = tt_options_get()->nodes;
  int64_t *map = *nodes ? calloc((size_t)size, sizeof *map) : NULL;
  if (map && tt_topo_parse_map(nodes, size, map) == TUTTI_OK)
    *part = map[rank];
  free(map);
  find_rails(nics);
}

static void worker_close(void) {
  tutti_graph_destroy(self.graph);
  tutti_comm_destroy(self.words);
  tutti_comm_destroy(self.comm);
  tutti_context_destroy(self.context);
}

tutti_status bench_own_space(tt_collective collective, int64_t bytes, tt_candidates *space) {
  *space = (tt_candidates){.count = 0};
  tutti_status status = tt_comm_place(self.comm);
  tt_task task = tune_task_on(self.comm, collective, bytes > 0 ? bytes : 1);
  return status == TUTTI_OK ? tt_candidates_make(&task, space) : status;
}

const bench_library *bench_own_library(void) {
  static const bench_library library = {.open = worker_open,
                                        .prepare = worker_prepare,
                                        .call = worker_call,
                                        .post = worker_post,
                                        .test = worker_test,
                                        .wait = worker_wait,
                                        .barrier = worker_barrier,
                                        .watch = worker_watch,
                                        .spent = worker_spent,
                                        .ran = worker_ran,
                                        .release = worker_release,
                                        .alloc = worker_alloc,
                                        .kernel = worker_kernel,
                                        .free = worker_free,
                                        .close = worker_close,
                                        .gather = worker_gather,
                                        .place = worker_place};
  return &library;
}
