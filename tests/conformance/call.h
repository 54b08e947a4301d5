/* tests/conformance/call.h - one call of the public API on one rank: buffers, the call in its three modes, the check.
 *
 *     call_lay    where buffers lie, between guards; call_fill: inputs
 *     call_begin  starts it (a blocking one is then complete); call_end: waits
 *     call_right  compares all of the memory, guards and inputs too, with what it has to be now
 *
 *     region 0   guard | in ..................... | guard      in place: all in the region of the larger buffer
 *     region 1   guard | out .................... | guard */
#ifndef TEST_CONFORMANCE_CALL_H
#define TEST_CONFORMANCE_CALL_H

#include "compose/compose.h"
#include "support/elements.h"

#include <tutti/tutti.h>

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALL_GUARD = 128, CALL_PERIOD = 1021, CALL_BARRIERS = 64 };

typedef enum call_mode { CALL_BLOCK, CALL_START, CALL_INIT, CALL_MODE_COUNT } call_mode;
typedef enum call_places {
  CALL_APART,
  CALL_IN_PLACE,
  CALL_MIXED,
  CALL_PLACES_COUNT
} call_places; /* mixed: odd ranks */

/* What all ranks agree on, and, for the messages of the test, the parameters it runs with. */
typedef struct call {
  tt_collective collective;
  tutti_type type;
  tutti_op op;
  int64_t count, root;
  call_mode mode;
  call_places places;
  char params[128]; /* "": the profile's choice */
} call;

/* Barriers that each rank has entered: memory that all ranks of the communicator share. */
typedef struct call_barriers {
  _Atomic int64_t entered[CALL_BARRIERS];
} call_barriers;

typedef struct call_place {
  int region;
  size_t offset;
} call_place;

typedef struct call_side { /* a call on one rank */
  call of;
  int64_t rank, size, round;
  unsigned char *region[2];
  size_t bytes[2]; /* of regions */
  bool shared;     /* they are from tutti_alloc */
  call_place in, out;
  call_barriers *barriers; /* NULL: barriers are not checked */
  int64_t ticket;
  tutti_request *request;
} call_side;

/* ---- buffers ---- */

static inline bool call_in_place(const call_side *side) {
  bool reads = side->of.collective != TT_BROADCAST || side->rank == side->of.root;
  return reads && (side->of.places == CALL_IN_PLACE || (side->of.places == CALL_MIXED && side->rank % 2 == 1));
}

static inline size_t call_block_bytes(const call *of) { return (size_t)of->count * tutti_type_size(of->type); }

static inline size_t call_in_bytes(const call *of, int64_t size) {
  return call_block_bytes(of) * (of->collective == TT_REDUCE_SCATTER ? (size_t)size : 1);
}

static inline size_t call_out_bytes(const call *of, int64_t size) {
  return call_block_bytes(of) * (of->collective == TT_ALLGATHER ? (size_t)size : 1);
}

/* What a region needs at most. */
static inline size_t call_region_bytes(const call *of, int64_t size) {
  return call_block_bytes(of) * (size_t)size + 2 * CALL_GUARD;
}

/* `shift`: buffers begin so many elements behind their guards. */
static inline void call_lay(call_side *side, unsigned char *first, unsigned char *second, size_t shift) {
  const call *of = &side->of;
  size_t in = call_in_bytes(of, side->size), out = call_out_bytes(of, side->size);
  size_t at = CALL_GUARD / 2 + shift % 8 * tutti_type_size(of->type), own = call_block_bytes(of) * (size_t)side->rank;
  side->region[0] = first;
  side->region[1] = second;
  side->bytes[0] = in + 2 * CALL_GUARD;
  side->bytes[1] = out + 2 * CALL_GUARD;
  side->in = (call_place){0, at};
  side->out = (call_place){1, at};
  if (call_in_place(side) && of->collective == TT_ALLGATHER)
    side->in = (call_place){1, at + own};
  else if (call_in_place(side))
    side->out = (call_place){0, of->collective == TT_REDUCE_SCATTER ? at + own : at};
}

