/* lower/flow.c - primitives -> values and events of one rank.
 *
 * Each primitive's edges are taken in the order of time: what comes is combined with what the rank has (a partial result) or takes
 * its place (a block, a complete result); what goes is what the rank has then. Equal payloads between the same two ranks are one
 * event, and its result one value, so that one-step allreduce over a halving tree becomes recursive doubling. */
#include "lower/flow.h"

#include <string.h>

void *tt_lower_push(tt_arena *arena, void *vector, int64_t *count, int64_t *room, size_t size) {
  void **base = vector;
  if (*count == *room) {
    int64_t wider = *room ? 2 * *room : 64;
    void *grown = tt_arena_alloc(arena, (size_t)wider, size);
    if (!grown)
      return NULL;
    if (*count)
      memcpy(grown, *base, (size_t)*count * size);
    *base = grown;
    *room = wider;
  }
  return (char *)*base + (size_t)(*count)++ * size;
}

/* ---- a table from key bytes to a number, for one stage ---- */

typedef struct entry {
  uint64_t hash;
  int64_t number; /* -1: free */
} entry;

typedef struct table {
  entry *entry;
  int64_t room, used; /* room: a power of two */
} table;

static bool table_grow(table *in, tt_arena *arena) {
  table wider = {.room = in->room ? 2 * in->room : 256, .used = in->used};
  wider.entry = tt_arena_alloc(arena, (size_t)wider.room, sizeof *wider.entry);
  if (!wider.entry)
    return false;
  for (int64_t n = 0; n < wider.room; n++)
    wider.entry[n].number = -1;
  for (int64_t n = 0; n < in->room; n++) {
    if (in->entry[n].number < 0)
      continue;
    int64_t at = (int64_t)in->entry[n].hash & (wider.room - 1);
    while (wider.entry[at].number >= 0)
      at = (at + 1) & (wider.room - 1);
    wider.entry[at] = in->entry[n];
  }
  *in = wider;
  return true;
}

typedef bool (*is_same)(const void *context, int64_t number, const void *key);

/* The entry with this key, or a free one (number -1) whose hash is set; NULL where memory is exhausted. */
static entry *table_find(table *in, tt_arena *arena, const void *key, size_t size, is_same same, const void *context) {
  if (2 * in->used >= in->room && !table_grow(in, arena))
    return NULL;
  uint64_t hash = tt_hash(0, key, size);
  int64_t at = (int64_t)(hash & (uint64_t)(in->room - 1));
  while (in->entry[at].number >= 0 && !(in->entry[at].hash == hash && same(context, in->entry[at].number, key)))
    at = (at + 1) & (in->room - 1);
  in->entry[at].hash = hash;
  in->used += in->entry[at].number < 0;
  return &in->entry[at];
}

/* ---- state of one stage ---- */

typedef struct event_key {
  int32_t peer;
  uint32_t sends;
  uint32_t time, unused; /* time: of results; a block that comes by two ways is taken the first time */
  tt_payload payload;
} event_key;

typedef struct own_key {
  uint32_t space, block;
} own_key;

typedef struct stage_flow {
  const tt_lowering *lowering;
  tt_flow *flow;
  int number;
  table events, owned;
  event_key *key; /* of each event of the stage */
  int64_t key_count, key_room, first_event;
} stage_flow;

static bool same_event(const void *context, int64_t number, const void *key) {
  const stage_flow *in = context;
  return memcmp(&in->key[number - in->first_event], key, sizeof(event_key)) == 0;
}

static bool same_own(const void *context, int64_t number, const void *key) {
  const stage_flow *in = context;
  const own_key *own = key;
  const tt_value *value = &in->flow->value[number];
  return value->place.space == own->space && value->block == own->block;
}

/* ---- values ---- */

static int32_t new_value(stage_flow *in, tt_value value) {
  tt_flow *flow = in->flow;
  tt_value *slot = tt_lower_push(flow->arena, &flow->value, &flow->value_count, &flow->value_room, sizeof *slot);
  if (!slot)
    return -1;
  *slot = value;
  slot->heir = -1;
  slot->last_use = value.made;
  return (int32_t)(flow->value_count - 1);
}

static int32_t own_value(stage_flow *in, tt_buffer from, uint32_t block) {
  own_key key = {(uint32_t)from, block};
  entry *found = table_find(&in->owned, in->flow->arena, &key, sizeof key, same_own, in);
  if (!found)
    return -1;
  if (found->number < 0)
    found->number = new_value(in, (tt_value){.block = block,
                                             .left = -1,
                                             .receive = -1,
                                             .place = {(uint32_t)from, block},
                                             .made = in->lowering->stage_time[in->number],
                                             .placed = true});
  return (int32_t)found->number;
}

