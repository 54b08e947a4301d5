/* api/comm.c - communicators: little more than a team of ranks until the first call, which gives them a board and a
 * table of streams. split.c makes them. */
#include "api/refuse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_BYTES ((int64_t)4 << 20) /* one slot of each stream */

/* Ids of a communicator, from its base on: those of lanes, of epochs, of side communicators, of cells and notes. Those
 * of an epoch are taken again when no rank can still have them: see refuse.c. */
#define EPOCHS (2 * TT_EPOCHS_APART)
#define EPOCH_IDS ((uint64_t)1 << 19)
#define EPOCH_FIRST (1u << 27)

/* ---- before the first call ---- */

static tutti_status no_memory(const tutti_comm *comm) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", comm->size);
}

tutti_status tt_comm_open_cells(const tutti_comm *comm, uint32_t id, size_t bytes, void **cell) {
  int64_t *here = malloc((size_t)comm->size * sizeof *here), count = 0;
  if (!here)
    return no_memory(comm);
  for (int64_t r = 0; r < comm->size; r++)
    if (!comm->far[r])
      here[count++] = comm->job_rank[r];
  tutti_status status = comm->ops->cells_open(comm->transport, tt_comm_base(comm) + id, here, count, bytes, cell);
  for (int64_t r = comm->size - 1; r >= 0 && status == TUTTI_OK; r--) /* spread: none lies before its place */
    cell[r] = comm->far[r] ? NULL : cell[--count];
  free(here);
  return status;
}

void tt_comm_close_cells(const tutti_comm *comm, uint32_t id, void **cell) {
  comm->ops->cells_close(comm->transport, tt_comm_base(comm) + id);
  for (int64_t r = 0; r < comm->size; r++)
    if (comm->far[r])
      free(cell[r]);
}

static tutti_status open_board(tutti_comm *comm) {
  if (!comm->ops->cells_open)
    return TUTTI_OK;
  tt_board **board = calloc((size_t)comm->size, sizeof(tt_board *));
  comm->neighbour = calloc((size_t)comm->size, sizeof *comm->neighbour);
  if (!board || !comm->neighbour) {
    free(board);
    return no_memory(comm);
  }
  tutti_status status = tt_comm_open_cells(comm, 0, sizeof(tt_board), (void **)board);
  if (status == TUTTI_OK)
    comm->board = board;
  else
    free(board);
  return status == TUTTI_ERR_UNSUPPORTED ? TUTTI_OK : status;
}

/* Two ranks have both a core of their own and its cache, and want to overlap. More of them share: the longer a slot,
 * the fewer changes of rank; but all streams of a communicator should lie in the outer cache together. */
static int64_t default_slot_bytes(int64_t ranks, bool apart) {
  int64_t room = STREAMS_BYTES / (ranks * ranks);
  return ranks <= 2 && !apart ? 32 << 10 : room > 64 << 10 ? 64 << 10 : room > 16 << 10 ? room : 16 << 10;
}

/* How many ranks the fullest machine has: the same for all. */
static tutti_status count_together(const tutti_comm *comm, int64_t *most) {
  *most = comm->size;
  if (!comm->apart)
    return TUTTI_OK;
  int64_t *together = calloc((size_t)comm->context->size, sizeof *together); /* of the lowest rank on each */
  if (!together)
    return no_memory(comm);
  *most = 0;
  for (int64_t r = 0; r < comm->size; r++) {
    int64_t count = ++together[comm->context->head_of[comm->job_rank[r]]];
    *most = count > *most ? count : *most;
  }
  free(together);
  return TUTTI_OK;
}

static uint32_t epoch_id(uint32_t epoch) { return EPOCH_FIRST + epoch % EPOCHS * (uint32_t)EPOCH_IDS; }

size_t tt_comm_slot_bytes(int64_t ranks, bool apart) {
  int64_t bytes = tt_options_get()->slot_bytes;
  if (bytes <= 0)
    bytes = default_slot_bytes(ranks, apart);
  return (size_t)(bytes + 63) / 64 * 64;
}

