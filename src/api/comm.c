/* api/comm.c - communicators: little more than a list of ranks until the first call, which gives them a topology, a
 * board and a table of streams. split.c makes them. */
#include "api/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- before the first call ---- */

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

tutti_status tt_comm_prepare(tutti_comm *comm) {
  if (comm->link)
    return TUTTI_OK;
  if (comm->broken != TUTTI_OK)
    return tt_agree_verdict(comm);
  tutti_status status = make_topology(comm);
  if (status == TUTTI_OK)
    status = open_board(comm);
  if (status == TUTTI_OK)
    status = open_link(comm);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tt_agree_lack(comm->context, comm->id); /* others may come to the first call and wait for this rank */
  return tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, tutti_last_error());
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
  made->crowded = context->crowded;
  made->id = id;
  made->rank = rank;
  made->size = size;
  tt_arena_init(&made->arena);
  made->next = context->comms;
  context->comms = made;
  *comm = made;
  return TUTTI_OK;
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
  free(comm->bound);
  free(comm->creation);
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
  if (tt_comm_prepare(comm) == TUTTI_OK) /* else it is broken by that */
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