/* count elements of `code`, which repeats, from its element `first` on. */
static inline void call_spread(const call *of, unsigned char *to, const unsigned char *code, int64_t first,
                               int64_t count) {
  size_t size = tutti_type_size(of->type);
  for (int64_t done = 0; done < count;) {
    int64_t from = (first + done) % CALL_PERIOD;
    int64_t run = CALL_PERIOD - from < count - done ? CALL_PERIOD - from : count - done;
    memcpy(to + (size_t)done * size, code + (size_t)from * size, (size_t)run * size);
    done += run;
  }
}

/* Elements of rank's input, or of the result where rank < 0. */
static inline void call_write(const call_side *side, int64_t rank, unsigned char *to, int64_t first, int64_t count) {
  unsigned char code[CALL_PERIOD * sizeof(double)];
  const call *of = &side->of;
  for (int64_t n = 0; n < CALL_PERIOD && n < first + count; n++)
    element_put(of->type, code + (size_t)n * tutti_type_size(of->type),
                rank < 0 ? element_combined(of->type, of->op, side->size, n, side->round)
                         : element_value(of->type, of->op, rank, n, side->round));
  call_spread(of, to, code, first, count);
}

static inline void call_write_result(const call_side *side, unsigned char *out) {
  const call *of = &side->of;
  if (of->collective == TT_ALLREDUCE)
    call_write(side, -1, out, 0, of->count);
  else if (of->collective == TT_BROADCAST)
    call_write(side, of->root, out, 0, of->count);
  else if (of->collective == TT_REDUCE_SCATTER)
    call_write(side, -1, out, side->rank * of->count, of->count);
  for (int64_t r = 0; of->collective == TT_ALLGATHER && r < side->size; r++)
    call_write(side, r, out + (size_t)r * call_block_bytes(of), 0, of->count);
}

/* All memory of the call as it has to be, before it or after. */
static inline void call_paint(const call_side *side, unsigned char *const region[2], bool after) {
  const call *of = &side->of;
  if (of->collective == TT_BARRIER)
    return;
  for (int n = 0; n < 2; n++)
    memset(region[n], 0x5a, side->bytes[n]);
  call_write(side, side->rank, region[side->in.region] + side->in.offset, 0,
             of->collective == TT_REDUCE_SCATTER ? of->count * side->size : of->count);
  if (after)
    call_write_result(side, region[side->out.region] + side->out.offset);
}

static inline void call_fill(call_side *side, int64_t round) {
  side->round = round;
  call_paint(side, side->region, false);
}

/* ---- the call ---- */

static inline tutti_status call_block(const call *of, const void *in, void *out, tutti_comm *comm) {
  switch (of->collective) {
  case TT_ALLREDUCE:
    return tutti_allreduce(in, out, of->count, of->type, of->op, comm);
  case TT_BROADCAST:
    return tutti_broadcast(in, out, of->count, of->type, of->root, comm);
  case TT_ALLGATHER:
    return tutti_allgather(in, out, of->count, of->type, comm);
  case TT_REDUCE_SCATTER:
    return tutti_reduce_scatter(in, out, of->count, of->type, of->op, comm);
  default:
    return tutti_barrier(comm);
  }
}

static inline tutti_status call_start(const call *of, const void *in, void *out, tutti_comm *comm,
                                      tutti_request **request) {
  switch (of->collective) {
  case TT_ALLREDUCE:
    return tutti_allreduce_start(in, out, of->count, of->type, of->op, comm, request);
  case TT_BROADCAST:
    return tutti_broadcast_start(in, out, of->count, of->type, of->root, comm, request);
  case TT_ALLGATHER:
    return tutti_allgather_start(in, out, of->count, of->type, comm, request);
  case TT_REDUCE_SCATTER:
    return tutti_reduce_scatter_start(in, out, of->count, of->type, of->op, comm, request);
  default:
    return tutti_barrier_start(comm, request);
  }
}

