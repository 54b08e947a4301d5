/* lower/sequence.c - the order of steps: round; then sends, receives, copies; then tie, peer, lane, primitive.
 *
 * A radix sort, least digit first. It is stable, so that the last key decides first, and what is equal in all
 * stays in the order of primitives. Costs a few passes over the steps, whatever their number. */
#include "lower/sequence.h"

#include <assert.h>
#include <string.h>

#define BRANCHES 64

/* Of a digit: wide ones for many steps, since each digit costs a pass; narrow ones for few, since it costs a table,
 * too. */
enum { BITS_MOST = 12, BITS_LEAST = 8, MANY = 1024 };

enum { CLASS_SEND, CLASS_RECV, CLASS_COPY, CLASSES };

static uint32_t first_final(const tt_sequence *in) { return (uint32_t)in->flow->event_count; }

static uint32_t first_local(const tt_sequence *in) { return first_final(in) + (uint32_t)in->flow->final_count; }

int32_t tt_sequence_local(const tt_sequence *in, uint32_t number, bool *copies) {
  if (number < first_local(in))
    return -1;
  *copies = (number - first_local(in)) % 2 == 0;
  return in->flow->local[(number - first_local(in)) / 2];
}

const tt_event *tt_sequence_event(const tt_sequence *in, uint32_t number) {
  bool copies;
  int32_t local = tt_sequence_local(in, number, &copies);
  if (local >= 0 && in->flow->value[local].event < 0)
    return NULL;
  if (local >= 0)
    return &in->flow->event[in->flow->value[local].event];
  return number < first_final(in) ? &in->flow->event[number] : NULL;
}

const tt_final *tt_sequence_final(const tt_sequence *in, uint32_t number) {
  assert(number >= first_final(in) && number < first_local(in));
  return &in->flow->final[number - first_final(in)];
}

uint32_t tt_sequence_lane_id(const tt_event *event) {
  assert(event->level < TT_PLAN_LEVELS);
  return (((uint32_t)event->channel * TT_PLAN_LEVELS + event->level) * BRANCHES + event->branch % BRANCHES) * 2 +
         event->published;
}

/* ---- keys ---- */

static uint64_t lane_key(const tt_sequence *in, uint32_t number) {
  const tt_event *event = tt_sequence_event(in, number);
  return event ? tt_sequence_lane_id(event) : 0;
}

/* Ties of shared results are those of their source: what it sends to one peer stays together. */
static uint64_t peer_key(const tt_sequence *in, uint32_t number) {
  const tt_event *event = tt_sequence_event(in, number);
  return event && event->sends ? (uint64_t)(event->peer + 1) : 0;
}

/* Of a final or a local one. */
static const tt_value *value_of(const tt_sequence *in, uint32_t number) {
  bool copies;
  int32_t local = tt_sequence_local(in, number, &copies);
  return &in->flow->value[local >= 0 ? local : tt_sequence_final(in, number)->value];
}

static uint64_t tie_key(const tt_sequence *in, uint32_t number) {
  const tt_event *event = tt_sequence_event(in, number);
  return event ? event->tie : value_of(in, number)->block;
}

static uint64_t round_key(const tt_sequence *in, uint32_t number) {
  const tt_event *event = tt_sequence_event(in, number);
  if (!event && number >= first_local(in))
    return (uint64_t)value_of(in, number)->made * CLASSES + CLASS_COPY;
  if (!event)
    return (uint64_t)tt_sequence_final(in, number)->time * CLASSES + CLASS_COPY;
  return (uint64_t)event->time * CLASSES + (event->sends ? CLASS_SEND : CLASS_RECV);
}

/* ---- sort ---- */

static void sort_digit(const uint64_t *key, int shift, int bits, const uint32_t *from, int64_t count, uint32_t *to) {
  uint32_t place[(1 << BITS_MOST) + 1];
  uint64_t mask = (1u << bits) - 1;
  memset(place, 0, (mask + 2) * sizeof *place);
  for (int64_t n = 0; n < count; n++)
    place[(key[from[n]] >> shift & mask) + 1]++;
  for (uint64_t digit = 0; digit < mask; digit++)
    place[digit + 1] += place[digit];
  for (int64_t n = 0; n < count; n++)
    to[place[key[from[n]] >> shift & mask]++] = from[n];
}

/* Afterwards key[number[0]] <= key[number[1]] <= ... */
static void sort(const uint64_t *key, uint32_t *number, int64_t count, uint32_t *spare) {
  int bits = count < MANY ? BITS_LEAST : BITS_MOST;
  uint64_t most = 0;
  for (int64_t n = 0; n < count; n++)
    most = key[number[n]] > most ? key[number[n]] : most;
  for (int shift = 0; shift < 64 && most >> shift; shift += bits) {
    sort_digit(key, shift, bits, number, count, spare);
    memcpy(number, spare, (size_t)count * sizeof *number);
  }
}

/* A combination that accumulates on its left operand needs no copy of it. */
static bool accumulates(const tt_flow *flow, const tt_value *local) {
  return tt_lower_same_place(flow, local->place, flow->value[local->left].place);
}

static void collect_locals(tt_sequence *in, bool saved) {
  const tt_flow *flow = in->flow;
  for (uint32_t n = 0; n < flow->local_count; n++) {
    const tt_value *value = &flow->value[flow->local[n]];
    if (saved != (value->right < 0))
      continue;
    if (saved || !accumulates(flow, value))
      in->number[in->count++] = first_local(in) + 2 * n;
    if (!saved)
      in->number[in->count++] = first_local(in) + 2 * n + 1;
  }
}

static void collect_finals(tt_sequence *in, bool own) {
  const tt_flow *flow = in->flow;
  for (uint32_t n = 0; n < flow->final_count; n++)
    if (flow->final[n].copies && own == tt_value_is_own(&flow->value[flow->final[n].value]))
      in->number[in->count++] = first_final(in) + n;
}

/* All events; own blocks are saved and copied before others lie there; and last the local combinations: they sort
 * behind the whole message. */
static void collect(tt_sequence *in) {
  const tt_flow *flow = in->flow;
  for (uint32_t n = 0; n < flow->event_count; n++)
    in->number[in->count++] = n;
  collect_locals(in, true);
  collect_finals(in, true);
  collect_finals(in, false);
  collect_locals(in, false);
}

bool tt_sequence_make(const tt_flow *flow, tt_sequence *sequence) {
  uint64_t (*const key_of[])(const tt_sequence *, uint32_t) = {lane_key, peer_key, tie_key, round_key};
  size_t room = (size_t)(flow->event_count + flow->final_count + 2 * flow->local_count); /* also the range of numbers */
  uint32_t *spare = tt_arena_alloc(flow->arena, room, sizeof *spare);
  uint64_t *key = tt_arena_alloc(flow->arena, room, sizeof *key);
  *sequence = (tt_sequence){.flow = flow, .number = tt_arena_alloc(flow->arena, room, sizeof *sequence->number)};
  if (!spare || !key || !sequence->number)
    return false;
  collect(sequence);
  assert((size_t)sequence->count <= room);
  for (size_t k = 0; k < TT_COUNT(key_of); k++) {
    for (int64_t n = 0; n < sequence->count; n++)
      key[sequence->number[n]] = key_of[k](sequence, sequence->number[n]);
    sort(key, sequence->number, sequence->count, spare);
  }
  return true;
}