static uint32_t later(uint32_t a, uint32_t b) { return a > b ? a : b; }

static void use_as_left(stage_flow *in, int32_t value, int32_t heir, uint32_t time) {
  tt_value *used = &in->flow->value[value];
  used->last_use = later(used->last_use, time);
  used->left_uses++;
  used->heir = heir;
}

static void use_otherwise(tt_value *used, uint32_t time) {
  used->last_use = later(used->last_use, time);
  used->last_other_use = later(used->last_other_use, time);
  used->other_uses++;
}

/* What came with event `receive`, combined with `left` (or alone where left is -1). Where primitives share the payload, `left` has
 * the same contributions for each of them, and the first one's result serves all. */
static int32_t received_value(stage_flow *in, int32_t left, int64_t receive) {
  if (in->flow->event[receive].value >= 0)
    return in->flow->event[receive].value;
  uint32_t time = in->flow->event[receive].time;
  int32_t made = new_value(in, (tt_value){.block = in->key[receive - in->first_event].payload.block,
                                          .left = left,
                                          .receive = (int32_t)receive,
                                          .made = time});
  if (made < 0)
    return -1;
  in->flow->event[receive].value = made;
  if (left >= 0)
    use_as_left(in, left, made, time);
  return made;
}

/* ---- events ---- */

/* The event that this edge is: a new one, or one that already carries the payload. An earlier edge with the same payload wins. */
static int64_t edge_event(stage_flow *in, const tt_edge *edge, uint16_t channel, uint64_t order, bool *is_new) {
  event_key key;
  memset(&key, 0, sizeof key); /* compared as bytes */
  key.peer = edge->published && edge->sends ? -1 : edge->peer;
  key.sends = edge->sends;
  key.payload = edge->payload;
  key.time = edge->payload.kind == TT_PAYLOAD_BLOCK ? 0 : edge->time;
  *is_new = false;
  entry *found = table_find(&in->events, in->flow->arena, &key, sizeof key, same_event, in);
  if (!found)
    return -1;
  if (found->number >= 0)
    return found->number;
  tt_flow *flow = in->flow;
  tt_event *event = tt_lower_push(flow->arena, &flow->event, &flow->event_count, &flow->event_room, sizeof *event);
  event_key *kept = tt_lower_push(flow->arena, &in->key, &in->key_count, &in->key_room, sizeof *kept);
  if (!event || !kept)
    return -1;
  *kept = key;
  *event = (tt_event){.time = in->lowering->stage_time[in->number] + edge->time,
                      .tie = edge->tie,
                      .order = order,
                      .peer = key.peer,
                      .value = -1,
                      .channel = channel,
                      .level = in->lowering->level_number[in->number][edge->level],
                      .way = edge->way,
                      .sends = edge->sends,
                      .published = edge->published};
  *is_new = true;
  found->number = flow->event_count - 1;
  return found->number;
}

/* ---- one primitive ---- */

static bool keeps_own(const tt_walk *walk, int64_t rank) { return walk->family->primitive == TT_MULTICAST && walk->root == rank; }

static int32_t take_edge(stage_flow *in, const tt_walk *walk, const tt_edge *edge, uint16_t channel, uint64_t order,
                         int32_t current) {
  bool is_new;
  int64_t event = edge_event(in, edge, channel, order, &is_new);
  if (event < 0)
    return -1;
  if (edge->sends) {
    if (is_new) {
      in->flow->event[event].value = current;
      use_otherwise(&in->flow->value[current], in->flow->event[event].time);
    }
    return current;
  }
  int32_t left = edge->payload.kind == TT_PAYLOAD_PARTIAL ? current : -1;
  int32_t came = received_value(in, left, event);
  return keeps_own(walk, in->flow->rank) ? current : came;
}

/* Whether the primitive's input and result lie at the same place on a rank that has both. */
static bool stays_there(const tt_flow *flow, const tt_family *family) {
  return family->from == family->to || (flow->in_place && family->from == TT_IN && family->to == TT_OUT);
}

/* `own`: the rank's own input of this primitive, or -1. */
static void add_final(stage_flow *in, const tt_walk *walk, int32_t value, int32_t own) {
  tt_flow *flow = in->flow;
  const tt_family *family = walk->family;
  bool reduces = family->primitive == TT_REDUCTION, there = stays_there(flow, family);
  if (value == own && there)
    return;
  tt_final *final = tt_lower_push(flow->arena, &flow->final, &flow->final_count, &flow->final_room, sizeof *final);
  if (!final)
    return;
  *final = (tt_final){.value = value,
                      .place = {(uint32_t)family->to, walk->block},
                      .time = flow->value[value].made,
                      .finish = reduces ? (uint32_t)tt_ir_end_count(in->lowering->composition, family) : 0,
                      .rival = there ? own : -1};
}

