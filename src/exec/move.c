/* exec/move.c - one piece of a step, between a slot and the plan's memory. A piece is a slice of a block, or its
 * shorter end.
 *
 *     slot   | piece of block a | end of block a ..| block b ..| c |      pieces begin at multiples of 64 bytes
 *
 * Both ends cut blocks into the same pieces, so that the receiver knows what comes. That they mean the same blocks, of
 * the same lengths, is found out where a slot ends: its header has a hash of them, beside the call's number. A slot
 * holds whole pieces, at most a slice of them: were a slice split over two slots, a receiver that may not take all of
 * it yet would keep the first slot, and with one slot the sender could never give it the rest. A slot is committed when
 * the next piece does not fit or when the engine asks (the message ends, the lane has to wait). A reference stands for
 * all that may be sent of a block, however long: it is read in pieces of a slice, or fetched in longer ones, since each
 * is a system call. */
#include "exec/engine.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bytes of the next piece. */
static int64_t piece_of(const tt_instance *instance, const tt_lane_run *lane) {
  return least(lane->granted - lane->done, instance->slice);
}

/* Where in the slot the next piece is. What is more than a slot is one block, referred to: its pieces lie close. */
static int64_t next_in_slot(const tt_instance *instance, const tt_lane_run *lane) {
  return lane->slot_bytes > instance->slot ? lane->slot_used : (lane->slot_used + 63) & ~(int64_t)63;
}

tutti_status tt_move_mismatch(tt_instance *instance, const tt_lane_run *lane, const char *what) {
  int32_t peer = instance->plan->step[lane->op - instance->steps.op].peer;
  assert(peer >= 0); /* a step that takes has one */
  instance->fault.peer = tt_stream_table_spec_of(instance->streams.of)->job_rank[peer];
  return tt_fail(TUTTI_ERR_MISMATCH, "rank %" PRId64 " %s in call %" PRIu64, instance->fault.peer, what,
                 instance->run.call);
}

/* A piece of the current step's block is in the slot. */
static void mark(tt_lane_run *lane) {
  if (!lane->marked)
    lane->blocks = (lane->blocks ^ lane->mark) * 0x9E3779B1u;
  lane->marked = true;
}

static void begin_slot(tt_lane_run *lane) {
  lane->slot_used = 0;
  lane->blocks = 0;
  lane->marked = false;
}

/* What the header of a slot says that is sent now. */
static uint64_t call_and_blocks(const tt_instance *instance, const tt_lane_run *lane) {
  return (uint32_t)instance->run.call | (uint64_t)lane->blocks << 32;
}

tutti_status tt_move_flush(tt_instance *instance, tt_lane_run *lane) {
  if (!lane->slot)
    return TUTTI_OK;
  assert(lane->op->kind == TT_STEP_SEND && lane->slot_used > 0 && lane->slot_used <= instance->slot);
  lane->slot = NULL;
  lane->header->call = call_and_blocks(instance, lane);
  return instance->streams.ops->commit(instance->streams.transport, lane->op->stream, (size_t)lane->slot_used);
}

/* Makes lane->slot one with room for a piece of `bytes` at slot_used; NULL where there is none now. */
static tutti_status reserve(tt_instance *instance, tt_lane_run *lane, int64_t bytes) {
  if (lane->slot && next_in_slot(instance, lane) + bytes <= instance->slot) {
    lane->slot_used = next_in_slot(instance, lane);
    return TUTTI_OK;
  }
  tutti_status status = tt_move_flush(instance, lane);
  void *data;
  size_t room = 0;
  if (status == TUTTI_OK)
    status = instance->streams.ops->reserve(instance->streams.transport, lane->op->stream, &lane->header, &data, &room);
  if (status != TUTTI_OK || room == 0)
    return status;
  assert((int64_t)room >= instance->slot);
  lane->header->key = instance->run.key;
  lane->slot = data;
  begin_slot(lane);
  return TUTTI_OK;
}

