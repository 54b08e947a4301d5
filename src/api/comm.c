/* api/comm.c - communicators: made by one allgather on the parent, cheap until their first call.
 *
 * A communicator's number comes from the allgather too: the largest that any rank of the parent could use next. The parts of one
 * split share it; they have no rank in common, and streams and cells are told apart by their ranks as well. */
#include "api/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- open: everything but agreement on the number ---- */

static tutti_status make_topology(tutti_comm *comm) {
  tutti_context *context = comm->context;
  comm->topo = tt_topo_flat(&comm->arena, comm->size);
  if (!comm->topo)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", comm->size);
  comm->topo->level[0].publish = context->ops->publish;
  int64_t *node_of = tt_arena_alloc(&comm->arena, (size_t)comm->size, sizeof *node_of);
  for (int64_t r = 0; r < comm->size && node_of; r++)
    node_of[r] = context->node_of ? context->node_of[comm->job_rank[r]] : 0;
  return node_of ? tt_topo_add(comm->topo, &comm->arena, "node", node_of)
                 : tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", comm->size);
}

static tutti_status open_board(tutti_comm *comm) {
  const tutti_transport_ops *ops = comm->context->ops;
  if (!ops->cells_open)
    return TUTTI_OK;
  tt_board **board = calloc((size_t)comm->size, sizeof(tt_board *));
  if (!board)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", comm->size);
  tutti_status status = ops->cells_open(comm->context->transport, comm->id << 32, comm->job_rank, comm->size, sizeof(tt_board),
                                        (void **)board);
  if (status == TUTTI_OK)
    comm->board = board;
  else
    free(board);
  return status == TUTTI_ERR_UNSUPPORTED ? TUTTI_OK : status;
}

static tutti_status open_link(tutti_comm *comm) {
  tt_link_spec spec = {.ops = comm->context->ops,
                       .transport = comm->context->transport,
                       .job_rank = comm->job_rank,
                       .rank = comm->rank,
                       .rank_count = comm->size,
                       .stream_base = comm->id << 32,
                       .slot_bytes_minimum = 4096};
  return tt_link_create(&spec, &comm->link);
}

tutti_status tt_comm_open(tutti_context *context, uint64_t id, const int64_t *job_rank, int64_t size, int64_t rank,
                          tutti_comm **comm) {
  tutti_comm *made = calloc(1, sizeof *made);
  if (!made || !(made->job_rank = malloc((size_t)size * sizeof *job_rank))) {
    free(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", size);
  }
  memcpy(made->job_rank, job_rank, (size_t)size * sizeof *job_rank);
  made->context = context;
  made->id = id;
  made->rank = rank;
  made->size = size;
  tt_arena_init(&made->arena);
  made->next = context->comms;
  context->comms = made;
  tutti_status status = make_topology(made);
  if (status == TUTTI_OK)
    status = open_board(made);
  if (status == TUTTI_OK)
    status = open_link(made);
  if (status != TUTTI_OK)
    tutti_comm_destroy(made);
  else
    *comm = made;
  return status;
}

/* ---- split ---- */

typedef struct member {
  int64_t color, key, next_comm, rank;
} member;

static int by_key(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The members of my color, in their order, at the beginning of all. Returns how many. */
static int64_t keep_color(member *all, int64_t count, int64_t color) {
  int64_t kept = 0;
  for (int64_t n = 0; n < count; n++)
    if (all[n].color == color)
      all[kept++] = all[n];
  qsort(all, (size_t)kept, sizeof *all, by_key);
  return kept;
}

static tutti_status open_part(tutti_comm *parent, const member *members, int64_t count, uint64_t id, tutti_comm **part) {
  int64_t *job_rank = malloc((size_t)count * sizeof *job_rank), rank = -1;
  if (!job_rank)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", count);
  for (int64_t n = 0; n < count; n++) {
    job_rank[n] = parent->job_rank[members[n].rank];
    if (members[n].rank == parent->rank)
      rank = n;
  }
  tutti_status status = tt_comm_open(parent->context, id, job_rank, count, rank, part);
  free(job_rank);
  return status;
}

tutti_status tutti_comm_split(tutti_comm *comm, int64_t color, int64_t key, tutti_comm **part) {
  if (!comm || !part)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_split: %s is NULL", comm ? "part" : "comm");
  member *all = calloc((size_t)comm->size, sizeof *all);
  if (!all)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to split a communicator of %" PRId64 " ranks", comm->size);
  member mine = {color < 0 ? -1 : color, key, (int64_t)comm->context->next_comm, comm->rank};
  tutti_status status = tutti_allgather(&mine, all, sizeof mine / sizeof(int64_t), TUTTI_INT64, comm);
  tutti_comm *made = NULL;
  if (status == TUTTI_OK) {
    uint64_t id = comm->context->next_comm;
    for (int64_t n = 0; n < comm->size; n++)
      id = (uint64_t)all[n].next_comm > id ? (uint64_t)all[n].next_comm : id;
    comm->context->next_comm = id + 1;
    if (color >= 0)
      status = open_part(comm, all, keep_color(all, comm->size, color), id, &made);
  }
  free(all);
  if (status == TUTTI_OK)
    *part = made;
  return status;
}

tutti_status tutti_comm_create(tutti_context *context, tutti_comm **comm) {
  if (!context || !comm)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_create: %s is NULL", context ? "comm" : "context");
  return tutti_comm_split(context->control, 0, 0, comm);
}

/* ---- end ---- */

static void unlink_comm(tutti_comm *comm) {
  tutti_comm **at = &comm->context->comms;
  while (*at && *at != comm)
    at = &(*at)->next;
  if (*at)
    *at = comm->next;
}

static void free_requests(tutti_comm *comm) {
  while (comm->pool) {
    tutti_request *next = comm->pool->next;
    free(comm->pool);
    comm->pool = next;
  }
}

void tutti_comm_destroy(tutti_comm *comm) {
  if (!comm)
    return;
  unlink_comm(comm);
  tt_comm_unbind(comm);
  tt_link_destroy(comm->link);
  if (comm->board)
    comm->context->ops->cells_close(comm->context->transport, comm->id << 32);
  for (int n = 0; n < TT_COLLECTIVE_COUNT; n++)
    free(comm->params[n]);
  free_requests(comm);
  free(comm->board);
  free(comm->job_rank);
  tt_arena_finish(&comm->arena);
  free(comm);
}

void tutti_comm_abort(tutti_comm *comm, const char *reason) {
  if (comm)
    tt_agree_break(comm, TUTTI_ERR_ABORTED, "rank %" PRId64 " aborted: %s", comm->rank, reason ? reason : "no reason given");
}

int64_t tutti_comm_rank(const tutti_comm *comm) { return comm->rank; }

int64_t tutti_comm_size(const tutti_comm *comm) { return comm->size; }

tutti_status tutti_comm_set_params(tutti_comm *comm, const char *collective, const char *text) {
  if (!comm || !collective)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_set_params: %s is NULL", comm ? "collective" : "comm");
  tt_collective which = tt_compose_find(collective);
  if (which == TT_COLLECTIVE_COUNT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_set_params: collective '%s' is none of tutti's", collective);
  tt_params params;
  tutti_status status = text ? tt_params_parse(text, &params) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for parameters");
  free(comm->params[which]);
  comm->params[which] = copy;
  memset(comm->bound, 0, sizeof comm->bound);
  return TUTTI_OK;
}
