/* call/side.c - side communicators: what a persistent request has for itself.
 *
 * Ranks make the persistent requests of a communicator in one order and start them in any. So the starts of each are
 * a sequence of their own: numbers, keys and records, streams and cells, a queue of one. The ids of the latter follow
 * from how many requests were made before, so that nobody has to be asked. Plans are the communicator's, and so are
 * verdicts: an error of one request breaks the communicator.
 *
 * All starts of a request are alike: one record a rank says what they are, and how many there were. The first is there
 * as soon as the request is made. Since that has its place in the communicator's order, later calls there differ too
 * where ranks have made different ones. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Ids are 64 bits, and a side communicator has 2^16 of them. The upper half of a communicator's own is its number; of
 * the lower half the first 2^27 are those of its lanes (lower/sequence.c), the next 2^30 those of its later epochs
 * (comm.c), the last 2^19 those of its cells and notes.
 *
 *     native   what is left of that, but for 2^15 places: for the first requests of the communicator
 *     common   2^15 places under each of the 2^32 numbers, used or not: 2^47 for all further requests of all
 *              communicators, told apart by the communicator's number, which is written in few bits where it is small
 *              or, as those of MPI's are, little more than 2^30. Those count from there:
 *              1 bit: it counts so | 5 bits: its length less 1 | the number without its first 1 | the rest: which
 *              request it is
 *
 * So no two requests have the same ids before a communicator has made 2^41 of them if its number is 1, 2^26 if that has
 * 16 bits, 15,000 if it has 32. Then ids are used again: see check_place. */
enum {
  UNIT = 16,       /* bits */
  NATIVE = 0x4800, /* the first place, in units */
  COMMON = TT_COMMON_IDS >> UNIT,
  NATIVES = COMMON - NATIVE,
  COMMON_BITS = 15,
  NUMBER_BITS = 47 - 6, /* of number and request */
  HIGH = 1 << 30,
  MOST_LANES = 0xff00,
  LANE_BITS = 11, /* of a channel's lanes: lower/sequence.c */
  MOST_CHANNELS = MOST_LANES >> LANE_BITS
};

/* ---- its place ---- */

static int length_of(uint64_t number) { return 64 - __builtin_clzll(number); }

_Static_assert(NATIVE == (1 << (27 - UNIT)) + (1 << (30 - UNIT)), "ids of lanes and epochs come before");
_Static_assert(COMMON + (1 << COMMON_BITS) == (1 << (32 - UNIT)) - (TT_LAST_IDS >> UNIT),
               "ids of cells and notes follow");
_Static_assert(TT_SIDE_IDS == 1 << UNIT && MOST_LANES < TT_SIDE_IDS, "lanes leave room for cells");

/* From 1 on, among those of its kind. */
static uint64_t counted(uint64_t number) { return number < HIGH ? number : number - HIGH + 1; }

uint64_t tt_side_places(uint64_t number) {
  return NATIVES + (UINT64_C(1) << (NUMBER_BITS + 1 - length_of(counted(number))));
}

uint64_t tt_side_base(uint64_t number, uint64_t init) {
  assert(number > 0 && number <= UINT32_MAX && init > 0);
  uint64_t place = (init - 1) % tt_side_places(number);
  if (place < NATIVES)
    return number << 32 | (NATIVE + place) << UNIT;
  int length = length_of(counted(number)), bits = NUMBER_BITS + 1 - length;
  uint64_t rest = counted(number) ^ UINT64_C(1) << (length - 1), kind = number >= HIGH;
  place = kind << (NUMBER_BITS + 5) | (uint64_t)(length - 1) << NUMBER_BITS | rest << bits | (place - NATIVES);
  return place >> COMMON_BITS << 32 | (COMMON + (place & ((1 << COMMON_BITS) - 1))) << UNIT;
}

/* Places follow from numbers alone, so that nobody has to be asked: a request may be in the way of one that is made
 * very much later. Where all still have it they all find so. */
static tutti_status check_place(const tutti_comm *side) {
  uint64_t places = tt_side_places(side->id);
  for (const tutti_comm *old = side->side.init > places ? side->side.next : NULL; old; old = old->side.next)
    if ((side->side.init - old->side.init) % places == 0)
      return tt_fail(TUTTI_ERR_UNSUPPORTED,
                     "persistent request %" PRIu64 " still exists when request %" PRIu64
                     " is made; on communicator %" PRIu64 " a request may outlive %" PRIu64 " others; destroy it first",
                     old->side.init, side->side.init, side->id, places - 1);
  return TUTTI_OK;
}

/* ---- made ---- */

static tutti_status open_records(tutti_comm *side) {
  if (!side->agree.board)
    return TUTTI_OK;
  tt_record **record = calloc((size_t)side->size, sizeof *record);
  tutti_status status = record ? tt_comm_open_cells(side, 0, sizeof **record, (void **)record)
                               : tt_fail(TUTTI_ERR_MEMORY, "no memory for records of %" PRId64 " ranks", side->size);
  if (status == TUTTI_OK)
    side->agree.record = record;
  else
    free(record);
  return status;
}

