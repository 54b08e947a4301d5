/* verify/order.c - freedom from deadlock, for every schedule, number of slices and size of blocks; and an order to run
 * in.
 *
 * Three graphs say what must happen before what. If a wait can close a circle, it does so in one of them:
 *
 *   packed    Small blocks: a message travels in one slot, so nothing of it can be received before its last send, and
 *             the stream's next message begins after its last receive. Nodes are steps. There must be no circle.
 *   slots     Large blocks: each slice takes the only slot of its stream, so slice s+1 is sent after slice s is
 *             received. A send and its receives thus go along together, slice by slice, and are one node. A circle of
 *             waits for the same slice is harmless then (the one of equal slices is a circle in `packed` too): it only
 *             makes steps run side by side. But a circle with an edge "after all slices" stops at some number of
 *             slices.
 *   messages  Some blocks share a slot, others need several. While a send waits, what it has put into a slot already
 *             may not go out. So no send may wait for what its own message, all of its sends and receives as one node,
 *             can hold up. All other waits then find slots that went out, as in `slots`.
 *
 * Without slots a slice is handed over: then no circle at all may be in `slots`. */
#include "verify/proof.h"
#include "verify/scc.h"

#include <stdio.h>
#include <string.h>

static uint32_t first_stream_before(const tt_proof *proof, uint32_t step) {
  if (proof->send_of[step] != TT_NONE)
    return proof->message_end[proof->send_of[step]];
  return proof->message_before[step] != TT_NONE ? proof->first_recv[proof->message_before[step]] : TT_NONE;
}

/* First what the step is after in its rank, then what it is after in its stream. */
static uint32_t before_packed(const void *context, uint32_t step, tt_cursor *cursor) {
  const tt_proof *proof = context;
  bool whole;
  uint32_t before = cursor->begun ? TT_NONE : tt_verify_before(proof, step, &cursor->edge, &whole);
  if (before != TT_NONE)
    return before;
  before = cursor->begun ? cursor->member : first_stream_before(proof, step);
  bool last = before == TT_NONE || proof->send_of[step] != TT_NONE;
  *cursor = (tt_cursor){last ? TT_NONE : proof->next_recv[before], 0, true};
  return before;
}

static uint32_t node_of(const tt_proof *proof, uint32_t step) {
  return proof->send_of[step] == TT_NONE ? step : proof->send_of[step];
}

/* What a send and its receives are after in their ranks. */
static uint32_t next_slots(const tt_proof *proof, uint32_t send, tt_cursor *cursor, bool *whole) {
  if (!cursor->begun)
    *cursor = (tt_cursor){send, 0, true};
  while (cursor->member != TT_NONE) {
    uint32_t before = tt_verify_before(proof, cursor->member, &cursor->edge, whole);
    if (before != TT_NONE)
      return node_of(proof, before);
    *cursor = (tt_cursor){cursor->member == send ? proof->first_recv[send] : proof->next_recv[cursor->member], 0, true};
  }
  return TT_NONE;
}

/* A receive is no node of its own: it hangs on its send. */
static uint32_t before_slots(const void *context, uint32_t step, tt_cursor *cursor) {
  const tt_proof *proof = context;
  bool whole;
  if (node_of(proof, step) == step)
    return next_slots(proof, step, cursor, &whole);
  return cursor->edge++ == 0 ? node_of(proof, step) : TT_NONE;
}

enum { SHOWN = 5 };

/* Names the circle that begins with `step` waiting for `before`. */
static tutti_status deadlock(tt_proof *proof, const tt_precedence *graph, const tt_components *components,
                             uint32_t step, uint32_t before) {
  uint32_t path[SHOWN] = {before};
  uint32_t length = before == step ? 1 : tt_verify_path(graph, components, &proof->arena, before, step, path, SHOWN);
  char text[SHOWN * 144] = "";
  for (uint32_t n = 0; n < length && n < SHOWN && path[n] != step; n++) {
    char place[128];
    tt_verify_place(proof, path[n], place);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s", n == 0 ? "" : ", that for ", place);
  }
  return tt_verify_fail(proof, step, "deadlock: it waits for %s%s", text[0] ? text : "itself",
                        length > SHOWN ? ", ..."
                        : text[0]      ? ", that for the first"
                                       : "");
}

static tutti_status no_memory(const tt_proof *proof) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->step_count);
}

/* A predecessor of `step` in its own component, TT_NONE where there is none. */
static uint32_t circle_at(const tt_precedence *graph, const tt_components *components, uint32_t step) {
  tt_cursor cursor = {0, 0, false};
  uint32_t before;
  while ((before = graph->before(graph->context, step, &cursor)) != TT_NONE)
    if (components->component[before] == components->component[step])
      return before;
  return TT_NONE;
}

