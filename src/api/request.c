/* api/request.c - calls that do not block, and persistent ones: started, tested, waited for. call/queue.c moves them.
 */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

tutti_status tutti_request_start(tutti_request *request) {
  if (!request || !request->persistent)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_request_start: the request is %s", request ? "not persistent" : "NULL");
  if (!request->comm)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_request_start: the request's communicator was destroyed");
  if (tt_context_is_copy(request->comm->context))
    return tt_fork_refuse(request->comm->context, "tutti_request_start");
  TT_HOLD(request->comm->context);
  if (request->state != TT_REQUEST_IDLE) /* complete or not: equal on all ranks */
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_request_start: the request is running; wait for it first");
  if (request->comm->agree.broken != TUTTI_OK || tt_agree_poisoned(request->comm))
    return tt_agree_verdict(request->comm);
  tt_request_start(request);
  return TUTTI_OK;
}

static bool is_running(const tutti_request *request) {
  return request->state == TT_REQUEST_QUEUED || request->state == TT_REQUEST_RUNNING;
}

static tutti_status tell_refused(tutti_request *request) {
  assert(request->state == TT_REQUEST_DONE);
  if (!request->refused)
    return tt_fail(TUTTI_ERR_REFUSED, "call %" PRIu64 " was refused; there is no memory for the reason",
                   request->operation.number);
  tt_fail(TUTTI_ERR_REFUSED, "%s", request->refused);
  free(request->refused);
  request->refused = NULL;
  return TUTTI_ERR_REFUSED;
}

/* Behind it others may have started since. */
static void tell_what_ran(const tutti_request *done) {
  if (!done->comm || !done->ran.params)
    return;
  done->comm->calls.last_params = done->ran.params;
  done->comm->calls.last_decision = done->ran.decision;
  atomic_store_explicit(&done->comm->calls.last_media, done->ran.media, memory_order_relaxed);
}

/* The request is over: its status, and its end where it is not persistent. That of a call which others found wrong
 * after this rank had done its part is theirs. */
static tutti_status collect(tutti_request **request) {
  tutti_request *done = *request;
  assert(!is_running(done) && !done->pooled);
  tutti_status status = done->status;
  if (status == TUTTI_ERR_REFUSED)
    status = tell_refused(done);
  else if (done->comm && (status != TUTTI_OK || tt_agree_poisoned(done->comm)))
    status = tt_agree_verdict(done->comm);
  else if (status != TUTTI_OK)
    tt_fail(status, "the request's communicator was destroyed before it was complete");
  if (status == TUTTI_OK)
    tell_what_ran(done);
  done->state = TT_REQUEST_IDLE;
  if (!done->persistent) {
    tt_request_give_back(done);
    *request = NULL;
  }
  return status;
}

tutti_status tutti_test(tutti_request **request, int *done) {
  if (!request || !done)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_test: %s is NULL", request ? "done" : "request");
  bool moved = false;
  tutti_comm *comm = *request ? tt_request_home(*request) : NULL;
  if (comm && tt_context_is_copy(comm->context))
    return tt_fork_refuse(comm->context, "tutti_test");
  *done = 1;
  if (!*request)
    return TUTTI_OK;
  if (!comm)
    return collect(request);
  TT_HOLD(comm->context);
  tt_request_progress(comm->context, &moved);
  *done = !is_running(*request);
  if (*done)
    return collect(request);
  if (!tt_request_has_moved(comm, &(*request)->waiter) &&
      tt_wait_look(comm, comm->queue.head->operation.number, &(*request)->waiter) != TUTTI_OK)
    tt_request_progress(comm->context, &moved);
  *done = !is_running(*request);
  return *done ? collect(request) : TUTTI_OK;
}

/* For how long nothing of the communicator has moved, as far as somebody has looked. */
static int64_t waited_before(const tutti_comm *comm, const tt_waiter *looks) {
  bool since = looks->began_ns > 0 && looks->moves == comm->queue.moves;
  return since ? tt_clock_ns() - looks->began_ns : 0;
}

tutti_status tt_request_finish(tutti_request **request, int64_t timeout_ns, tt_progress *held) {
  tutti_comm *comm = tt_request_home(*request);
  int64_t before_ns = waited_before(comm, &(*request)->waiter);
  tt_waiter waiter = {.moves = comm->queue.moves, .before_ns = before_ns, .timeout_ns = timeout_ns, .lets_go = held};
  comm->queue.waiters++;
  while (is_running(*request))
    tt_request_await(comm, &waiter);
  if (tt_request_home(*request) == comm) /* else another thread has destroyed it */
    comm->queue.waiters--;
  return collect(request);
}

static tutti_status wait_for(tutti_request **request, int64_t timeout_ns, const char *function) {
  if (!request)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: request is NULL", function);
  if (!*request)
    return TUTTI_OK;
  tutti_comm *comm = tt_request_home(*request);
  if (!comm)
    return collect(request);
  if (tt_context_is_copy(comm->context))
    return tt_fork_refuse(comm->context, function);
  TT_HOLD(comm->context);
  if (!held)
    return tt_request_finish(request, timeout_ns, NULL);
  tt_progress_begin_wait(held);
  tutti_status status = tt_request_finish(request, timeout_ns, held);
  tt_progress_end_wait(held);
  return status;
}

tutti_status tutti_wait(tutti_request **request) { return wait_for(request, 0, "tutti_wait"); }

tutti_status tutti_wait_for(tutti_request **request, int64_t timeout_ns) {
  if (timeout_ns <= 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_wait_for: timeout_ns is %" PRId64, timeout_ns);
  return wait_for(request, timeout_ns, "tutti_wait_for");
}

tutti_status tutti_context_set_interrupted(tutti_context *context, int (*interrupted)(void *user), void *user) {
  if (!context)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_set_interrupted: context is NULL");
  TT_HOLD(context);
  context->interrupted.call = interrupted;
  context->interrupted.user = user;
  return TUTTI_OK;
}

tutti_status tutti_context_progress(tutti_context *context) {
  if (!context)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_progress: context is NULL");
  if (tt_context_is_copy(context))
    return tt_fork_refuse(context, "tutti_context_progress");
  return context->progress ? TUTTI_OK : tt_progress_start(context, tt_request_tend);
}

tutti_status tutti_request_notify(tutti_request *request, void (*done)(void *user), void *user) {
  if (!request || !done)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_request_notify: %s is NULL", request ? "done" : "request");
  if (request->comm && tt_context_is_copy(request->comm->context))
    return tt_fork_refuse(request->comm->context, "tutti_request_notify");
  TT_HOLD(request->comm ? request->comm->context : NULL);
  request->notify = done;
  request->notify_user = user;
  if (is_running(request))
    tt_progress_call(request->comm->context);
  else
    tt_request_tell(request);
  return TUTTI_OK;
}

void tutti_request_destroy(tutti_request *request) {
  if (request && request->comm && tt_context_is_copy(request->comm->context))
    return;
  TT_HOLD(request && request->comm ? request->comm->context : NULL);
  if (request && !is_running(request))
    tt_request_give_back(request);
}
