/* lower/values.c - the table of events, and values that are made on demand. */
#include "lower/values.h"

#include <assert.h>
#include <string.h>

/* ---- the table ---- */

/* What makes two edges the same event. */
typedef struct event_key {
  int32_t peer;
  uint32_t sends;
  uint32_t time, unused; /* time: of results; a block that comes by two ways is taken the first time */
  tt_payload payload;
} event_key;
_Static_assert(sizeof(event_key) == 4 * sizeof(uint32_t) + 48 && sizeof(tt_payload) == 48,
               "no padding: keys are compared and hashed byte by byte");

typedef struct tt_known_event {
  event_key key;
  uint64_t hash;
  int64_t event;
} known_event;

typedef struct tt_event_table table;

static bool table_grow(table *in, tt_arena *arena) {
  int64_t room = in->room ? 2 * in->room : 256;
  int32_t *slot = tt_arena_alloc(arena, (size_t)room, sizeof *slot);
  if (!slot)
    return false;
  for (int64_t n = 0; n < in->count; n++) {
    int64_t at = (int64_t)(in->known[n].hash & (uint64_t)(room - 1));
    while (slot[at])
      at = (at + 1) & (room - 1);
    slot[at] = (int32_t)n + 1;
  }
  in->slot = slot;
  in->room = room;
  return true;
}

/* The entry with this key, or a new one, whose event is -1; NULL where memory is exhausted. */
static known_event *table_find(table *in, tt_arena *arena, const event_key *key) {
  assert((in->room & (in->room - 1)) == 0);
  if (2 * in->count >= in->room && !table_grow(in, arena))
    return NULL;
  uint64_t hash = tt_hash(0, key, sizeof *key);
  int64_t at = (int64_t)(hash & (uint64_t)(in->room - 1));
  for (; in->slot[at]; at = (at + 1) & (in->room - 1)) {
    known_event *known = &in->known[in->slot[at] - 1];
    if (known->hash == hash && memcmp(&known->key, key, sizeof *key) == 0)
      return known;
  }
  known_event *added = tt_lower_push(arena, &in->known, &in->count, &in->known_room, sizeof *added);
  if (!added)
    return NULL;
  *added = (known_event){*key, hash, -1};
  in->slot[at] = (int32_t)in->count;
  return added;
}

/* ---- events ---- */

static int32_t peer_of(const tt_edge *edge) { return edge->published && edge->sends ? -1 : edge->peer; }

static event_key key_of(const tt_edge *edge) {
  return (event_key){.peer = peer_of(edge),
                     .sends = edge->sends,
                     .time = edge->payload.kind == TT_PAYLOAD_BLOCK ? 0 : edge->time,
                     .payload = edge->payload};
}

static int32_t new_event(tt_stage_flow *in, const tt_edge *edge, uint16_t channel) {
  tt_flow *flow = in->flow;
  tt_event *event = tt_lower_push(flow->arena, &flow->event, &flow->event_count, &flow->event_room, sizeof *event);
  if (!event)
    return -1;
  *event = (tt_event){.time = in->lowering->stage_time[in->number] + edge->time,
                      .tie = edge->tie,
                      .peer = peer_of(edge),
                      .value = -1,
                      .channel = channel,
                      .level = in->lowering->level_number[in->number][edge->level],
                      .branch = edge->branch,
                      .sends = edge->sends,
                      .published = edge->published};
  return (int32_t)(flow->event_count - 1);
}

static bool same_event(const tt_edge *a, const tt_edge *b) {
  return peer_of(a) == peer_of(b) && a->sends == b->sends &&
         (a->time == b->time || a->payload.kind == TT_PAYLOAD_BLOCK) &&
         memcmp(&a->payload, &b->payload, sizeof a->payload) == 0;
}

/* The event of an earlier edge of the same walk, or -1. */
static int32_t event_in_walk(const tt_walk *walk, int64_t number) {
  for (int64_t n = 0; n < number; n++)
    if (same_event(&walk->edge[n], &walk->edge[number]))
      return walk->edge[n].event;
  return -1;
}