/* Makes lane->slot the slot with the next piece, of `bytes`, at slot_used; or sets lane->remote. Neither where it has
 * not come. */
static tutti_status peek(tt_instance *instance, tt_lane_run *lane, int64_t bytes) {
  if (lane->slot) {
    lane->slot_used = next_in_slot(instance, lane);
  } else if (!lane->remote) {
    const tutti_slot_header *header;
    const void *data;
    size_t slot_bytes;
    tutti_status status =
        instance->streams.ops->peek(instance->streams.transport, lane->op->stream, &header, &data, &slot_bytes);
    if (status != TUTTI_OK || !header)
      return status;
    if ((uint32_t)header->call != (uint32_t)instance->run.call || !tt_key_agrees(header->key, instance->run.key))
      return tt_move_mismatch(instance, lane, "called something else");
    lane->remote = !data;
    lane->slot = (unsigned char *)(uintptr_t)data;
    lane->slot_bytes = (int64_t)slot_bytes;
    lane->wanted = (uint32_t)(header->call >> 32);
    begin_slot(lane);
  }
  bool begun = lane->remote && lane->slot_used > 0; /* what is fetched at once may be less than a piece */
  if (!begun && lane->slot_used + bytes > lane->slot_bytes)
    return tt_move_mismatch(instance, lane, "sent another message");
  return TUTTI_OK;
}

/* As a slot of the lane's that refers to them. */
static tutti_status commit_reference(tt_instance *instance, tt_lane_run *lane, int64_t bytes, tt_medium medium) {
  bool anywhere = medium == TT_MEDIUM_READ;
  if (!(lane->op->media & TT_MEDIA(medium)) || (anywhere && !instance->run.single_copy))
    return TUTTI_ERR_UNSUPPORTED;
  tutti_status status = instance->streams.ops->refer(instance->streams.transport, lane->op->stream,
                                                     lane->src + lane->done, (size_t)bytes, anywhere);
  if (status == TUTTI_OK)
    lane->went |= TT_MEDIA(medium);
  return status;
}

/* Sends those bytes as a reference. lane->refers becomes false where the source cannot be referred to. */
static tutti_status refer(tt_instance *instance, tt_lane_run *lane, int64_t bytes, int64_t *moved) {
  tutti_status status = reserve(instance, lane, instance->slot); /* an empty one */
  if (status != TUTTI_OK || !lane->slot)
    return status;
  assert(lane->slot_used == 0);
  mark(lane);
  lane->header->call = call_and_blocks(instance, lane);
  status = commit_reference(instance, lane, bytes, TT_MEDIUM_LENT);
  if (status == TUTTI_ERR_UNSUPPORTED)
    status = commit_reference(instance, lane, bytes, TT_MEDIUM_READ);
  if (status == TUTTI_ERR_UNSUPPORTED) {
    lane->refers = false;
    begin_slot(lane);
    return TUTTI_OK;
  }
  lane->slot = NULL;
  instance->run.referred = true;
  *moved = bytes;
  return status;
}

static tutti_status move_send(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  int64_t bytes = piece_of(instance, lane);
  if (lane->refers && bytes >= instance->streams.thresholds.lend) {
    tutti_status status = refer(instance, lane, lane->granted - lane->done, moved);
    if (status != TUTTI_OK || lane->refers)
      return status;
  }
  tutti_status status = reserve(instance, lane, bytes);
  if (status != TUTTI_OK || !lane->slot)
    return status;
  assert(bytes > 0 && lane->slot_used + bytes <= instance->slot);
  tt_dtype_copy(lane->slot + lane->slot_used, lane->src + lane->done, (size_t)bytes, false);
  mark(lane);
  lane->slot_used += bytes;
  lane->went |= TT_MEDIA(lane->op->slots);
  instance->streams.sent[lane->op->slots].bytes += bytes;
  *moved = bytes;
  return lane->slot_used >= instance->slice ? tt_move_flush(instance, lane) : TUTTI_OK;
}

