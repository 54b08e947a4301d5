/* api/comm.c - communicators: little more than a team of ranks until the first call, which gives them a board and a
 * stream table (agree/board.c). split.c and group.c make them. */
#include "api/api.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool list_comm(tutti_context *context, tutti_comm *comm, uint64_t id) {
  assert(!tt_index_find(&context->made.by_number, id));
  comm->id = id;
  if (!tt_index_set(&context->made.by_number, id, comm))
    return false;
  comm->next = context->made.list;
  if (comm->next)
    comm->next->before = comm;
  context->made.list = comm;
  tt_comm_raise(context, id);
  tt_notes_make(context, id);
  return true;
}

tutti_status tt_comm_open(tutti_context *context, uint64_t id, const int64_t *job_rank, int64_t size, int64_t rank,
                          tutti_comm **comm) {
  assert(rank >= 0 && rank < size && job_rank[rank] == context->rank);
  tutti_comm *made = calloc(1, sizeof *made);
  if (!made || !(made->team = tt_team_get(&context->teams, job_rank, size, rank)) || !list_comm(context, made, id)) {
    if (made)
      tt_team_put(&context->teams, made->team);
    free(made);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", size);
  }
  made->context = context;
  made->wait.crowded = context->machine.crowded;
  made->job_rank = made->team->job_rank;
  made->rank = rank;
  made->size = size;
  *comm = made;
  return TUTTI_OK;
}

/* ---- end ---- */

static void unlink_comm(tutti_comm *comm) {
  tutti_context *context = comm->context;
  assert(comm->before ? comm->before->next == comm : context->made.list == comm);
  tt_index_remove(&context->made.by_number, comm->id);
  if (comm->before)
    comm->before->next = comm->next;
  else
    context->made.list = comm->next;
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
    tt_log(TT_LOG_ERROR, "a communicator was destroyed with an error: %s", tutti_last_error());
  unlink_comm(comm);
  assert(!comm->queue.head && !comm->calls.busy);
  while (comm->persistent.sides)
    tt_side_close(comm->persistent.sides);
  tt_recall_finish(comm); /* it leans on entries */
  tt_entry_forget(comm, NULL);
  tt_comm_free_graphs(comm);
  tt_stream_table_destroy(comm->streams);
  tt_comm_close_epoch(comm);
  tt_comm_bury(comm);
  tt_agree_close(comm);
  for (int n = 0; n < TT_COLLECTIVE_COUNT; n++)
    free(comm->calls.params[n]);
  tt_comm_free_texts(comm);
  tt_request_orphan(comm);
  free(comm->calls.creation);
  free(comm->calls.tally);
  tt_operation_drop_copy(comm);
  free(comm->agree.broken_text);
  tt_team_put(&comm->context->teams, comm->team);
  free(comm);
}

/* For functions that give nothing back: whether there is a communicator, and this process is the one that has joined.
 */
static bool is_ours(const tutti_comm *comm, const char *function) {
  if (!comm || !tt_context_is_copy(comm->context))
    return comm != NULL;
  tt_fork_refuse(comm->context, function);
  tt_log(TT_LOG_ERROR, "%s", tutti_last_error());
  return false;
}

void tutti_comm_refuse(tutti_comm *comm, const char *reason) {
  if (!is_ours(comm, "tutti_comm_refuse"))
    return;
  TT_HOLD(comm->context);
  if (tt_agree_prepare(comm) == TUTTI_OK) /* else it is broken on all ranks */
    tt_refuse_next(comm, reason ? reason : "no reason given");
}

void tutti_comm_abort(tutti_comm *comm, const char *reason) {
  if (!is_ours(comm, "tutti_comm_abort"))
    return;
  TT_HOLD(comm->context);
  if (tt_agree_prepare(comm) == TUTTI_OK) /* else it is broken by that */
    tt_agree_break(comm, TUTTI_ERR_ABORTED, "rank %" PRId64 " aborted: %s", comm->rank,
                   reason ? reason : "no reason given");
}

static int64_t no_comm(const char *function) {
  tt_fail(TUTTI_ERR_ARGUMENT, "%s: comm is NULL", function);
  return -1;
}

int64_t tutti_comm_rank(const tutti_comm *comm) { return comm ? comm->rank : no_comm("tutti_comm_rank"); }

int64_t tutti_comm_size(const tutti_comm *comm) { return comm ? comm->size : no_comm("tutti_comm_size"); }
