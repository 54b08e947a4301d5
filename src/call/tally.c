/* call/tally.c - what goes by each medium on a communicator, beside what was foreseen of its calls. */
#include "call/call.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tt_tally {
  bool shared; /* buffers are memory of tutti_alloc */
  tt_sent before[TT_MEDIUM_COUNT];
  tt_sent_range foreseen[TT_MEDIUM_COUNT];
};

tutti_status tt_comm_tally(tutti_comm *comm, bool shared) {
  TT_HOLD(comm->context);
  tutti_status status = tt_agree_prepare(comm);
  if (status != TUTTI_OK)
    return status;
  if (!comm->calls.tally && !(comm->calls.tally = malloc(sizeof *comm->calls.tally)))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to count sent data");
  *comm->calls.tally = (tt_tally){.shared = shared};
  tt_stream_table_sent(comm->streams, comm->calls.tally->before);
  return TUTTI_OK;
}

void tt_comm_tallied(const tutti_comm *comm, tt_sent *sent, tt_sent_range *foreseen) {
  TT_HOLD(comm->context);
  tt_stream_table_sent(comm->streams, sent);
  for (int n = 0; n < TT_MEDIUM_COUNT; n++) {
    const tt_sent *before = &comm->calls.tally->before[n];
    sent[n].messages -= before->messages;
    sent[n].bytes -= before->bytes;
    sent[n].slots -= before->slots;
    sent[n].carried -= before->carried;
  }
  memcpy(foreseen, comm->calls.tally->foreseen, sizeof comm->calls.tally->foreseen);
}

tutti_status tt_tally_foresee(tutti_comm *comm, const tt_bound *bound) {
  const tt_bound_plan *plan = bound->entry->by_class[bound->blocks];
  size_t count = (size_t)plan->list->lane_count * TT_MEDIUM_COUNT;
  tt_sent_range *by_lane = calloc(count + 1, sizeof *by_lane);
  if (!by_lane)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to forecast sent data");
  tt_forecast_facts facts = tt_stream_table_facts(comm->streams);
  bool users = bound->said.collective != TT_BARRIER; /* its block is the communicator's */
  facts.shared[TT_IN] = comm->calls.tally->shared && users && !bound->copies;
  facts.shared[TT_OUT] = comm->calls.tally->shared && users;
  tutti_status status = tt_forecast(plan, &bound->run, &facts, by_lane);
  for (size_t n = 0; n < count && status == TUTTI_OK; n++)
    tt_sent_range_add(&comm->calls.tally->foreseen[n % TT_MEDIUM_COUNT], &by_lane[n]);
  free(by_lane);
  return status;
}

tutti_status tt_comm_watch(tutti_comm *comm, tt_spent *spent) {
  TT_HOLD(comm->context);
  tutti_status status = tt_agree_prepare(comm);
  if (status == TUTTI_OK)
    tt_stream_table_watch(comm->streams, spent);
  return status;
}
