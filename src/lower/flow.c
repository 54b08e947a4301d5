/* lower/flow.c - primitives -> values and events of one rank.
 *
 * Each primitive's edges are taken in the order of time: what comes is combined with what the rank has (a partial
 * result) or takes its place (a block, a complete result); what goes is what the rank has then. Equal payloads between
 * the same two ranks are one event, and its result one value, so that one-step allreduce over a halving tree becomes
 * recursive doubling. */
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

void *tt_lower_keep(tt_arena *arena, const void *vector, int64_t count, size_t size) {
  void *kept = tt_arena_alloc(arena, (size_t)count, size);
  if (kept && count)
    memcpy(kept, vector, (size_t)count * size);
  return kept;
}

/* ---- state of one stage ---- */

/* What makes two edges the same event. */
typedef struct event_key {
  int32_t peer;
  uint32_t sends;
  uint32_t time, unused; /* time: of results; a block that comes by two ways is taken the first time */
  tt_payload payload;
} event_key;

typedef struct known_event {
  event_key key;
  uint64_t hash;
  int64_t event;
} known_event;

/* Events by key. */
typedef struct table {
  known_event *known;
  int64_t count, known_room;
  int32_t *slot; /* number in `known` + 1; 0: free */
  int64_t room;  /* of slots: a power of two */
} table;

typedef struct stage_flow {
  const tt_lowering *lowering;
  tt_flow *flow;
  int number;
  table events;   /* those that edges of several primitives may be */
  int32_t *owned; /* [buffer][plan block]: own value + 1; 0: none yet */
} stage_flow;

/* ---- the table ---- */

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

/* ---- values ---- */

static int32_t new_value(stage_flow *in, tt_value value) {
  tt_flow *flow = in->flow;
  tt_value *slot = tt_lower_push(flow->arena, &flow->value, &flow->value_count, &flow->value_room, sizeof *slot);
  if (!slot)
    return -1;
  *slot = value;
  slot->heir = slot->then = -1;
  slot->last_use = value.made;
  return (int32_t)(flow->value_count - 1);
}

