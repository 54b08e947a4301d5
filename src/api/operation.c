/* api/operation.c - one call on its way: started, stepped, finished. Errors that concern everyone break the communicator. */
#include "api/api.h"

tutti_status tt_operation_start(tutti_comm *comm, const tt_call *call, const tt_bound *bound, tt_operation *operation) {
  tt_run run = bound->run;
  run.in = call->in;
  run.out = call->out;
  run.call = operation->number;
  operation->bound = bound;
  tt_agree_publish(comm, operation->number, bound);
  tutti_status status =
      bound->direct ? tt_direct_start(bound->entry->direct, &run) : tt_instance_start(bound->entry->instance, &run);
  return status == TUTTI_OK ? TUTTI_OK : tt_agree_break(comm, status, "%s", tutti_last_error());
}

tutti_status tt_operation_step(tutti_comm *comm, const tt_operation *operation, bool *done, bool *moved) {
  const tt_entry *entry = operation->bound->entry;
  int64_t peer = -1;
  tutti_status status = operation->bound->direct ? tt_direct_step(entry->direct, done, moved, &peer)
                                                 : tt_instance_step(entry->instance, done, moved, &peer);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  if (status == TUTTI_ERR_MISMATCH)
    return tt_agree_mismatch(comm, operation->number, peer);
  return tt_agree_break(comm, status, "%s", tutti_last_error());
}

tutti_status tt_operation_finish(tutti_comm *comm, const tt_operation *operation) {
  tt_waiter waiter = {0};
  for (;;) {
    bool done = false, moved = false;
    tutti_status status = tt_operation_step(comm, operation, &done, &moved);
    if (status != TUTTI_OK || done)
      return status;
    if (moved)
      waiter = (tt_waiter){0};
    else if ((status = tt_wait_pause(comm, operation->number, &waiter)) != TUTTI_OK)
      return status;
  }
}
