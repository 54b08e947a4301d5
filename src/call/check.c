/* call/check.c - whether a call's arguments are in order, and where its blocks lie. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_BYTES (INT64_MAX / 2)

bool tt_call_has(const tutti_comm *comm, const tt_call *call, tt_buffer side) {
  return !tt_compose_side(call->collective, side).of_root || call->root == comm->rank;
}

bool tt_call_copies(const tt_call *call) {
  return tt_compose_side(call->collective, TT_IN).unit == TT_EACH_RANK &&
         tt_compose_side(call->collective, TT_OUT).unit == TT_EACH_RANK;
}

/* ---- words for errors ---- */

static const char *name_of(const tt_call *call) { return tt_compose_info(call->collective).name; }

tutti_status tt_call_fail(const char *name, const char *format, ...) {
  char function[64], text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  snprintf(function, sizeof function, "%s", name);
  for (char *at = function; *at; at++)
    *at = *at == '-' ? '_' : *at;
  return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_%s: %s", function, text);
}

static tutti_status bad_call(const tt_call *call, const char *argument, int64_t value) {
  return tt_call_fail(name_of(call), "%s is %" PRId64, argument, value);
}

/* Of lists: "in_" and "out_" where both sides have them. */
static const char *prefix_of(const tt_call *call, tt_buffer side) {
  bool both = tt_compose_side(call->collective, TT_IN).length == TT_BY_LIST &&
              tt_compose_side(call->collective, TT_OUT).length == TT_BY_LIST;
  return !both ? "" : side == TT_IN ? "in_" : "out_";
}

static tutti_status bad_block(const tt_call *call, tt_buffer side, const char *list, int64_t block, int64_t value) {
  return tt_call_fail(name_of(call), "%s%s[%" PRId64 "] is %" PRId64, prefix_of(call, side), list, block, value);
}

static tutti_status no_list(const tt_call *call, tt_buffer side, const char *list) {
  return tt_call_fail(name_of(call), "%s%s is NULL", prefix_of(call, side), list);
}

/* ---- blocks ---- */

int64_t tt_call_block_count(const tutti_comm *comm, const tt_call *call, tt_buffer side) {
  switch (tt_compose_side(call->collective, side).unit) {
  case TT_EACH_RANK:
    return comm->size;
  case TT_EACH_SOURCE:
    return call->lists->graph->in_count;
  case TT_EACH_DESTINATION:
    return call->lists->graph->out_count;
  default:
    return 1;
  }
}

static int64_t count_of(const tutti_comm *comm, const tt_call *call, tt_buffer side, int64_t block) {
  switch (tt_compose_side(call->collective, side).length) {
  case TT_BY_LIST:
    return call->lists->side[side].count[block];
  case TT_BY_OWN:
    return call->lists->side[side].own;
  case TT_BY_RANK:
    return call->lists->side[side == TT_IN ? TT_OUT : TT_IN].count[comm->rank];
  default:
    return call->count;
  }
}

static tutti_status bad_count(const tutti_comm *comm, const tt_call *call, tt_buffer side, int64_t block,
                              int64_t value) {
  tt_length length = tt_compose_side(call->collective, side).length;
  if (length == TT_BY_LIST)
    return bad_block(call, side, "counts", block, value);
  if (length == TT_BY_RANK)
    return bad_block(call, side, "counts", comm->rank, value);
  return bad_call(call, length == TT_BY_COUNT ? "count" : side == TT_IN ? "in_count" : "out_count", value);
}

/* Bytes of an element of that block; 0: its type is none. */
static int64_t element_of(const tutti_comm *comm, const tt_call *call, tt_buffer side, int64_t block) {
  const tutti_type *types = call->lists ? call->lists->side[side].type : NULL;
  return tt_context_type_bytes(comm->context, types ? (int32_t)types[block] : call->type);
}

/* Where the block begins, in units of `unit` bytes. */
static tutti_status find_offset(const tt_call *call, tt_buffer side, int64_t number, int64_t unit, int64_t *offset) {
  const tt_list *list = call->lists ? &call->lists->side[side] : NULL;
  if (!list || !list->offset)
    return TUTTI_OK;
  *offset = list->offset[number];
  if (*offset <= MOST_BYTES / unit && *offset >= -MOST_BYTES / unit)
    return TUTTI_OK;
  return bad_block(call, side, list->type ? "bytes_offsets" : "offsets", number, *offset);
}