/* One part of primitive (i, j). `order` numbers it among all of the stage. */
static bool flow_part(stage_flow *in, tt_walk *walk, int64_t i, int64_t j, uint16_t channel, uint64_t order) {
  tt_flow *flow = in->flow;
  bool is_end = tt_ir_has_end(walk->family, i, j, flow->rank), is_root = walk->root == flow->rank;
  bool reduces = walk->family->primitive == TT_REDUCTION;
  if (!tt_walk_edges(walk, flow->rank))
    return false;
  if (walk->edge_count == 0 && !(is_end && is_root))
    return true;
  int32_t own = (reduces ? is_end : is_root) ? own_value(in, walk->family->from, walk->block) : -1, current = own;
  for (int64_t n = 0; n < walk->edge_count && !flow->arena->failed; n++)
    current = take_edge(in, walk, &walk->edge[n], channel, order, current);
  if (!flow->arena->failed && (reduces ? is_root : is_end))
    add_final(in, walk, current, own);
  return !flow->arena->failed;
}

/* ---- one stage ---- */

/* Whether equal partial results serve several primitives: every rank's block goes to several roots. */
static bool is_shared(const tt_family *family) {
  return family->primitive == TT_REDUCTION && family->ends.kind == TT_ENDS_ALL && family->block.i == 0 && family->block.j == 0;
}

static bool stays_in_place(const tt_lower_stage *stage) {
  for (int n = 0; n < stage->level_count; n++)
    if (stage->level[n].fold || stage->level[n].striped)
      return false;
  return true;
}

/* A star may publish where all ranks know that each member of the group sends, or gets, the same. */
static bool publishes(const tt_lowering *lowering, const tt_lower_stage *stage, const tt_family *family) {
  if (family->primitive == TT_MULTICAST)
    return family->ends.kind == TT_ENDS_ALL;
  bool all_roots = family->root.base == 0 && family->root.i == 1 && family->root.j == 0 && family->count_j == 1 &&
                   family->count_i == lowering->composition->rank_count;
  return is_shared(family) && all_roots && stays_in_place(stage);
}

static bool flow_family(stage_flow *in, int family_number, uint64_t *order, tt_walk *walk) {
  const tt_lowering *lowering = in->lowering;
  const tt_lower_stage *stage = &lowering->stage[in->number];
  const tt_family *family = &lowering->composition->stage[in->number].family[family_number];
  int64_t stripe = lowering->params.stripe > 0 ? lowering->params.stripe : 1;
  walk->stage = stage;
  walk->family = family;
  walk->family_id = family_number;
  walk->shared = is_shared(family);
  walk->publish = publishes(lowering, stage, family);
  for (int64_t i = 0; i < family->count_i; i++)
    for (int64_t j = 0; j < family->count_j; j++)
      for (uint32_t part = 0; part < lowering->part_count; part++, (*order)++) {
        int64_t channel = part / stripe;
        walk->root = tt_ir_at(family->root, i, j);
        walk->one = tt_ir_at(family->ends.one, i, j);
        walk->owner = (int32_t)(*order / lowering->part_count);
        walk->block = (uint32_t)tt_ir_at(family->block, i, j) * lowering->part_count + part;
        walk->part = part % stripe;
        walk->backward = channel % 2 == 1;
        if (!flow_part(in, walk, i, j, (uint16_t)channel, *order))
          return false;
      }
  return true;
}

static bool flow_stage(const tt_lowering *lowering, tt_flow *flow, int number, tt_walk *walk) {
  stage_flow in = {.lowering = lowering, .flow = flow, .number = number, .first_event = flow->event_count};
  uint64_t order = 0;
  if (lowering->stage[number].position[flow->rank] < 0)
    return true;
  for (int n = 0; n < lowering->composition->stage[number].family_count; n++)
    if (!flow_family(&in, n, &order, walk))
      return false;
  return true;
}

bool tt_lower_flow(const tt_lowering *lowering, tt_flow *flow) {
  tt_walk walk = {.arena = flow->arena};
  for (int n = 0; n < lowering->composition->stage_count; n++)
    if (!flow_stage(lowering, flow, n, &walk))
      return false;
  return true;
}
