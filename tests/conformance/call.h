/* tests/conformance/call.h - one call of the public API on one rank: buffers, the call in its three modes, the check.
 *
 *     call_lay    where buffers and their blocks lie, between guards; call_fill: inputs
 *     call_begin  starts it (a blocking one is then complete); call_end: waits
 *     call_right  compares all of the memory, guards, gaps and inputs too, with what it has to be now
 *
 *     region 0   guard | in: block, gap, block ..... | guard      in place: all in one of them
 *     region 1   guard | out ....................... | guard */
#ifndef TEST_CONFORMANCE_CALL_H
#define TEST_CONFORMANCE_CALL_H

#include "conformance/invoke.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

enum { CALL_GUARD = 192, CALL_PERIOD = 1021, CALL_BARRIERS = 64, CALL_GRAPHS = 4, CALL_GAPS = 8 };

/* Barriers that each rank has entered: memory that all ranks of the communicator share. */
typedef struct call_barriers {
  _Atomic int64_t entered[CALL_BARRIERS];
} call_barriers;

/* in or out of a rank: a pointer, and where blocks lie from there. */
typedef struct call_buffer {
  int region;
  size_t base; /* the pointer, in its region */
  int64_t block_count;
  call_block block[CALL_DEGREE];
  int64_t at[CALL_DEGREE];    /* bytes from base */
  int64_t begin, end;         /* of all of it, in bytes from base */
  bool packed;                /* no offsets are given */
  int64_t count[CALL_DEGREE]; /* what is passed */
  int64_t offset[CALL_DEGREE];
  tutti_type type[CALL_DEGREE];
} call_buffer;

typedef struct call_side { /* a call on one rank */
  call of;
  int64_t rank, size, round;
  unsigned char *region[2];
  size_t bytes[2]; /* of regions */
  bool shared;     /* they are from tutti_alloc */
  call_buffer in, out;
  call_barriers *barriers; /* NULL: barriers are not checked */
  int64_t ticket;
  tutti_request *request;
} call_side;

/* ---- buffers ---- */

static inline bool call_in_place(const call_side *side) {
  call_row row = call_row_of(side->of.collective);
  bool has_both = side->rank == side->of.root || !(row.in_root || row.out_root);
  bool wanted = side->of.places == CALL_IN_PLACE || (side->of.places == CALL_MIXED && side->rank % 2 == 1);
  return wanted && has_both && row.out != CALL_FROM;
}

static inline int64_t call_bytes_of(const call_block *block) {
  return block->count * (int64_t)call_type_bytes(block->type);
}

/* What a region needs at most: twice the blocks, so that one graph's neighbors fit. */
static inline size_t call_region_bytes(const call *of, int64_t size) {
  size_t block = (size_t)of->count * (call_row_of(of->collective).types ? 8 : call_type_bytes(of->type));
  return 2 * (size_t)size * (block + 64) + 4 * CALL_GUARD;
}

/* Blocks one after the other, or with gaps and in an order of this rank's own. */
static inline void call_place_blocks(const call *of, call_buffer *buffer, bool gaps, tt_random *own) {
  int64_t order[CALL_DEGREE], at = 0, unit = call_row_of(of->collective).types ? 1 : (int64_t)call_type_bytes(of->type);
  for (int64_t k = 0; k < buffer->block_count; k++)
    order[k] = k;
  for (int64_t n = buffer->block_count; gaps && n > 1; n--) {
    int64_t other = (int64_t)tt_random_below(own, (uint64_t)n), moved = order[other];
    order[other] = order[n - 1];
    order[n - 1] = moved;
  }
  buffer->begin = gaps ? -(int64_t)tt_random_below(own, CALL_GAPS) * unit : 0; /* offsets may be negative */
  at = buffer->begin;
  for (int64_t n = 0; n < buffer->block_count; n++) {
    at += gaps ? (int64_t)tt_random_below(own, 3) * unit : 0;
    buffer->at[order[n]] = at;
    at += call_bytes_of(&buffer->block[order[n]]);
  }
  buffer->end = at;
  buffer->packed = !gaps;
}