static int32_t own_value(stage_flow *in, tt_buffer from, uint32_t block) {
  size_t blocks = (size_t)in->lowering->composition->block_count * in->lowering->part_count;
  int32_t *owned = &in->owned[(size_t)from * blocks + block];
  if (*owned == 0)
    *owned = 1 + new_value(in, (tt_value){.block = block,
                                          .left = -1,
                                          .receive = -1,
                                          .place = {(uint32_t)from, block},
                                          .made = in->lowering->stage_time[in->number],
                                          .placed = true});
  return *owned - 1;
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

/* What came with event `receive`, combined with `left` (or alone where left is -1). Where primitives share the payload,
 * `left` has the same contributions for each of them, and the first one's result serves all. */
static int32_t received_value(stage_flow *in, int32_t left, int64_t receive, uint32_t block) {
  if (in->flow->event[receive].value >= 0)
    return in->flow->event[receive].value;
  uint32_t time = in->flow->event[receive].time;
  int32_t made = new_value(in, (tt_value){.block = block, .left = left, .receive = (int32_t)receive, .made = time});
  if (made < 0)
    return -1;
  in->flow->event[receive].value = made;
  if (left >= 0)
    use_as_left(in, left, made, time);
  return made;
}

/* Combines `other` onto a value as soon as it is made. */
static void combine_then(stage_flow *in, int32_t value, int32_t other) {
  tt_value *made = value < 0 ? NULL : &in->flow->value[value];
  if (!made || made->then >= 0)
    return;
  made->then = other;
  use_otherwise(&in->flow->value[other], made->made);
}

/* ---- events ---- */

static int32_t peer_of(const tt_edge *edge) { return edge->published && edge->sends ? -1 : edge->peer; }

static event_key key_of(const tt_edge *edge) {
  return (event_key){.peer = peer_of(edge),
                     .sends = edge->sends,
                     .time = edge->payload.kind == TT_PAYLOAD_BLOCK ? 0 : edge->time,
                     .payload = edge->payload};
}

static int32_t new_event(stage_flow *in, const tt_edge *edge, uint16_t channel) {
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
                      .way = edge->way,
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

/* The event that this edge is: a new one, or one that already carries the payload. An earlier edge with the same
 * payload wins. */
static int32_t edge_event(stage_flow *in, tt_walk *walk, int64_t number, uint16_t channel, bool *is_new) {
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

/* ---- one primitive ---- */

static bool keeps_own(const tt_walk *walk, int64_t rank) {
  return walk->family->primitive == TT_MULTICAST && walk->root == rank;
}

/* before: what comes is the left operand. */
static int32_t take_edge(stage_flow *in, tt_walk *walk, int64_t number, uint16_t channel, int32_t current,
                         bool before) {
  const tt_edge *edge = &walk->edge[number];
  bool is_new;
  int32_t event = edge_event(in, walk, number, channel, &is_new);
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
  int32_t came = received_value(in, left, event, edge->payload.block);
  if (before && came >= 0)
    in->flow->value[came].reversed = true;
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

/* Whether the edge brings a shared partial result that comes before the rank's own in the order of the level's groups.
 */
static bool comes_before(const tt_walk *walk, int64_t number, int64_t rank) {
  if (number < 0 || number >= walk->edge_count)
    return false;
  const tt_edge *edge = &walk->edge[number];
  return !edge->sends && edge->payload.kind == TT_PAYLOAD_PARTIAL && edge->payload.owner < 0 &&
         walk->stage->position[edge->peer] < walk->stage->position[rank];
}

/* Whether edge n, which comes before, is the first or the last one of its round that does. */
static bool is_first(const tt_walk *walk, int64_t n, int64_t rank) {
  return !comes_before(walk, n - 1, rank) || walk->edge[n - 1].time != walk->edge[n].time;
}

static bool is_last(const tt_walk *walk, int64_t n, int64_t rank) {
  return !comes_before(walk, n + 1, rank) || walk->edge[n + 1].time != walk->edge[n].time;
}

/* What a rank holds along the edges of one primitive. Ranks that get the same result must combine in the same order, to
 * the bit: of one round, what comes from groups before its own first, then its own, then the rest. */
static int32_t take_edges(stage_flow *in, tt_walk *walk, uint16_t channel, int32_t current) {
  int64_t rank = in->flow->rank;
  int32_t held = -1;
  for (int64_t n = 0; n < walk->edge_count && !in->flow->arena->failed; n++) {
    bool before = comes_before(walk, n, rank), first = before && is_first(walk, n, rank);
    bool last = before && is_last(walk, n, rank), alone = first && last;
    if (first && !alone) {
      held = current;
      current = -1;
    }
    current = take_edge(in, walk, n, channel, current, alone);
    if (last && !alone && held >= 0)
      combine_then(in, current, held);
  }
  return current;
}

/* One part of a primitive. */
static bool flow_part(stage_flow *in, tt_walk *walk, bool is_end, uint16_t channel) {
  tt_flow *flow = in->flow;
  bool is_root = walk->root == flow->rank, reduces = walk->family->primitive == TT_REDUCTION;
  if (!tt_walk_edges(walk, flow->rank))
    return false;
  if (walk->edge_count == 0 && !(is_end && is_root))
    return true;
  int32_t own = (reduces ? is_end : is_root) ? own_value(in, walk->family->from, walk->block) : -1;
  int32_t current = take_edges(in, walk, channel, own);
  if (!flow->arena->failed && (reduces ? is_root : is_end))
    add_final(in, walk, current, own);
  return !flow->arena->failed;
}

static bool flow_primitive(stage_flow *in, tt_walk *walk, int64_t i, int64_t j) {
  uint32_t parts = in->lowering->part_count;
  int64_t stripe = in->lowering->params.stripe > 0 ? in->lowering->params.stripe : 1;
  uint32_t first_block = (uint32_t)tt_ir_at(walk->family->block, i, j) * parts;
  bool is_end = tt_ir_has_end(walk->family, i, j, in->flow->rank);
  walk->root = tt_ir_at(walk->family->root, i, j);
  walk->one = tt_ir_at(walk->family->ends.one, i, j);
  for (uint32_t part = 0; part < parts; part++) {
    int64_t channel = part / stripe;
    walk->block = first_block + part;
    walk->part = part % stripe;
    walk->backward = channel % 2 == 1;
    if (!flow_part(in, walk, is_end, (uint16_t)channel))
      return false;
  }
  return true;
}

/* ---- one stage ---- */

/* Whether equal partial results serve several primitives: every rank's block goes to several roots. */
static bool is_shared(const tt_family *family) {
  return family->primitive == TT_REDUCTION && family->ends.kind == TT_ENDS_ALL && family->block.i == 0 &&
         family->block.j == 0;
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

static bool flow_family(stage_flow *in, tt_walk *walk, int number) {
  const tt_lowering *lowering = in->lowering;
  walk->stage = &lowering->stage[in->number];
  walk->family = &lowering->composition->stage[in->number].family[number];
  walk->family_id = number;
  walk->shared = is_shared(walk->family);
  walk->publish = publishes(lowering, walk->stage, walk->family);
  for (int64_t i = 0; i < walk->family->count_i; i++)
    for (int64_t j = 0; j < walk->family->count_j; j++, walk->owner++)
      if (!flow_primitive(in, walk, i, j))
        return false;
  return true;
}

static bool flow_stage(const tt_lowering *lowering, tt_flow *flow, int number, tt_walk *walk) {
  stage_flow in = {.lowering = lowering, .flow = flow, .number = number};
  size_t blocks = (size_t)lowering->composition->block_count * lowering->part_count;
  if (lowering->stage[number].position[flow->rank] < 0)
    return true;
  in.owned = tt_arena_alloc(flow->arena, TT_BUFFER_COUNT * blocks, sizeof *in.owned);
  if (!in.owned)
    return false;
  walk->owner = 0;
  for (int n = 0; n < lowering->composition->stage[number].family_count; n++)
    if (!flow_family(&in, walk, n))
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