static inline tutti_status call_init(const call *of, const void *in, void *out, tutti_comm *comm,
                                     tutti_request **request) {
  switch (of->collective) {
  case TT_ALLREDUCE:
    return tutti_allreduce_init(in, out, of->count, of->type, of->op, comm, request);
  case TT_BROADCAST:
    return tutti_broadcast_init(in, out, of->count, of->type, of->root, comm, request);
  case TT_ALLGATHER:
    return tutti_allgather_init(in, out, of->count, of->type, comm, request);
  case TT_REDUCE_SCATTER:
    return tutti_reduce_scatter_init(in, out, of->count, of->type, of->op, comm, request);
  default:
    return tutti_barrier_init(comm, request);
  }
}

/* Enters the call. A persistent request is made at the first time and started at each. */
static inline tutti_status call_begin(call_side *side, tutti_comm *comm) {
  bool reads = side->of.collective != TT_BROADCAST || side->rank == side->of.root;
  const void *in = reads ? side->region[side->in.region] + side->in.offset : NULL;
  void *out = side->region[side->out.region] + side->out.offset;
  if (side->of.collective == TT_BARRIER && side->barriers)
    side->ticket = 1 + atomic_fetch_add_explicit(&side->barriers->entered[side->rank], 1, memory_order_relaxed);
  if (side->of.mode == CALL_BLOCK)
    return call_block(&side->of, in, out, comm);
  if (side->of.mode == CALL_START)
    return call_start(&side->of, in, out, comm, &side->request);
  tutti_status status = side->request ? TUTTI_OK : call_init(&side->of, in, out, comm, &side->request);
  return status == TUTTI_OK ? tutti_request_start(side->request) : status;
}

static inline tutti_status call_end(call_side *side) {
  return side->of.mode == CALL_BLOCK ? TUTTI_OK : tutti_wait(&side->request);
}

static inline void call_finish(call_side *side) {
  if (side->of.mode == CALL_INIT)
    tutti_request_destroy(side->request);
  side->request = NULL;
}

/* ---- the check ---- */

static inline void call_describe(const call_side *side, const char *what, size_t at) {
  const call *of = &side->of;
  static const char *const modes[] = {"blocking", "non-blocking", "persistent"};
  static const char *const places[] = {"", " in place", " odd ranks in place"};
  fprintf(stderr,
          "%s %s %s count %" PRId64 " root %" PRId64 "%s %s, params %s, round %" PRId64 ": rank %" PRId64 " of %" PRId64
          ": %s %zu\n",
          tt_compose_info(of->collective).name, tutti_type_name(of->type), tutti_op_name(of->op), of->count, of->root,
          places[of->places], modes[of->mode], *of->params ? of->params : "by profile", side->round, side->rank,
          side->size, what, at);
}

static inline bool call_barrier_right(const call_side *side) {
  for (int64_t r = 0; side->barriers && r < side->size; r++)
    if (atomic_load_explicit(&side->barriers->entered[r], memory_order_relaxed) < side->ticket) {
      call_describe(side, "returned before rank", (size_t)r);
      return false;
    }
  return true;
}

static inline bool call_region_right(const call_side *side, int region, const unsigned char *wanted) {
  size_t at = 0;
  if (memcmp(side->region[region], wanted, side->bytes[region]) == 0)
    return true;
  while (side->region[region][at] == wanted[at])
    at++;
  call_describe(side, region == side->out.region ? "wrong at byte of out's region" : "wrong at byte of in's region",
                at);
  return false;
}

/* scratch: as large as both regions. */
static inline bool call_right(const call_side *side, unsigned char *scratch) {
  unsigned char *const wanted[2] = {scratch, scratch + side->bytes[0]};
  if (side->of.collective == TT_BARRIER)
    return call_barrier_right(side);
  call_paint(side, wanted, true);
  return call_region_right(side, 0, wanted[0]) && call_region_right(side, 1, wanted[1]);
}

#endif