tutti_status tt_comm_open_link(tutti_comm *comm) {
  int64_t together = 0;
  tutti_status status = count_together(comm, &together);
  if (status != TUTTI_OK)
    return status;
  tt_link_spec spec = {.ops = comm->ops,
                       .transport = comm->transport,
                       .job_rank = comm->job_rank,
                       .rank = comm->rank,
                       .rank_count = comm->size,
                       .stream_base = tt_comm_base(comm) + (comm->epoch > 0 ? epoch_id(comm->epoch) : 0),
                       .ids = comm->main        ? TT_SIDE_IDS
                              : comm->epoch > 0 ? EPOCH_IDS
                                                : TT_LINK_IDS,
                       .alone = comm->main,
                       .patient = !comm->context->crowded,
                       .neighbour = comm->neighbour,
                       .far = comm->far,
                       .thresholds = {.lend = tt_medium_lend_bytes(comm->context->medium)},
                       .slot_bytes_minimum = tt_comm_slot_bytes(together, comm->apart)};
  return tt_link_create(&spec, &comm->link);
}

static void take_team(tutti_comm *comm) {
  const tt_team *team = comm->team;
  comm->ops = team->ops;
  comm->transport = team->transport;
  comm->topo = team->topo;
  comm->far = team->far;
  comm->apart = team->apart;
  comm->head = team->head;
}

tutti_status tt_comm_prepare(tutti_comm *comm) {
  if (comm->link)
    return TUTTI_OK;
  if (comm->broken != TUTTI_OK)
    return tt_agree_verdict(comm);
  tutti_status status = tt_team_prepare(comm->context, comm->team);
  if (status == TUTTI_OK) {
    take_team(comm);
    status = open_board(comm);
  }
  if (status == TUTTI_OK)
    status = tt_comm_open_link(comm);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tt_agree_lack(comm->context, comm->id, status); /* others may come to the first call and wait for this rank */
  return tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, tutti_last_error());
}

/* ---- epochs ---- */

/* The last of its ids. */
static uint32_t epoch_cells(uint32_t epoch) { return epoch_id(epoch) + (uint32_t)EPOCH_IDS - 1; }

/* A cell that all ranks open and close: what only some of them have opened of the epoch goes with it. */
static tutti_status open_epoch(const tutti_comm *comm) {
  void **cell = calloc((size_t)comm->size, sizeof *cell);
  tutti_status status = cell ? tt_comm_open_cells(comm, epoch_cells(comm->epoch), 1, cell) : no_memory(comm);
  free(cell);
  return status;
}

static void close_epoch(const tutti_comm *comm) {
  if (comm->epoch > 0)
    comm->ops->cells_close(comm->transport, tt_comm_base(comm) + epoch_cells(comm->epoch));
}

/* What came of earlier epochs from other machines for calls that this rank did not make. `half`: epochs that no rank
 * can be in any more, or not yet. */
static void forget_epochs(const tutti_comm *comm) {
  const tutti_transport_ops *ops = comm->ops;
  uint64_t base = tt_comm_base(comm), first = base + EPOCH_FIRST, half = TT_EPOCHS_APART * EPOCH_IDS;
  uint64_t here = comm->epoch % EPOCHS * EPOCH_IDS;
  if (!comm->apart || !ops->forget)
    return;
  ops->forget(comm->transport, base, EPOCH_FIRST);
  ops->forget(comm->transport, here < half ? first : first + here - half, here < half ? here : half);
  if (here < half)
    ops->forget(comm->transport, first + here + half, half - here);
}