static inline void call_list_blocks(const call_side *side, call_buffer *buffer, bool in, tt_random *own) {
  call_row row = call_row_of(side->of.collective);
  call_unit unit = in ? row.in : row.out;
  int64_t offset_unit = row.types ? 1 : (int64_t)call_type_bytes(side->of.type);
  buffer->block_count = call_block_count(&side->of, side->size, side->rank, in);
  for (int64_t k = 0; k < buffer->block_count; k++)
    buffer->block[k] =
        in ? call_in_block(&side->of, side->size, side->rank, k) : call_out_block(&side->of, side->size, side->rank, k);
  bool gaps = row.lists && unit != CALL_ONE && side->of.collective != TT_REDUCE_SCATTERV && tt_random_below(own, 2);
  call_place_blocks(&side->of, buffer, gaps, own);
  for (int64_t k = 0; k < buffer->block_count; k++) {
    buffer->count[k] = buffer->block[k].count;
    buffer->offset[k] = buffer->at[k] / offset_unit;
    buffer->type[k] = buffer->block[k].type;
  }
}

static inline size_t call_before_base(const call_buffer *buffer, size_t shift) {
  return CALL_GUARD / 2 + shift + (size_t)-buffer->begin;
}

/* `shift`: buffers begin so many elements behind their guards. */
static inline void call_lay(call_side *side, unsigned char *first, unsigned char *second, size_t shift,
                            tt_random *own) {
  call_buffer *in = &side->in, *out = &side->out;
  call_row row = call_row_of(side->of.collective);
  size_t skip = shift % 8 * call_type_bytes(side->of.type);
  call_list_blocks(side, in, true, own);
  call_list_blocks(side, out, false, own);
  side->region[0] = first;
  side->region[1] = second;
  in->region = 0;
  out->region = 1;
  in->base = call_before_base(in, skip);
  out->base = call_before_base(out, skip);
  side->bytes[0] = in->base + (size_t)in->end + CALL_GUARD;
  side->bytes[1] = out->base + (size_t)out->end + CALL_GUARD;
  if (!call_in_place(side))
    return;
  in->region = out->region = row.in == CALL_RANK && row.out == CALL_ONE ? 0 : 1;
  if (row.in == CALL_ONE && row.out == CALL_RANK)
    in->base = out->base + (size_t)out->at[side->rank];
  else if (row.in == CALL_RANK && row.out == CALL_ONE)
    out->base = in->base + (size_t)in->at[side->rank];
  else {
    in->base = out->base = in->base > out->base ? in->base : out->base;
    side->bytes[1] = in->base + (size_t)(in->end > out->end ? in->end : out->end) + CALL_GUARD;
  }
}

/* ---- contents ---- */

/* count elements of `code`, which repeats, from its element `first` on. */
static inline void call_spread(size_t size, unsigned char *to, const unsigned char *code, int64_t first,
                               int64_t count) {
  for (int64_t done = 0; done < count;) {
    int64_t from = (first + done) % CALL_PERIOD;
    int64_t run = CALL_PERIOD - from < count - done ? CALL_PERIOD - from : count - done;
    memcpy(to + (size_t)done * size, code + (size_t)from * size, (size_t)run * size);
    done += run;
  }
}

static inline void call_write(const call_side *side, const call_block *block, unsigned char *to) {
  unsigned char code[CALL_PERIOD * 32];
  size_t size = call_type_bytes(block->type);
  int64_t first = block->index * 257, known = first % CALL_PERIOD + block->count;
  for (int64_t n = 0; n < CALL_PERIOD && block->content != CALL_NOTHING; n++) {
    int64_t from = n >= first % CALL_PERIOD ? n : n + CALL_PERIOD; /* as far from the block's first element */
    if (from >= known)
      continue;
    if (block->content == CALL_COPY)
      call_element(&side->of, block->type, block->rank, n, side->round, code + (size_t)n * size);
    else
      call_sum(&side->of, block->last, n, side->round, code + (size_t)n * size);
  }
  if (block->content != CALL_NOTHING)
    call_spread(size, to, code, first, block->count);
}

/* All memory of the call as it has to be, before it or after. */
static inline void call_paint(const call_side *side, unsigned char *const region[2], bool after) {
  if (side->of.collective == TT_BARRIER)
    return;
  for (int n = 0; n < 2; n++)
    memset(region[n], 0x5a, side->bytes[n]);
  for (int64_t k = 0; k < side->in.block_count; k++)
    call_write(side, &side->in.block[k], region[side->in.region] + (int64_t)side->in.base + side->in.at[k]);
  for (int64_t k = 0; after && k < side->out.block_count; k++)
    call_write(side, &side->out.block[k], region[side->out.region] + (int64_t)side->out.base + side->out.at[k]);
}

static inline void call_fill(call_side *side, int64_t round) {
  side->round = round;
  call_paint(side, side->region, false);
}

/* ---- the call ---- */