tutti_status tt_call_next(const tutti_comm *comm, const tt_call *call, tt_buffer side, tt_block_walk *walk,
                          tt_block *block) {
  int64_t number = walk->next++, count = count_of(comm, call, side, number);
  assert(number < tt_call_block_count(comm, call, side) && walk->packed >= 0);
  *block = (tt_block){.offset = walk->packed};
  if (count < 0)
    return bad_count(comm, call, side, number, count);
  if (count == 0) /* nothing else of it matters */
    return TUTTI_OK;
  int64_t element = element_of(comm, call, side, number);
  int64_t unit = tt_compose_side(call->collective, TT_IN).typed ? 1 : element; /* bytes of the call's type */
  if (element == 0)
    return bad_block(call, side, "types", number, (int32_t)call->lists->side[side].type[number]);
  if (count > (MOST_BYTES - walk->packed * unit) / element)
    return bad_count(comm, call, side, number, count);
  block->bytes = count * element;
  block->count = unit == 1 ? block->bytes : count;
  tutti_status status = find_offset(call, side, number, unit, &block->offset);
  if (status != TUTTI_OK)
    return status;
  block->at = block->offset * unit;
  walk->packed += block->count;
  return TUTTI_OK;
}

/* ---- places ---- */

static void cover(tt_places *places, tt_buffer side, const tt_block *block) {
  assert(block->bytes >= 0 && places->begin[side] <= places->end[side]);
  bool first = places->begin[side] == places->end[side];
  if (block->bytes == 0)
    return;
  if (first || block->at < places->begin[side])
    places->begin[side] = block->at;
  if (first || block->at + block->bytes > places->end[side])
    places->end[side] = block->at + block->bytes;
}

/* Blocks that are all alike need no walk. */
static tutti_status measure_plain(const tutti_comm *comm, const tt_call *call, tt_buffer side, tt_places *places,
                                  int64_t *own) {
  int64_t blocks = tt_call_block_count(comm, call, side);
  int64_t element = tt_context_type_bytes(comm->context, call->type);
  assert(element > 0 && blocks >= 0);
  if (call->count < 0 || (blocks > 0 && call->count > MOST_BYTES / element / blocks))
    return bad_call(call, "count", call->count);
  places->end[side] = blocks * call->count * element;
  *own = comm->rank * call->count * element;
  return TUTTI_OK;
}

static tutti_status measure_list(const tutti_comm *comm, const tt_call *call, tt_buffer side, tt_places *places,
                                 int64_t *own) {
  const tt_list *list = &call->lists->side[side];
  int64_t blocks = tt_call_block_count(comm, call, side);
  tt_block_walk walk = {0};
  tt_block block;
  if (tt_compose_side(call->collective, side).length == TT_BY_LIST && !list->count && blocks > 0)
    return no_list(call, side, "counts");
  if (tt_compose_side(call->collective, TT_IN).typed && !list->type && blocks > 0)
    return no_list(call, side, "types");
  for (int64_t b = 0; b < blocks; b++) {
    tutti_status status = tt_call_next(comm, call, side, &walk, &block);
    if (status != TUTTI_OK)
      return status;
    cover(places, side, &block);
    if (b == comm->rank)
      *own = block.at;
  }
  return TUTTI_OK;
}

/* What a side uses; `own`: where the block of this rank begins. A count that all ranks have is wrong on all of them,
 * also where the root alone has what it counts. */
static tutti_status measure(const tutti_comm *comm, const tt_call *call, tt_buffer side, tt_places *places,
                            int64_t *own) {
  bool by_count = tt_compose_side(call->collective, side).length == TT_BY_COUNT;
  tt_places none = {0};
  *own = 0;
  if (tt_call_has(comm, call, side))
    return by_count ? measure_plain(comm, call, side, places, own) : measure_list(comm, call, side, places, own);
  tutti_status status = by_count ? measure_plain(comm, call, side, &none, own) : TUTTI_OK;
  *own = 0;
  return status;
}

