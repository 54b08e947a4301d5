/* api/side.c - side communicators: what a persistent request has for itself.
 *
 * Ranks make the persistent requests of a communicator in one order and start them in any. So the starts of each are
 * a sequence of their own: numbers, keys and records, streams and cells, a queue of one. The ids of the latter follow
 * from how many requests were made before, so that nobody has to be asked. Plans are the communicator's, and so are
 * verdicts: an error of one request breaks the communicator.
 *
 * All starts of a request are alike: one record a rank says what they are, and how many there were. The first is there
 * as soon as the request is made. Since that has its place in the communicator's order, later calls there differ too
 * where ranks have made different ones. */
#include "api/record.h"

#include <inttypes.h>
#include <stdlib.h>

/* A communicator has 2^32 ids. The first 2^27 are those of lanes (lower/sequence.c), the last few those of its cells
 * and notes; side communicators share what is in between, 2^16 each. */
enum { FIRST = 1 << 11, COUNT = 0xffff - FIRST, MOST_LANES = 0xff00 };

/* ---- its place ---- */

static bool is_taken(const tutti_comm *comm, uint64_t place) {
  const tutti_comm *side = comm->sides;
  while (side && side->side != place)
    side = side->next_side;
  return side != NULL;
}

/* Places are used again when all have been. A request that has one still has it on all ranks. False: they all are. */
static bool take_place(tutti_comm *side) {
  tutti_comm *comm = side->main;
  for (int64_t n = 0; n < COUNT; n++) {
    uint64_t place = FIRST + comm->last_side++ % COUNT;
    if (comm->last_side <= COUNT || !is_taken(comm, place)) {
      side->side = place;
      return true;
    }
  }
  return false;
}

tutti_comm *tt_side_find(const tutti_comm *comm, uint64_t init) {
  tutti_comm *side = comm->sides;
  while (side && side->init != init)
    side = side->next_side;
  return side;
}

/* ---- made ---- */

static tutti_status open_records(tutti_comm *side) {
  if (!side->board)
    return TUTTI_OK;
  tt_record_words **record = calloc((size_t)side->size, sizeof *record);
  tutti_status status = record ? tt_comm_open_cells(side, 0, sizeof **record, (void **)record)
                               : tt_fail(TUTTI_ERR_MEMORY, "no memory for records of %" PRId64 " ranks", side->size);
  if (status == TUTTI_OK)
    side->record = record;
  else
    free(record);
  return status;
}

/* The communicator's plan; an executor of this one's will be with it. */
static tutti_status borrow_plan(tutti_comm *side, tt_bound *bound) {
  tt_entry *entry = malloc(sizeof *entry);
  if (!entry)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a persistent request");
  *entry = *bound->entry;
  entry->instance = NULL;
  entry->direct = NULL;
  entry->next = NULL;
  entry->epoch = side->epoch;
  side->entries = bound->entry = entry;
  return TUTTI_OK;
}

static tutti_comm *create(tutti_comm *comm) {
  tutti_comm *made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->main = comm;
  made->context = comm->context;
  made->ops = comm->ops;
  made->transport = comm->transport;
  made->id = comm->id;
  made->rank = comm->rank;
  made->size = comm->size;
  made->job_rank = comm->job_rank;
  made->board = comm->board;
  made->neighbour = comm->neighbour;
  made->far = comm->far;
  made->apart = comm->apart;
  made->head = comm->head;
  made->crowded = comm->crowded;
  made->next_side = comm->sides;
  comm->sides = made;
  return made;
}

static tutti_status open_side(tutti_comm *side, tt_bound *bound) {
  if (!take_place(side))
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "a communicator has at most %d persistent requests at a time", COUNT);
  tutti_status status = open_records(side);
  if (status == TUTTI_OK)
    status = tt_comm_open_link(side);
  if (status == TUTTI_OK)
    status = borrow_plan(side, bound);
  return status == TUTTI_OK ? tt_bound_make_executor(side, bound) : status;
}

/* Tells the others what is made, as call 1 of its own, and mixes it into the communicator's keys. */
static void announce(tutti_request *request) {
  tutti_comm *comm = request->comm;
  tt_operation making;
  comm->made = tt_hash(comm->made, &request->bound.key, sizeof request->bound.key);
  tt_operation_number(request->side, &request->bound, &making);
  tt_agree_publish(request->side, making.number, &request->bound);
}

/* Found on all ranks alike, since lanes are numbered by the parameters. */
static tutti_status check_lanes(const tt_plan *plan) {
  for (uint32_t n = 0; n < plan->lane_count; n++)
    if (plan->lane[n].id >= MOST_LANES)
      return tt_fail(TUTTI_ERR_PLAN, "parameters with channel %d: a persistent request has at most 31",
                     plan->lane[n].channel);
  return TUTTI_OK;
}

tutti_status tt_side_make(tutti_request *request) {
  tutti_comm *comm = request->comm;
  tutti_status status = check_lanes(request->bound.entry->plan);
  if (status != TUTTI_OK)
    return status;
  tutti_comm *side = create(comm);
  if (!side)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a persistent request", comm->rank);
  side->init = ++comm->inits;
  const uint64_t facts[] = {request->bound.key, side->init};
  request->bound.key = tt_hash(3, facts, sizeof facts);
  status = open_side(side, &request->bound);
  if (status != TUTTI_OK) {
    tt_side_close(side);
    return tt_agree_break(comm, status, "rank %" PRId64 ": %s", comm->rank, tutti_last_error());
  }
  request->side = side;
  announce(request);
  return TUTTI_OK;
}

/* ---- its end ---- */

static void unlink_side(tutti_comm *side) {
  tutti_comm **at = &side->main->sides;
  while (*at != side)
    at = &(*at)->next_side;
  *at = side->next_side;
  for (at = &side->context->running; *at && *at != side;)
    at = &(*at)->next_running;
  if (*at)
    *at = side->next_running;
}

static void close_records(tutti_comm *side) {
  side->ops->cells_close(side->transport, tt_comm_base(side));
  for (int64_t r = 0; r < side->size; r++)
    if (side->far[r])
      free(side->record[r]);
  free(side->record);
}

void tt_side_close(tutti_comm *side) {
  if (!side)
    return;
  unlink_side(side);
  if (side->entries) {
    tt_direct_destroy(side->entries->direct);
    tt_instance_destroy(side->entries->instance);
    free(side->entries);
  }
  tt_link_destroy(side->link);
  if (side->record)
    close_records(side);
  free(side->copy);
  free(side);
}

void tt_side_end(tutti_comm *side) {
  if (side && tt_agree_leave(side) == TUTTI_ERR_MISMATCH) /* there may be no call to say so */
    tt_log(TT_LOG_ERROR, "a persistent request ends with an error: %s", tutti_last_error());
  tt_side_close(side);
}