/* The communicator's plan; an executor of this one's will be with it. */
static tutti_status borrow_plan(tutti_comm *side, tt_bound *bound) {
  tt_entry *entry = malloc(sizeof *entry);
  assert(!side->calls.entries);
  if (!entry)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a persistent request");
  *entry = *bound->entry;
  memset(entry->executor, 0, sizeof entry->executor);
  entry->next = NULL;
  entry->epoch = side->refused.epoch;
  side->calls.entries = bound->entry = entry;
  return TUTTI_OK;
}

static tutti_comm *create(tutti_comm *comm) {
  assert(!comm->side.main && comm->id > 0); /* the hidden one, 0, has no requests */
  tutti_comm *made = calloc(1, sizeof *made);
  if (!made)
    return NULL;
  made->side.main = comm;
  made->context = comm->context;
  made->ops = comm->ops;
  made->transport = comm->transport;
  made->id = comm->id;
  made->rank = comm->rank;
  made->size = comm->size;
  made->job_rank = comm->job_rank;
  made->agree.board = comm->agree.board;
  made->far = comm->far;
  made->apart = comm->apart;
  made->head = comm->head;
  made->wait.crowded = comm->wait.crowded;
  made->side.next = comm->persistent.sides;
  if (comm->persistent.sides)
    comm->persistent.sides->side.before = made;
  comm->persistent.sides = made;
  return made;
}

static tutti_status open_side(tutti_comm *side, tt_bound *bound) {
  tutti_status status = check_place(side);
  if (status == TUTTI_OK)
    status = open_records(side);
  if (status == TUTTI_OK)
    status = tt_comm_open_streams(side);
  if (status == TUTTI_OK)
    status = borrow_plan(side, bound);
  return status == TUTTI_OK ? tt_bound_make_executor(side, bound) : status;
}

/* Tells the others what is made, as call 1 of its own, and mixes it into the communicator's keys. */
static void announce(tutti_request *request) {
  tutti_comm *comm = request->comm;
  tt_operation making;
  comm->persistent.keys = tt_hash(comm->persistent.keys, &request->bound.said.key, sizeof request->bound.said.key);
  tt_operation_number(request->side, &request->bound, &making);
  assert(making.number == 1);
  tt_record_publish(request->side, making.number, &request->bound.said);
}

/* Found on all ranks alike: by the parameters, since a rank that takes no part has no lanes. */
static tutti_status check_channels(int64_t channels) {
  return channels <= MOST_CHANNELS
             ? TUTTI_OK
             : tt_fail(TUTTI_ERR_PLAN, "the parameters have %" PRId64 " channels; a persistent request has at most %d",
                       channels, MOST_CHANNELS);
}

tutti_status tt_side_make(tutti_request *request) {
  tutti_comm *comm = request->comm;
  tutti_status status = check_channels(request->bound.entry->channels);
  if (status != TUTTI_OK)
    return status;
  tutti_comm *side = create(comm);
  if (!side)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a persistent request", comm->rank);
  assert(!request->side);
  side->side.init = ++comm->persistent.count;
  side->side.base = tt_side_base(comm->id, side->side.init);
  const uint64_t facts[] = {request->bound.said.key, side->side.init};
  request->bound.said.key = tt_hash(3, facts, sizeof facts);
  status = open_side(side, &request->bound);
  if (status != TUTTI_OK) {
    tt_side_close(side);
    return tt_agree_break_here(comm, status);
  }
  request->side = side;
  announce(request);
  return TUTTI_OK;
}

/* ---- its end ---- */

static void unlink_side(tutti_comm *side) {
  tutti_comm **at = &side->context->running;
  if (side->side.before)
    side->side.before->side.next = side->side.next;
  else
    side->side.main->persistent.sides = side->side.next;
  if (side->side.next)
    side->side.next->side.before = side->side.before;
  while (*at && *at != side)
    at = &(*at)->side.next_running;
  if (*at)
    *at = side->side.next_running;
}

static void close_records(tutti_comm *side) {
  tt_comm_close_cells(side, 0, (void **)side->agree.record);
  free(side->agree.record);
}

void tt_side_close(tutti_comm *side) {
  if (!side)
    return;
  assert(!side->queue.head && !side->persistent.sides);
  unlink_side(side);
  if (side->calls.entries) {
    tt_executors_destroy(side->calls.entries->executor);
    free(side->calls.entries);
  }
  tt_stream_table_destroy(side->streams);
  if (side->agree.record)
    close_records(side);
  tt_operation_drop_copy(side);
  free(side);
}

void tt_side_end(tutti_comm *side) {
  if (side && tt_agree_leave(side) == TUTTI_ERR_MISMATCH) /* there may be no call to say so */
    tt_log(TT_LOG_ERROR, "a persistent request was destroyed with an error: %s", tutti_last_error());
  tt_side_close(side);
}
