/* call/exchange.c - the allgathers by which communicators and graphs are made: with parameters of their own, and
 * bounded by the time that creation may take. */
#include "call/call.h"

#include <inttypes.h>
#include <stdlib.h>

/* The one of the last time, or another. */
static tutti_status bind(tutti_comm *comm, const tt_call *call, const tt_places *places) {
  if (comm->calls.creation && comm->calls.creation->said.count == call->count)
    return TUTTI_OK;
  if (!comm->calls.creation && !(comm->calls.creation = calloc(1, sizeof *comm->calls.creation)))
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a call", comm->rank);
  tutti_status status = tt_bound_make(comm, call, places, NULL, comm->calls.creation);
  if (status != TUTTI_OK)
    comm->calls.creation->said.count = -1;
  return status;
}

tutti_status tt_comm_exchange(tutti_comm *comm, const int64_t *mine, int64_t *all, int64_t count) {
  tt_call call = {.in = mine, .out = all, .count = count, .collective = TT_ALLGATHER, .type = TUTTI_INT64};
  tt_places places;
  tutti_status status = tt_call_check(comm, &call, &places);
  comm->calls.creates = true;
  if (status == TUTTI_OK)
    status = tt_request_drain(comm);
  if (status == TUTTI_OK)
    status = bind(comm, &call, &places);
  if (status == TUTTI_OK)
    status = tt_operation_run(comm, &call, comm->calls.creation);
  comm->calls.creates = false;
  return status;
}

tutti_status tt_comm_exchangev(tutti_comm *comm, const int64_t *mine, int64_t *all, const int64_t *counts) {
  const tt_lists lists = {.side = {{0}, {.count = counts}}};
  tt_call call = {.in = mine, .out = all, .collective = TT_ALLGATHERV, .type = TUTTI_INT64, .lists = &lists};
  tt_places places;
  tt_bound bound;
  tt_words words = {0};
  tutti_status status = tt_call_check(comm, &call, &places);
  comm->calls.creates = true;
  if (status == TUTTI_OK)
    status = tt_request_drain(comm);
  if (status == TUTTI_OK)
    status = tt_bound_make(comm, &call, &places, &words, &bound);
  if (status == TUTTI_OK)
    status = tt_operation_run(comm, &call, &bound);
  comm->calls.creates = false;
  free(words.word);
  return status;
}