/* Executors follow when they are started: tt_operation_start. */
tutti_status tt_comm_renew(tutti_comm *comm, uint32_t epoch) {
  tutti_status status = TUTTI_OK;
  tt_link_destroy(comm->link);
  comm->link = NULL;
  while (comm->epoch < epoch && status == TUTTI_OK) {
    close_epoch(comm);
    comm->epoch++;
    status = open_epoch(comm);
  }
  forget_epochs(comm);
  if (status == TUTTI_OK)
    status = tt_comm_open_link(comm);
  return status == TUTTI_OK ? TUTTI_OK
                            : tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, tutti_last_error());
}

tutti_status tt_comm_watch(tutti_comm *comm, tt_spent *spent) {
  TT_HOLD(comm->context);
  tutti_status status = tt_comm_prepare(comm);
  if (status == TUTTI_OK)
    tt_link_watch(comm->link, spent);
  return status;
}

static bool link_comm(tutti_context *context, tutti_comm *comm, uint64_t id) {
  comm->id = id;
  if (!tt_index_set(&context->by_number, id, comm))
    return false;
  comm->next = context->comms;
  if (comm->next)
    comm->next->before = comm;
  context->comms = comm;
  tt_notes_make(context, id);
  return true;
}

tutti_status tt_comm_open(tutti_context *context, uint64_t id, const int64_t *job_rank, int64_t size, int64_t rank,
                          tutti_comm **comm) {
  tutti_comm *made = calloc(1, sizeof *made);
  if (!made || !(made->team = tt_team_take(context, job_rank, size, rank)) || !link_comm(context, made, id)) {
    if (made)
      tt_team_give(context, made->team);
    free(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", size);
  }
  made->context = context;
  made->crowded = context->crowded;
  made->job_rank = made->team->job_rank;
  made->rank = rank;
  made->size = size;
  *comm = made;
  return TUTTI_OK;
}

int64_t tt_comm_rank_of(const tutti_comm *comm, int64_t job_rank) {
  int64_t rank = comm->size - 1;
  while (rank >= 0 && comm->job_rank[rank] != job_rank)
    rank--;
  return rank;
}

/* ---- end ---- */

static void close_board(tutti_comm *comm) {
  tt_record_close(comm);
  tt_stops_close(comm);
  tt_comm_close_cells(comm, 0, (void **)comm->board);
}

static void unlink_comm(tutti_comm *comm) {
  tutti_context *context = comm->context;
  tt_index_remove(&context->by_number, comm->id);
  if (comm->before)
    comm->before->next = comm->next;
  else
    context->comms = comm->next;
  if (comm->next)
    comm->next->before = comm->before;
}

void tutti_comm_destroy(tutti_comm *comm) {
  if (!comm || tt_context_is_copy(comm->context))
    return;
  TT_HOLD(comm->context);
  tt_request_give_up(comm);
  tt_refuse_finish(comm);
  if (tt_agree_leave(comm) == TUTTI_ERR_MISMATCH) /* what calls have delivered may be wrong, and no call will say so */
    tt_log(TT_LOG_ERROR, "a communicator ends with an error: %s", tutti_last_error());
  unlink_comm(comm);
  while (comm->sides)
    tt_side_close(comm->sides);
  tt_entry_forget(comm, NULL);
  tt_comm_free_graphs(comm);
  tt_link_destroy(comm->link);
  close_epoch(comm);
  tt_notes_close(comm);
  if (comm->board)
    close_board(comm);
  for (int n = 0; n < TT_COLLECTIVE_COUNT; n++)
    free(comm->params[n]);
  tt_comm_free_texts(comm);
  tt_request_orphan(comm);
  free(comm->bound);
  free(comm->creation);
  free(comm->tally);
  free(comm->copy);
  free(comm->board);
  free(comm->neighbour);
  free(comm->broken_text);
  tt_team_give(comm->context, comm->team);
  free(comm);
}

void tutti_comm_abort(tutti_comm *comm, const char *reason) {
  if (!comm)
    return;
  if (tt_context_is_copy(comm->context)) {
    tt_fork_refuse(comm->context, "tutti_comm_abort");
    tt_log(TT_LOG_ERROR, "%s", tutti_last_error());
    return;
  }
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
