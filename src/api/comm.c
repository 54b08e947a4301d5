/* api/comm.c - communicators: made by two allgathers on the parent (numbers; who could make its part), cheap until
 * their first call.
 *
 * A communicator's number comes from the allgather too: the largest that any rank of the parent could use next. The
 * parts of one split share it; they have no rank in common, and streams and cells are told apart by their ranks as
 * well. */
#include "api/api.h"

#include <inttypes.h>
#include <stdio.h>
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
  comm->neighbour = tt_arena_alloc(&comm->arena, (size_t)comm->size, sizeof *comm->neighbour);
  if (!board || !comm->neighbour) {
    free(board);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", comm->size);
  }
  tutti_status status = ops->cells_open(comm->context->transport, comm->id << 32, comm->job_rank, comm->size,
                                        sizeof(tt_board), (void **)board);
  if (status == TUTTI_OK)
    comm->board = board;
  else
    free(board);
  return status == TUTTI_ERR_UNSUPPORTED ? TUTTI_OK : status;
}

/* All streams of a communicator should lie in the cache together: the more ranks, the smaller. */
static size_t slot_bytes(int64_t ranks) {
  int64_t bytes = tt_options_get()->slot_bytes;
  if (bytes <= 0)
    bytes = ranks <= 4 ? 32 << 10 : 16 << 10;
  return (size_t)(bytes + 63) / 64 * 64;
}

static tutti_status open_link(tutti_comm *comm) {
  tt_link_spec spec = {.ops = comm->context->ops,
                       .transport = comm->context->transport,
                       .job_rank = comm->job_rank,
                       .rank = comm->rank,
                       .rank_count = comm->size,
                       .stream_base = comm->id << 32,
                       .patient = !comm->context->crowded,
                       .neighbour = comm->neighbour,
                       .slot_bytes_minimum = slot_bytes(comm->size)};
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

/* ---- exchanges ---- */

/* What was bound otherwise must not be taken now, nor the other way around. */
static void set_creates(tutti_comm *comm, bool creates) {
  comm->creates = creates;
  tt_comm_forget(comm, TT_ALLGATHER);
}

tutti_status tt_comm_exchange(tutti_comm *comm, const int64_t *mine, int64_t *all, int64_t count) {
  set_creates(comm, true);
  tutti_status status = tutti_allgather(mine, all, count, TUTTI_INT64, comm);
  set_creates(comm, false);
  return status;
}

tutti_status tt_comm_exchangev(tutti_comm *comm, const int64_t *mine, int64_t *all, const int64_t *counts) {
  set_creates(comm, true);
  tutti_status status = tutti_allgatherv(mine, all, counts, NULL, TUTTI_INT64, comm);
  set_creates(comm, false);
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

static tutti_status open_part(tutti_comm *parent, const member *members, int64_t count, uint64_t id,
                              tutti_comm **part) {
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

/* Everyone's numbers. */
static tutti_status exchange(tutti_comm *comm, const void *mine, void *all, size_t bytes) {
  return tt_comm_exchange(comm, mine, all, (int64_t)(bytes / sizeof(int64_t)));
}

static uint64_t next_number(const tutti_comm *comm, const member *all) {
  uint64_t number = comm->context->next_comm;
  for (int64_t n = 0; n < comm->size; n++)
    number = (uint64_t)all[n].next_comm > number ? (uint64_t)all[n].next_comm : number;
  return number;
}

/* All have made their parts, or nobody gets one. `status`: this rank's. all: room for a number of each rank. */
static tutti_status confirm(tutti_comm *comm, tutti_status status, int64_t *all) {
  int64_t mine = status;
  char why[400];
  snprintf(why, sizeof why, "%s", tutti_last_error());
  tutti_status met = exchange(comm, &mine, all, sizeof mine);
  if (met != TUTTI_OK)
    return met;
  for (int64_t r = 0; r < comm->size; r++)
    if (all[r] != TUTTI_OK)
      return tt_fail((tutti_status)all[r], "tutti_comm_split: rank %" PRId64 " could not make its part: %s", r,
                     r == comm->rank ? why : tutti_status_name((tutti_status)all[r]));
  return TUTTI_OK;
}

static tutti_status split(tutti_comm *comm, int64_t color, int64_t key, member *all, tutti_comm **part) {
  member mine = {color < 0 ? -1 : color, key, (int64_t)comm->context->next_comm, comm->rank};
  tutti_comm *made = NULL;
  tutti_status status = exchange(comm, &mine, all, sizeof mine);
  if (status != TUTTI_OK)
    return status;
  uint64_t id = next_number(comm, all);
  comm->context->next_comm = id + 1;
  if (color >= 0)
    status = open_part(comm, all, keep_color(all, comm->size, color), id, &made);
  status = confirm(comm, status, &all->color);
  if (status == TUTTI_OK)
    *part = made;
  else
    tutti_comm_destroy(made);
  return status;
}

tutti_status tutti_comm_split(tutti_comm *comm, int64_t color, int64_t key, tutti_comm **part) {
  if (!comm || !part)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_split: %s is NULL", comm ? "part" : "comm");
  TT_HOLD(comm->context);
  member *all = calloc((size_t)comm->size, sizeof *all);
  if (!all)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory to split a communicator", comm->rank);
  tutti_status status = split(comm, color, key, all, part);
  free(all);
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

void tutti_comm_destroy(tutti_comm *comm) {
  if (!comm)
    return;
  TT_HOLD(comm->context);
  if (tt_agree_leave(comm) == TUTTI_ERR_MISMATCH) /* what calls have delivered may be wrong, and no call will say so */
    tt_log(TT_LOG_ERROR, "a communicator ends with an error: %s", tutti_last_error());
  unlink_comm(comm);
  tt_entry_forget(comm, NULL);
  tt_link_destroy(comm->link);
  if (comm->board)
    comm->context->ops->cells_close(comm->context->transport, comm->id << 32);
  for (int n = 0; n < TT_COLLECTIVE_COUNT; n++)
    free(comm->params[n]);
  tt_request_orphan(comm);
  free(comm->copy);
  free(comm->board);
  free(comm->job_rank);
  tt_arena_finish(&comm->arena);
  free(comm);
}

void tutti_comm_abort(tutti_comm *comm, const char *reason) {
  if (!comm)
    return;
  TT_HOLD(comm->context);
  tt_agree_break(comm, TUTTI_ERR_ABORTED, "rank %" PRId64 " aborted: %s", comm->rank,
                 reason ? reason : "no reason given");
}

static int64_t no_comm(const char *function) {
  tt_fail(TUTTI_ERR_ARGUMENT, "%s: comm is NULL", function);
  return -1;
}

int64_t tutti_comm_rank(const tutti_comm *comm) { return comm ? comm->rank : no_comm("tutti_comm_rank"); }

int64_t tutti_comm_size(const tutti_comm *comm) { return comm ? comm->size : no_comm("tutti_comm_size"); }

tutti_status tutti_comm_set_params(tutti_comm *comm, const char *collective, const char *text) {
  if (!comm || !collective)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_set_params: %s is NULL", comm ? "collective" : "comm");
  TT_HOLD(comm->context);
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
  tt_comm_forget(comm, which);
  return TUTTI_OK;
}