static tutti_status measure_both(const tutti_comm *comm, const tt_call *call, tt_places *places) {
  tt_side in = tt_compose_side(call->collective, TT_IN), out = tt_compose_side(call->collective, TT_OUT);
  int64_t in_own, out_own;
  *places = (tt_places){.reads = tt_call_has(comm, call, TT_IN), .writes = tt_call_has(comm, call, TT_OUT)};
  /* the side with the list first, since it is what the other one's count may come from */
  tt_buffer first = in.length == TT_BY_RANK ? TT_OUT : TT_IN;
  tutti_status status = measure(comm, call, first, places, first == TT_IN ? &in_own : &out_own);
  if (status == TUTTI_OK)
    status = measure(comm, call, 1 - first, places, first == TT_IN ? &out_own : &in_own);
  if (status != TUTTI_OK)
    return status;
  places->in_own = in.unit == TT_EACH_RANK && out.unit == TT_ONE_BLOCK ? in_own : 0;
  places->out_own = out.unit == TT_EACH_RANK && in.unit == TT_ONE_BLOCK ? out_own : 0;
  return TUTTI_OK;
}

/* ---- checks ---- */

tutti_status tt_call_check_op(const tutti_comm *comm, const char *name, int32_t type, int32_t op) {
  const tt_user_op *own = tt_context_user_op(comm->context, op);
  int64_t bytes = tt_context_type_bytes(comm->context, type);
  if (!own && (op < 0 || op >= TUTTI_OP_COUNT))
    return tt_call_fail(name, "op is %" PRId32, op);
  if (own && (int64_t)own->element_bytes != bytes)
    return tt_call_fail(name, "op %d takes elements of %zu bytes, but those of type %d (%s) have %" PRId64, op,
                        own->element_bytes, type, tutti_type_name((tutti_type)type), bytes);
  int64_t slot = own && comm->streams ? tt_stream_table_facts(comm->streams).slot_bytes : INT64_MAX;
  if (bytes > slot)
    return tt_call_fail(name,
                        "elements of %" PRId64 " bytes are too long to be combined: a slot has %" PRId64
                        " bytes; see TUTTI_SLOT_BYTES",
                        bytes, slot);
  if (!own && !tutti_op_fits((tutti_op)op, (tutti_type)type))
    return tt_call_fail(name, "op %s does not combine elements of type %d (%s)", tutti_op_name((tutti_op)op), type,
                        tutti_type_name((tutti_type)type));
  return TUTTI_OK;
}

static tutti_status check_kind(const tutti_comm *comm, const tt_call *call) {
  if (call->root < 0 || call->root >= comm->size)
    return tt_call_fail(name_of(call), "root is %" PRId64 "; expected a rank below %" PRId64, call->root, comm->size);
  if (!tt_compose_side(call->collective, TT_IN).typed && tt_context_type_bytes(comm->context, call->type) == 0)
    return tt_call_fail(name_of(call), "type is %" PRId32 ", which is neither built in nor from tutti_type_create",
                        call->type);
  return tt_compose_info(call->collective).reduces ? tt_call_check_op(comm, name_of(call), call->type, call->op)
                                                   : TUTTI_OK;
}

/* A block from this rank to itself has both its lengths here. */
static tutti_status check_self(const tutti_comm *comm, const tt_call *call, int64_t in_block, int64_t out_block) {
  int64_t in = count_of(comm, call, TT_IN, in_block), out = count_of(comm, call, TT_OUT, out_block);
  in = in ? in * element_of(comm, call, TT_IN, in_block) : 0;
  out = out ? out * element_of(comm, call, TT_OUT, out_block) : 0;
  if (in == out)
    return TUTTI_OK;
  return tt_call_fail(name_of(call), "rank %" PRId64 " sends itself %" PRId64 " bytes and receives %" PRId64,
                      comm->rank, in, out);
}

static tutti_status check_selves(const tutti_comm *comm, const tt_call *call) {
  const tutti_graph *graph = call->lists->graph;
  tutti_status status = TUTTI_OK;
  if (!tt_call_has(comm, call, TT_IN) || !tt_call_has(comm, call, TT_OUT))
    return TUTTI_OK;
  if (!graph)
    return check_self(comm, call, comm->rank, comm->rank);
  for (int64_t n = 0; n < graph->self_count && status == TUTTI_OK; n++)
    status = check_self(comm, call, graph->self_out[n], graph->self_in[n]);
  return status;
}

static tutti_status check_buffers(const tt_call *call, const tt_places *places) {
  const char *in = call->in, *out = call->out;
  int64_t in_bytes = places->end[TT_IN] - places->begin[TT_IN], out_bytes = places->end[TT_OUT] - places->begin[TT_OUT];
  if (in_bytes > 0 && !in)
    return tt_call_fail(name_of(call), "in is NULL, but has %" PRId64 " bytes", in_bytes);
  if (out_bytes > 0 && !out)
    return tt_call_fail(name_of(call), "out is NULL, but has %" PRId64 " bytes", out_bytes);
  return TUTTI_OK;
}