#define FEW 16

int32_t tt_flow_event(tt_stage_flow *in, tt_walk *walk, int64_t number, uint16_t channel, bool *is_new) {
  assert(number >= 0 && number < walk->edge_count);
  tt_edge *edge = &walk->edge[number];
  bool in_table = edge->payload.owner < 0 || walk->edge_count > FEW;
  known_event unknown = {.event = -1}, *known = &unknown;
  if (in_table) {
    event_key key = key_of(edge);
    known = table_find(&in->events, in->flow->arena, &key);
  } else
    unknown.event = event_in_walk(walk, number);
  if (!known)
    return -1;
  *is_new = known->event < 0;
  if (*is_new)
    known->event = new_event(in, edge, channel);
  return edge->event = (int32_t)known->event;
}

/* ---- values ---- */

static int32_t new_value(tt_stage_flow *in, tt_value value) {
  tt_flow *flow = in->flow;
  tt_value *slot = tt_lower_push(flow->arena, &flow->value, &flow->value_count, &flow->value_room, sizeof *slot);
  if (!slot)
    return -1;
  *slot = value;
  slot->heir = -1;
  slot->last_use = value.made;
  return (int32_t)(flow->value_count - 1);
}

int32_t tt_flow_own(tt_stage_flow *in, tt_buffer from, uint32_t block) {
  int32_t *owned = tt_lower_number(&in->owned, in->flow->arena, (uint64_t)from << 32 | block);
  if (!owned)
    return -1;
  if (*owned == 0)
    *owned = 1 + new_value(in, (tt_value){.block = block,
                                          .event = -1,
                                          .left = -1,
                                          .right = -1,
                                          .elder = -1,
                                          .place = {(uint32_t)from, block},
                                          .made = in->lowering->stage_time[in->number],
                                          .placed = true});
  return *owned - 1;
}

int32_t tt_flow_find_own(tt_stage_flow *in, tt_buffer from, uint32_t block) {
  const int32_t *owned = tt_lower_number(&in->owned, in->flow->arena, (uint64_t)from << 32 | block);
  return owned ? *owned - 1 : -1;
}

int32_t tt_flow_came(tt_stage_flow *in, int32_t event, uint32_t block) {
  tt_event *of = &in->flow->event[event];
  if (of->value < 0)
    of->value = new_value(
        in, (tt_value){.block = block, .event = event, .left = -1, .right = -1, .elder = -1, .made = of->time});
  assert(of->value < 0 || in->flow->value[of->value].block == block);
  return of->value;
}

int32_t tt_flow_saved(tt_stage_flow *in, int32_t own) {
  const tt_value *of = &in->flow->value[own];
  assert(tt_value_is_own(of));
  return new_value(
      in, (tt_value){.block = of->block, .event = -1, .left = own, .right = -1, .elder = -1, .made = of->made});
}

/* Primitives that share payloads may ask for the same combination again. */
static int32_t find_combined(const tt_flow *flow, int32_t left, int32_t right) {
  int32_t found = flow->value[left].heir;
  while (found >= 0 && flow->value[found].right != right)
    found = flow->value[found].elder;
  return found;
}

int32_t tt_flow_combined(tt_stage_flow *in, int32_t left, int32_t right, int32_t event, bool is_new) {
  if (left < 0 || right < 0)
    return -1;
  tt_flow *flow = in->flow;
  assert(flow->value[left].block == flow->value[right].block && !flow->event[event].sends);
  int32_t found = is_new ? -1 : find_combined(flow, left, right);
  if (found >= 0)
    return found;
  int32_t made = new_value(in, (tt_value){.block = flow->value[left].block,
                                          .event = event,
                                          .left = left,
                                          .right = right,
                                          .elder = flow->value[left].heir,
                                          .made = flow->event[event].time});
  if (made >= 0)
    flow->value[left].heir = made;
  return made;
}