/* Room beside the result; NULL: no memory. Other runs of the instance may have had other elements. */
static unsigned char *make_aside(tt_instance *instance, int64_t bytes) {
  if (instance->aside.bytes >= bytes)
    return instance->aside.memory;
  free(instance->aside.memory);
  instance->aside.memory = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
  instance->aside.bytes = instance->aside.memory ? bytes : 0;
  return instance->aside.memory;
}

/* Whether the result's place cannot hold what is combined into it: the other operand is there, results go past the
 * cache, or a user's operator would find its left operand in the result's place on some ranks only. */
static bool goes_aside(const tt_instance *instance, const tt_lane_run *lane) {
  bool users_left = instance->arith.user_op.reduce && lane->op->use.left;
  return lane->op->use.reduces && (lane->src == lane->dst || instance->arith.large || users_left);
}

/* What lies in another process: fetched to where it goes, and combined and finished there. */
static tutti_status fetch(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  bool reduces = lane->op->use.reduces;
  int64_t limit = reduces ? instance->streams.thresholds.combine : instance->streams.thresholds.fetch;
  int64_t element = instance->arith.element_bytes, whole = limit - limit % element;
  int64_t most = whole > 0 ? whole : element;
  int64_t bytes = least(least(lane->granted - lane->done, lane->slot_bytes - lane->slot_used), most);
  unsigned char *dst = lane->dst + lane->done, *to = goes_aside(instance, lane) ? make_aside(instance, most) : dst;
  assert(bytes > 0);
  if (!to)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " bytes of another rank", most);
  tutti_status status = instance->streams.ops->fetch(instance->streams.transport, lane->op->stream,
                                                     (size_t)lane->slot_used, to, (size_t)bytes);
  if (status == TUTTI_OK)
    tt_arith_apply(&instance->arith, lane->op->use, lane->src + lane->done, to, dst, bytes);
  *moved = bytes;
  return status;
}

static tutti_status move_from_beside(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  const unsigned char *data;
  const tt_beside *beside = instance->beside;
  if (beside->peek(beside->user, (uint32_t)(lane->op - instance->steps.op), lane->mark, &data) != TUTTI_OK)
    return tt_move_mismatch(instance, lane, "called something else, or sent another message");
  *moved = data ? piece_of(instance, lane) : 0;
  if (data)
    tt_arith_apply(&instance->arith, lane->op->use, lane->src + lane->done, data + lane->done, lane->dst + lane->done,
                   *moved);
  return TUTTI_OK;
}

static tutti_status move_recv(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  int64_t bytes = piece_of(instance, lane);
  tutti_status status = peek(instance, lane, bytes);
  if (status != TUTTI_OK || (!lane->slot && !lane->remote))
    return status;
  if (lane->remote) {
    status = fetch(instance, lane, moved);
  } else {
    tt_arith_apply(&instance->arith, lane->op->use, lane->src + lane->done, lane->slot + lane->slot_used,
                   lane->dst + lane->done, bytes);
    *moved = bytes;
  }
  mark(lane);
  lane->slot_used += *moved;
  if (status != TUTTI_OK || lane->slot_used < lane->slot_bytes)
    return status;
  lane->slot = NULL;
  lane->remote = false;
  if (lane->blocks != lane->wanted)
    return tt_move_mismatch(instance, lane, "sent other blocks, or blocks of other lengths,");
  return instance->streams.ops->release(instance->streams.transport, lane->op->stream);
}

static void move_copy(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  *moved = piece_of(instance, lane);
  unsigned char *dst = lane->dst + lane->done; /* also the left operand, where it combines */
  tt_arith_apply(&instance->arith, lane->op->use, dst, lane->src + lane->done, dst, *moved);
}

tutti_status tt_move(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  *moved = 0;
  switch (lane->op->kind) {
  case TT_STEP_SEND:
    return move_send(instance, lane, moved);
  case TT_STEP_COPY:
    move_copy(instance, lane, moved);
    return TUTTI_OK;
  default:
    return lane->in_cell ? move_from_beside(instance, lane, moved) : move_recv(instance, lane, moved);
  }
}
