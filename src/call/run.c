/* call/run.c - a blocking call that was not made before, or was made otherwise. */
#include "call/call.h"

tutti_status tt_call_run(tutti_comm *comm, const tt_call *call, const tt_places *places) {
  tt_bound *bound;
  tutti_status status = tt_request_drain(comm);
  if (status == TUTTI_OK)
    status = (call->lists ? tt_listed_keep : tt_comm_bind)(comm, call, places, &bound);
  return status == TUTTI_OK ? tt_operation_run(comm, call, bound) : status;
}