/* What a rank does not have to say is NULL, or nonsense. */
static inline call_arguments call_arguments_of(const call_side *side, tutti_comm *comm, tutti_graph *const *graph) {
  const call_buffer *in = &side->in, *out = &side->out;
  bool no_in = in->block_count == 0, no_out = out->block_count == 0;
  return (call_arguments){.in = no_in ? NULL : side->region[in->region] + in->base,
                          .out = no_out ? NULL : side->region[out->region] + out->base,
                          .count = side->of.count,
                          .in_count = no_in ? 0 : in->count[0],
                          .out_count = no_out ? 0 : out->count[0],
                          .in_counts = no_in ? NULL : in->count,
                          .in_offsets = in->packed ? NULL : in->offset,
                          .out_counts = no_out ? NULL : out->count,
                          .out_offsets = out->packed ? NULL : out->offset,
                          .in_types = no_in ? NULL : in->type,
                          .out_types = no_out ? NULL : out->type,
                          .type = side->of.type,
                          .op = side->of.op,
                          .root = side->of.root,
                          .comm = comm,
                          .graph = graph ? graph[side->of.graph] : NULL};
}

/* Enters the call. A persistent request is made at the first time and started at each. graph: CALL_GRAPHS of them. */
static inline tutti_status call_begin(call_side *side, tutti_comm *comm, tutti_graph *const *graph) {
  const call_arguments arguments = call_arguments_of(side, comm, graph);
  if (side->of.collective == TT_BARRIER && side->barriers)
    side->ticket = 1 + atomic_fetch_add_explicit(&side->barriers->entered[side->rank], 1, memory_order_relaxed);
  if (side->of.mode != CALL_INIT)
    return call_invoke(side->of.collective, side->of.mode, &arguments, &side->request);
  tutti_status status =
      side->request ? TUTTI_OK : call_invoke(side->of.collective, CALL_INIT, &arguments, &side->request);
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

/* ---- graphs ---- */

static inline tutti_status call_create_graphs(tutti_comm *comm, tutti_graph **graph) {
  int64_t rank = tutti_comm_rank(comm), size = tutti_comm_size(comm);
  call_neighbors from, to;
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < CALL_GRAPHS && status == TUTTI_OK; n++) {
    call_list_neighbors(n, size, rank, false, &from);
    call_list_neighbors(n, size, rank, true, &to);
    status = tutti_graph_create(comm, from.count, from.rank, to.count, to.rank, &graph[n]);
  }
  return status;
}

static inline void call_destroy_graphs(tutti_graph **graph) {
  for (int n = 0; n < CALL_GRAPHS; n++)
    tutti_graph_destroy(graph[n]);
}

/* ---- the check ---- */

static inline void call_describe(const call_side *side, const char *what, size_t at) {
  const call *of = &side->of;
  static const char *const modes[] = {"blocking", "non-blocking", "persistent"};
  static const char *const places[] = {"", " in place", " odd ranks in place"};
  fprintf(stderr,
          "%s type %d (%s) op %d (%s) count %" PRId64 " root %" PRId64 " graph %d%s %s, params %s, round %" PRId64
          ": rank %" PRId64 " of %" PRId64 ": %s %zu\n",
          tt_compose_info(of->collective).name, (int)of->type, tutti_type_name(of->type), (int)of->op,
          tutti_op_name(of->op), of->count, of->root, of->graph, places[of->places], modes[of->mode],
          *of->params ? of->params : "by profile", side->round, side->rank, side->size, what, at);
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

/* Padding of results is as it is. */
static inline void call_excuse_padding(const call_side *side, unsigned char *wanted) {
  const call_buffer *out = &side->out;
  size_t size = call_type_bytes(side->of.type);
  if (side->of.type >= TUTTI_TYPE_COUNT || out->block_count == 0 || out->block[0].content != CALL_SUM)
    return;
  for (size_t byte = 0; byte < size; byte++)
    for (size_t n = 0; element_is_padding(side->of.type, byte) && n < (size_t)out->block[0].count; n++)
      wanted[out->base + n * size + byte] = side->region[out->region][out->base + n * size + byte];
}

/* scratch: as large as both regions. */
static inline bool call_right(const call_side *side, unsigned char *scratch) {
  unsigned char *const wanted[2] = {scratch, scratch + side->bytes[0]};
  if (side->of.collective == TT_BARRIER)
    return call_barrier_right(side);
  call_paint(side, wanted, true);
  call_excuse_padding(side, wanted[side->out.region]);
  return call_region_right(side, 0, wanted[0]) && call_region_right(side, 1, wanted[1]);
}

#endif