static tutti_status check_packed(tt_proof *proof) {
  tt_precedence graph = {proof, proof->step_count, before_packed};
  tt_components components;
  if (!tt_verify_components(&graph, &proof->arena, &components))
    return no_memory(proof);
  proof->order = components.order;
  for (uint32_t step = 0; step < proof->step_count; step++) {
    uint32_t before = circle_at(&graph, &components, step);
    if (before != TT_NONE)
      return deadlock(proof, &graph, &components, step, before);
  }
  return TUTTI_OK;
}

/* A predecessor in its own component that all slices of `step` are after, TT_NONE where there is none. */
static uint32_t hard_circle_at(const tt_proof *proof, const tt_components *components, uint32_t step) {
  tt_cursor cursor = {0, 0, false};
  uint32_t before;
  bool whole;
  while ((before = next_slots(proof, step, &cursor, &whole)) != TT_NONE)
    if (components->component[before] == components->component[step] && whole)
      return before;
  return TT_NONE;
}

static tutti_status check_slots(tt_proof *proof) {
  tt_precedence graph = {proof, proof->step_count, before_slots};
  tt_components components;
  if (!tt_verify_components(&graph, &proof->arena, &components))
    return no_memory(proof);
  proof->facts.rendezvous = components.count == proof->step_count;
  for (uint32_t step = 0; step < proof->step_count; step++) {
    uint32_t before = node_of(proof, step) == step ? hard_circle_at(proof, &components, step) : TT_NONE;
    if (before != TT_NONE)
      return deadlock(proof, &graph, &components, step, before);
  }
  return TUTTI_OK;
}

/* ---- messages ---- */

static uint32_t message_of(const tt_proof *proof, uint32_t step) {
  uint32_t send = node_of(proof, step);
  return proof->step[send]->kind == TT_STEP_SEND ? proof->message_end[send] : send;
}

/* A send's receives follow it, then comes the send before it. */
static uint32_t next_member(const tt_proof *proof, uint32_t member) {
  uint32_t send = node_of(proof, member);
  uint32_t recv = member == send ? proof->first_recv[send] : proof->next_recv[member];
  bool more = proof->step[send]->kind == TT_STEP_SEND && !(proof->step[send]->flags & TT_STEP_FIRST);
  return recv != TT_NONE ? recv : more ? send - 1 : TT_NONE;
}

/* A message's node is its last send; its other steps hang on it. */
static uint32_t before_messages(const void *context, uint32_t step, tt_cursor *cursor) {
  const tt_proof *proof = context;
  bool whole;
  if (message_of(proof, step) != step)
    return cursor->edge++ == 0 ? message_of(proof, step) : TT_NONE;
  if (!cursor->begun)
    *cursor = (tt_cursor){step, 0, true};
  while (cursor->member != TT_NONE) {
    uint32_t before = tt_verify_before(proof, cursor->member, &cursor->edge, &whole);
    if (before != TT_NONE)
      return message_of(proof, before);
    *cursor = (tt_cursor){next_member(proof, cursor->member), 0, true};
  }
  return TT_NONE;
}

/* What a send waits for though its own message can hold it up, TT_NONE where there is nothing. */
static uint32_t held_by(const tt_proof *proof, const tt_components *components, uint32_t send) {
  const tt_step *at = proof->step[send];
  for (uint32_t n = 0; at->kind == TT_STEP_SEND && n < at->wait_count; n++) {
    const tt_wait *wait = &tt_verify_plan_of(proof, send)->wait[at->wait_first + n];
    uint32_t before = tt_verify_wait_step(proof, send, wait), own = message_of(proof, send);
    if (message_of(proof, before) != own &&
        components->component[message_of(proof, before)] == components->component[own])
      return before;
  }
  return TT_NONE;
}

static tutti_status check_held(tt_proof *proof) {
  tt_precedence graph = {proof, proof->step_count, before_messages};
  tt_components components;
  if (!tt_verify_components(&graph, &proof->arena, &components))
    return no_memory(proof);
  for (uint32_t step = 0; step < proof->step_count; step++) {
    uint32_t before = held_by(proof, &components, step);
    char place[128];
    if (before == TT_NONE)
      continue;
    tt_verify_place(proof, before, place);
    return tt_verify_fail(proof, step,
                          "deadlock: it waits for %s, and that for its message, if only a part of it fits "
                          "in a slot",
                          place);
  }
  return TUTTI_OK;
}

tutti_status tt_verify_order(tt_proof *proof) {
  tutti_status status = check_packed(proof);
  if (status == TUTTI_OK)
    status = check_slots(proof);
  return status == TUTTI_OK ? check_held(proof) : status;
}
