/* exec/move.c - one piece of a step, between a slot and the plan's memory. A piece is a slice of a block, or its
 * shorter end.
 *
 *     slot   | piece of block a | end of block a ..| block b ..| c |      pieces begin at multiples of 64 bytes
 *
 * Both ends cut blocks into the same pieces, so that the receiver knows what comes. A slot holds whole pieces, at most
 * a slice of them: were a slice split over two slots, a receiver that may not take all of it yet would keep the first
 * slot, and with one slot the sender could never give it the rest. A slot is committed when the next piece does not fit
 * or when the engine asks (the message ends, the lane has to wait). */
#include "exec/engine.h"

#include <assert.h>
#include <stdlib.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bytes of the next piece. */
static int64_t piece_of(const tt_instance *instance, const tt_lane_run *lane) {
  return least(lane->granted - lane->done, instance->slice);
}

/* Where in the slot the next piece is. */
static int64_t next_in_slot(const tt_lane_run *lane) { return (lane->slot_used + 63) & ~(int64_t)63; }

tutti_status tt_move_mismatch(tt_instance *instance, const tt_lane_run *lane, const char *what) {
  int32_t peer = instance->plan->step[lane->op - instance->op].peer;
  instance->bad_peer = tt_link_get(instance->link)->job_rank[peer];
  return tt_fail(TUTTI_ERR_MISMATCH, "rank %lld %s in call %llu", (long long)instance->bad_peer, what,
                 (unsigned long long)instance->call);
}

tutti_status tt_move_flush(tt_instance *instance, tt_lane_run *lane) {
  if (!lane->slot)
    return TUTTI_OK;
  lane->slot = NULL;
  return instance->ops->commit(instance->transport, lane->op->stream, (size_t)lane->slot_used);
}

/* Makes lane->slot one with room for a piece of `bytes` at slot_used; NULL where there is none now. */
static tutti_status reserve(tt_instance *instance, tt_lane_run *lane, int64_t bytes) {
  if (lane->slot && next_in_slot(lane) + bytes <= instance->slot) {
    lane->slot_used = next_in_slot(lane);
    return TUTTI_OK;
  }
  tutti_status status = tt_move_flush(instance, lane);
  tutti_slot_header *header;
  void *data;
  size_t room = 0;
  if (!status)
    status = instance->ops->reserve(instance->transport, lane->op->stream, &header, &data, &room);
  if (status || room == 0)
    return status;
  assert((int64_t)room >= instance->slot);
  header->call = instance->call;
  header->key = instance->key;
  lane->slot = data;
  lane->slot_used = 0;
  return TUTTI_OK;
}

/* A slot whose bytes lie in another process: fetched to where they go, or aside where they are combined. */
static tutti_status fetch(tt_instance *instance, const tt_lane_run *lane, const void **data) {
  void *to = lane->dst + lane->done;
  if (lane->op->use.reduces) {
    if (!instance->aside)
      instance->aside = aligned_alloc(64, (size_t)instance->slot);
    to = instance->aside;
  }
  if (!to)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a slice of %lld bytes", (long long)instance->slot);
  *data = to;
  return instance->ops->fetch(instance->transport, lane->op->stream, to);
}

/* Makes lane->slot the slot with the next piece, of `bytes`, at slot_used; NULL where it has not come. */
static tutti_status peek(tt_instance *instance, tt_lane_run *lane, int64_t bytes) {
  if (lane->slot) {
    lane->slot_used = next_in_slot(lane);
  } else {
    const tutti_slot_header *header;
    const void *data;
    size_t slot_bytes;
    tutti_status status = instance->ops->peek(instance->transport, lane->op->stream, &header, &data, &slot_bytes);
    if (status || !header)
      return status;
    if (header->call != instance->call || header->key != instance->key)
      return tt_move_mismatch(instance, lane, "called something else");
    if (!data && (int64_t)slot_bytes != bytes)
      return tt_move_mismatch(instance, lane, "sent another message");
    if (!data && (status = fetch(instance, lane, &data)) != TUTTI_OK)
      return status;
    lane->slot = (unsigned char *)(uintptr_t)data;
    lane->slot_used = 0;
    lane->slot_bytes = (int64_t)slot_bytes;
  }
  if (lane->slot_used + bytes > lane->slot_bytes)
    return tt_move_mismatch(instance, lane, "sent another message");
  return TUTTI_OK;
}

/* Sends the piece as a reference. lane->refers becomes false where the source cannot be referred to. */
static tutti_status refer(tt_instance *instance, tt_lane_run *lane, int64_t bytes, int64_t *moved) {
  tutti_status status = reserve(instance, lane, instance->slot); /* an empty one */
  if (status || !lane->slot)
    return status;
  status = instance->ops->refer(instance->transport, lane->op->stream, lane->src + lane->done, (size_t)bytes);
  if (status == TUTTI_ERR_UNSUPPORTED) {
    lane->refers = false;
    return TUTTI_OK;
  }
  lane->slot = NULL;
  instance->referred = true;
  *moved = bytes;
  return status;
}

static tutti_status move_send(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  int64_t bytes = piece_of(instance, lane);
  if (lane->refers && bytes >= TT_REFER_BYTES) {
    tutti_status status = refer(instance, lane, bytes, moved);
    if (status || lane->refers)
      return status;
  }
  tutti_status status = reserve(instance, lane, bytes);
  if (status || !lane->slot)
    return status;
  tt_dtype_copy(lane->slot + lane->slot_used, lane->src + lane->done, (size_t)bytes, false);
  lane->slot_used += bytes;
  *moved = bytes;
  return lane->slot_used >= instance->slice ? tt_move_flush(instance, lane) : TUTTI_OK;
}

static tutti_status move_recv(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  int64_t bytes = piece_of(instance, lane);
  tutti_status status = peek(instance, lane, bytes);
  if (status || !lane->slot)
    return status;
  tt_arith_take(&instance->arith, lane->op->use, lane->src + lane->done, lane->slot + lane->slot_used,
                lane->dst + lane->done, bytes);
  lane->slot_used += bytes;
  *moved = bytes;
  if (lane->slot_used < lane->slot_bytes)
    return TUTTI_OK;
  lane->slot = NULL;
  return instance->ops->release(instance->transport, lane->op->stream);
}

static void move_copy(tt_instance *instance, tt_lane_run *lane, int64_t *moved) {
  *moved = piece_of(instance, lane);
  unsigned char *dst = lane->dst + lane->done; /* also the left operand, where it combines */
  tt_arith_take(&instance->arith, lane->op->use, dst, lane->src + lane->done, dst, *moved);
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
    return move_recv(instance, lane, moved);
  }
}