tt_meeting tt_call_meeting(const tt_call *call, const tt_places *places) {
  uintptr_t in = (uintptr_t)call->in, out = (uintptr_t)call->out;
  uintptr_t in_begin = in + (uintptr_t)places->begin[TT_IN], in_end = in + (uintptr_t)places->end[TT_IN];
  uintptr_t out_begin = out + (uintptr_t)places->begin[TT_OUT], out_end = out + (uintptr_t)places->end[TT_OUT];
  if (in_begin == in_end || out_begin == out_end || in_end <= out_begin || out_end <= in_begin)
    return TT_APART;
  bool meet = in + (uintptr_t)places->in_own == out + (uintptr_t)places->out_own;
  return meet && !(call->lists && call->lists->graph) ? TT_IN_PLACE : TT_OVERLAPPING;
}

typedef struct stretch { /* a block of a side, as addresses */
  uintptr_t begin, end;
  tt_buffer side;
} stretch;

static void collect(const tutti_comm *comm, const tt_call *call, tt_buffer side, stretch *at, int64_t *count) {
  uintptr_t base = (uintptr_t)(side == TT_IN ? call->in : call->out);
  tt_block_walk walk = {0};
  tt_block block;
  while (walk.next < tt_call_block_count(comm, call, side))
    if (tt_call_next(comm, call, side, &walk, &block) == TUTTI_OK && block.bytes > 0)
      at[(*count)++] = (stretch){base + (uintptr_t)block.at, base + (uintptr_t)(block.at + block.bytes), side};
}

static int compare_stretches(const void *a, const void *b) {
  const stretch *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool stretches_meet(stretch *at, int64_t count) {
  uintptr_t end[2] = {0, 0}; /* of each side, so far */
  qsort(at, (size_t)count, sizeof *at, compare_stretches);
  for (int64_t n = 0; n < count; n++) {
    if (at[n].begin < end[1 - at[n].side])
      return true;
    if (at[n].end > end[at[n].side])
      end[at[n].side] = at[n].end;
  }
  return false;
}

/* Blocks of one side may lie between those of the other. */
static tutti_status look_between(tutti_comm *comm, const tt_call *call, tt_meeting *meeting) {
  int64_t most = tt_call_block_count(comm, call, TT_IN) + tt_call_block_count(comm, call, TT_OUT), count = 0;
  stretch *at = malloc(((size_t)most + 1) * sizeof *at);
  if (!at)
    return tt_agree_break(comm, TUTTI_ERR_MEMORY, "rank %" PRId64 ": no memory for a look at %" PRId64 " blocks",
                          comm->rank, most);
  collect(comm, call, TT_IN, at, &count);
  collect(comm, call, TT_OUT, at, &count);
  *meeting = stretches_meet(at, count) ? TT_OVERLAPPING : TT_APART;
  free(at);
  return TUTTI_OK;
}

/* Recognises the in place positions; any other overlap is an error. */
static tutti_status check_overlap(tutti_comm *comm, tt_call *call, const tt_places *places) {
  tt_meeting meeting = tt_call_meeting(call, places);
  if (meeting == TT_OVERLAPPING && call->lists) {
    tutti_status status = look_between(comm, call, &meeting);
    if (status != TUTTI_OK)
      return status;
  }
  call->in_place = meeting == TT_IN_PLACE;
  if (meeting != TT_OVERLAPPING)
    return TUTTI_OK;
  return tt_call_fail(name_of(call), "in %p and out %p overlap, but not at the in place position", call->in, call->out);
}

tutti_status tt_call_check(tutti_comm *comm, tt_call *call, tt_places *places) {
  if (!comm)
    return tt_call_fail(name_of(call), "%s is NULL", tt_compose_info(call->collective).has_graph ? "graph" : "comm");
  tutti_status status = tt_agree_prepare(comm);
  if (status != TUTTI_OK)
    return status;
  if (comm->agree.broken != TUTTI_OK || tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  status = check_kind(comm, call);
  if (status == TUTTI_OK)
    status = measure_both(comm, call, places);
  if (status == TUTTI_OK && tt_compose_info(call->collective).lengths != TT_LENGTHS_ALL)
    status = check_selves(comm, call);
  if (status == TUTTI_OK)
    status = check_buffers(call, places);
  return status == TUTTI_OK ? check_overlap(comm, call, places) : status;
}
