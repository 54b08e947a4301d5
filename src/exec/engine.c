/* exec/engine.c - the interpreter: each lane goes on as far as it can, a slice at a time, and never blocks.
 *
 * Of a lane's current step, `done` bytes are moved, `granted` bytes are allowed by its waits, and `length` are all.
 * Lanes take turns slice by slice, so that they overlap; a call goes round until nothing moves or BYTES_A_CALL have
 * moved. Blocks of no length leave no trace in a stream and a message of such blocks is not sent: both ends know. */
#include "exec/engine.h"

#include <assert.h>
#include <stdio.h>

enum { BYTES_A_CALL = 512 << 10 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Sets the lane to the beginning of its current step. */
static void enter(tt_instance *instance, tt_lane_run *lane) {
  assert(!lane->entered && lane->op < lane->end);
  const tt_op *op = lane->op;
  bool in_cell = instance->beside && op->kind != TT_STEP_COPY &&
                 instance->beside->has(instance->beside->user, (uint32_t)(op - instance->steps.op));
  lane->in_cell = in_cell && op->kind != TT_STEP_SEND;
  lane->length = in_cell && op->kind == TT_STEP_SEND ? 0 : tt_blocks_bytes(&instance->blocks, op->length);
  lane->done = lane->granted = 0;
  lane->dst = op->kind == TT_STEP_SEND ? NULL : tt_memory_at(&instance->memory, op->dst, &instance->blocks);
  lane->src = op->kind == TT_STEP_RECV ? lane->dst : tt_memory_at(&instance->memory, op->src, &instance->blocks);
  lane->mark = tt_blocks_mark(op->length, lane->length);
  lane->marked = false;
  lane->refers = (op->media & TT_MEDIA_LENT) && lane->length >= instance->run.lends_from;
  lane->entered = true;
}

/* Grants the lane more bytes of its step, at least up to the end of a slice; false where its waits allow no more. */
static bool grant(const tt_instance *instance, tt_lane_run *lane) {
  const tt_wait_on *wait = &instance->steps.wait[lane->op->wait_first];
  int64_t limit = lane->length;
  for (uint32_t n = 0; n < lane->op->wait_count; n++) {
    const tt_lane_run *other = wait[n].lane;
    if (other->op > wait[n].op)
      continue;
    if (other->op < wait[n].op || wait[n].whole || limit == 0)
      return false;
    limit = least(limit, other->done);
  }
  if (limit < lane->length && limit - lane->done < instance->slice)
    return false;
  lane->granted = limit == lane->length ? limit : lane->done + instance->slice;
  assert(lane->done <= lane->granted && lane->granted <= limit);
  return true;
}

/* What the lane's step has done just now. */
static void watch_step(tt_instance *instance, const tt_op *op) {
  if (op->kind == TT_STEP_SEND)
    tt_stopwatch_sent(&instance->stopwatch, op->level, tt_op_far(op));
  else
    tt_stopwatch_moved(&instance->stopwatch, op->level, tt_op_far(op));
}

/* The lane has to wait: what it has put into a slot goes out, unless its message is to stay in one piece. Nobody waits
 * for a part of it meanwhile: what the rest waits for is of earlier rounds. */
static tutti_status hold(tt_instance *instance, tt_lane_run *lane, bool *moved) {
  if (lane->op->kind != TT_STEP_SEND || !lane->slot || tt_op_far(lane->op))
    return TUTTI_OK;
  *moved = true;
  tutti_status status = tt_move_flush(instance, lane);
  if (instance->stopwatch.spent)
    watch_step(instance, lane->op);
  return status;
}

static tutti_status end_message(tt_instance *instance, tt_lane_run *lane) {
  for (tt_media left = lane->went; left; left &= (tt_media)(left - 1))
    instance->streams.sent[__builtin_ctz(left)].messages++;
  instance->executor.went |= lane->went;
  lane->went = 0;
  return tt_move_flush(instance, lane);
}

/* The lane's step is complete. */
static tutti_status leave(tt_instance *instance, tt_lane_run *lane) {
  assert(lane->entered && lane->done == lane->length);
  const tt_op *op = lane->op;
  tutti_status status = TUTTI_OK;
  if (op->ends_message && op->kind == TT_STEP_SEND)
    status = end_message(instance, lane);
  else if (op->ends_message && (lane->slot || lane->remote))
    status = tt_move_mismatch(instance, lane, "sent another message");
  lane->entered = false;
  lane->done = lane->granted = 0;
  lane->op++;
  return status;
}

static void log_access(const tt_instance *instance, const tt_lane_run *lane, int64_t bytes) {
  tt_access access = {.rank = instance->plan->rank,
                      .lane = (uint32_t)(lane - instance->lane),
                      .step = (uint32_t)(lane->op - lane->first),
                      .bytes = (size_t)bytes};
  if (lane->op->kind != TT_STEP_RECV) {
    access.address = lane->src + lane->done;
    instance->log.write(instance->log.user, &access);
  }
  if (lane->op->kind != TT_STEP_SEND) {
    access.address = lane->dst + lane->done;
    access.write = true;
    instance->log.write(instance->log.user, &access);
  }
}

/* Whom the lane waited for, where the transport says that it is gone. */
static tutti_status name_peer(tt_instance *instance, const tt_lane_run *lane, tutti_status status) {
  int32_t peer = instance->plan->step[lane->op - instance->steps.op].peer;
  if (status == TUTTI_ERR_PEER && peer >= 0)
    instance->fault.peer = tt_stream_table_spec_of(instance->streams.of)->job_rank[peer];
  return status;
}

/* One turn of a lane: until it has to wait, is through, or has moved a slice. */
static tutti_status visit(tt_instance *instance, tt_lane_run *lane, int64_t *moved_bytes, bool *moved) {
  int64_t turn = instance->slice;
  tutti_status status = TUTTI_OK;
  if (instance->stopwatch.spent)
    tt_stopwatch_look(&instance->stopwatch);
  while (status == TUTTI_OK && lane->op != lane->end && turn > 0) {
    if (!lane->entered)
      enter(instance, lane);
    if (lane->done == lane->granted && !grant(instance, lane))
      return hold(instance, lane, moved);
    int64_t bytes = 0;
    if (lane->length > 0)
      status = tt_move(instance, lane, &bytes);
    if (status != TUTTI_OK || (bytes == 0 && lane->length > 0))
      return name_peer(instance, lane, status);
    assert(bytes >= 0 && lane->done + bytes <= lane->granted);
    if (instance->log.write)
      log_access(instance, lane, bytes);
    *moved = true;
    *moved_bytes += bytes;
    turn -= bytes;
    lane->done += bytes;
    const tt_op *op = lane->op;
    if (lane->done == lane->length)
      status = leave(instance, lane);
    if (instance->stopwatch.spent)
      watch_step(instance, op);
  }
  return status;
}

/* One turn of every lane that is not through. */
static tutti_status go_round(tt_instance *instance, int64_t *moved_bytes, bool *moved) {
  uint32_t n = 0;
  while (n < instance->active_count) {
    tt_lane_run *lane = &instance->lane[instance->active[n]];
    tutti_status status = visit(instance, lane, moved_bytes, moved);
    if (status != TUTTI_OK)
      return status;
    if (lane->op == lane->end)
      instance->active[n] = instance->active[--instance->active_count];
    else
      n++;
  }
  return TUTTI_OK;
}

/* Whether what was sent reaches its readers without this rank. */
static bool is_sent(const tt_instance *instance) {
  for (uint32_t n = 0; n < instance->steps.send.count; n++)
    if (instance->streams.ops->unsent(instance->streams.transport, instance->steps.send.stream[n]) > 0)
      return false;
  return true;
}

/* Whether nobody needs this rank any more: its buffers, where they were sent by reference, or its help. */
static bool settled(tt_instance *instance) {
  assert(instance->active_count == 0);
  for (uint32_t n = 0; instance->run.referred && n < instance->steps.refer.count; n++)
    if (instance->streams.ops->unreleased(instance->streams.transport, instance->steps.refer.stream[n]) > 0)
      return false;
  instance->run.referred = false;
  tt_instance_end_lending(instance);
  return is_sent(instance);
}

/* A reader's peer, or a sender's; a stream of several readers waits for any of them. */
static bool awaits_neighbour(const tt_instance *instance, const tt_lane_run *lane, const bool *neighbour) {
  const tt_step *step = &instance->plan->step[lane->op - instance->steps.op];
  if (step->kind == TT_STEP_COPY)
    return false;
  return step->peer < 0 || neighbour[step->peer];
}

bool tt_instance_awaits_neighbour(const tt_instance *instance) {
  const bool *neighbour = tt_stream_table_neighbours(instance->streams.of);
  for (uint32_t n = 0; neighbour && n < instance->active_count; n++)
    if (awaits_neighbour(instance, &instance->lane[instance->active[n]], neighbour))
      return true;
  return false;
}

bool tt_instance_awaits_far(const tt_instance *instance) {
  const bool *far = tt_stream_table_spec_of(instance->streams.of)->far;
  for (uint32_t n = 0; far && n < instance->active_count; n++) {
    const tt_lane_run *lane = &instance->lane[instance->active[n]];
    int32_t peer = instance->plan->step[lane->op - instance->steps.op].peer;
    if (peer >= 0 && far[peer] && lane->done < lane->granted) /* else it waits for other lanes */
      return true;
  }
  return instance->active_count == 0 && !is_sent(instance);
}

static void watch_call(tt_instance *instance, bool done, bool moved) {
  if (done)
    tt_stopwatch_end(&instance->stopwatch);
  else if (!moved)
    tt_stopwatch_idle(&instance->stopwatch);
}

static tutti_status keep_error(tt_instance *instance, tutti_status status) {
  assert(status != TUTTI_OK);
  instance->fault.status = status;
  snprintf(instance->fault.text, sizeof instance->fault.text, "%s", tutti_last_error());
  return status;
}

tutti_status tt_instance_step(tt_instance *instance, bool *done, bool *moved, int64_t *peer) {
  *done = *moved = false;
  tutti_status status = instance->fault.status;
  if (status != TUTTI_OK)
    tt_fail(status, "%s", instance->fault.text);
  bool again = status == TUTTI_OK;
  for (int64_t bytes = 0; again && bytes < BYTES_A_CALL;) {
    again = false;
    status = go_round(instance, &bytes, &again);
    *moved |= again;
    if (status != TUTTI_OK)
      again = false;
  }
  if (status != TUTTI_OK && instance->fault.status == TUTTI_OK)
    keep_error(instance, status);
  if (status != TUTTI_OK)
    *peer = instance->fault.peer;
  else
    *done = instance->active_count == 0 && settled(instance);
  if (instance->stopwatch.spent)
    watch_call(instance, *done, again);
  if (*done && instance->accumulate.on)
    tt_accumulate_narrow(&instance->accumulate, &instance->blocks, &instance->memory);
  return status;
}
