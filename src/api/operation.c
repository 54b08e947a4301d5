/* api/operation.c - one call on its way: started, stepped, finished. Errors that concern everyone break the
 * communicator. */
#include "api/api.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The executor's error becomes everyone's, with the cause as all ranks together know it. peer: job rank that it names,
 * or -1. */
static tutti_status fail(tutti_comm *comm, const tt_operation *operation, tutti_status status, int64_t peer) {
  tutti_status known = TUTTI_OK;
  if (status == TUTTI_ERR_MISMATCH)
    return tt_agree_mismatch(comm, operation->number, peer);
  if (status == TUTTI_ERR_PEER)
    known = tt_agree_lost(comm, operation->number, peer);
  if (known != TUTTI_OK)
    return known;
  if (*tutti_last_error())
    return tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, tutti_last_error());
  if (peer >= 0)
    return tt_agree_break(comm, status, "rank %" PRId64 ": rank %" PRId64 " of the job is lost", comm->rank, peer);
  return tt_agree_break(comm, status, "rank %" PRId64 ": transport %s returned %s", comm->rank,
                        comm->context->ops->name, tutti_status_name(status));
}

/* What `out` replaces is read from a copy. */
static tutti_status copy_input(tutti_comm *comm, tt_bound *bound, const char *in) {
  int64_t begin = bound->places.begin[TT_IN];
  size_t bytes = (size_t)(bound->places.end[TT_IN] - begin);
  if (bytes > comm->copy_bytes) {
    free(comm->copy);
    comm->copy = malloc(bytes);
    comm->copy_bytes = comm->copy ? bytes : 0;
    if (!comm->copy)
      return tt_fail(TUTTI_ERR_MEMORY, "no memory to copy %zu bytes of input", bytes);
  }
  memcpy(comm->copy, in + begin, bytes);
  bound->run.in = (const void *)((uintptr_t)comm->copy - (uintptr_t)begin);
  return TUTTI_OK;
}

static tutti_status start(tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  tutti_status status = bound->copies ? copy_input(comm, bound, call->in) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  return bound->direct ? tt_direct_start(bound->entry->direct, &bound->run)
                       : tt_instance_start(bound->entry->instance, &bound->run);
}

tutti_status tt_operation_start(tutti_comm *comm, const tt_call *call, tt_operation *operation) {
  tt_bound *bound = operation->bound;
  tt_run *run = &bound->run;
  run->in = call->in;
  run->out = call->out;
  run->call = operation->number;
  run->key = operation->key;
  comm->last_params = bound->entry->runs;
  if (comm->context->foreign) /* a user's transport leaves no text: an older one must not stand for it */
    tt_fail_clear();
  if (!bound->direct)
    tt_agree_publish(comm, operation->number, bound);
  tutti_status status = start(comm, call, bound);
  if (bound->direct) /* while others' data is on its way; whoever finds a difference waits for the record */
    tt_agree_publish(comm, operation->number, bound);
  return status == TUTTI_OK ? TUTTI_OK : fail(comm, operation, status, -1);
}

tutti_status tt_operation_step(tutti_comm *comm, const tt_operation *operation, bool *done, bool *moved) {
  const tt_entry *entry = operation->bound->entry;
  int64_t peer = -1;
  tutti_status status = operation->bound->direct ? tt_direct_step(entry->direct, done, moved, &peer)
                                                 : tt_instance_step(entry->instance, done, moved, &peer);
  return status == TUTTI_OK ? TUTTI_OK : fail(comm, operation, status, peer);
}

/* Who has left the call with an error may already write to what this rank has read in place. */
static tutti_status end(tutti_comm *comm, const tt_operation *operation) {
  const tt_bound *bound = operation->bound;
  if (bound->direct && !tt_direct_has_rest(bound->entry->direct)) /* cells are not written before the next call */
    return TUTTI_OK;
  __atomic_thread_fence(__ATOMIC_ACQUIRE); /* first the reading, then the look */
  return tt_agree_poisoned(comm) ? tt_agree_verdict(comm) : TUTTI_OK;
}

/* What a rank has put into its cells before it died or left is the others': where one is through, all come through. */
static bool is_whole(tutti_comm *comm, const tt_operation *operation, tutti_status status) {
  const tt_bound *bound = operation->bound;
  bool done = false, moved = false;
  return status != TUTTI_ERR_MISMATCH && bound->direct && !tt_direct_has_rest(bound->entry->direct) &&
         tt_operation_step(comm, operation, &done, &moved) == TUTTI_OK && done;
}

tutti_status tt_operation_finish(tutti_comm *comm, const tt_operation *operation) {
  tt_waiter waiter = {0};
  for (;;) {
    bool done = false, moved = false;
    tutti_status status = tt_operation_step(comm, operation, &done, &moved);
    if (status != TUTTI_OK || done)
      return status == TUTTI_OK ? end(comm, operation) : status;
    if (!moved && comm->context->outstanding > 0) /* others may wait for these before they come here */
      tt_request_progress(comm->context, &moved);
    if (moved)
      waiter = (tt_waiter){0};
    else if ((status = tt_wait_pause(comm, operation, &waiter)) != TUTTI_OK)
      return is_whole(comm, operation, status) ? TUTTI_OK : status;
  }
}

tutti_status tt_operation_run(tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  tt_operation operation = {.bound = bound};
  tt_operation_number(comm, bound, &operation);
  tutti_status status = tt_operation_start(comm, call, &operation);
  if (status != TUTTI_OK)
    return status;
  if (bound->direct) { /* mostly it is done at once */
    bool done = false, moved = false;
    status = tt_operation_step(comm, &operation, &done, &moved);
    if (status != TUTTI_OK || done)
      return status == TUTTI_OK ? end(comm, &operation) : status;
  }
  return tt_operation_finish(comm, &operation);
}
