/* lower/flow.c - primitives -> values and events of one rank.
 *
 * Each primitive's edges are taken in the order of time: what comes is combined with what the rank has (a partial
 * result) or takes its place (a block, a complete result); what goes is what the rank has then. Equal payloads between
 * the same two ranks are one event, and equal combinations one value, so that one-step allreduce over a halving tree
 * becomes recursive doubling, and a scan sends one value a round. */
#include "lower/flow.h"

#include "lower/edges.h"
#include "lower/touch.h"

#include <assert.h>

/* ---- one primitive ---- */

_Static_assert((int)TT_IN == TT_SPACE_IN && (int)TT_OUT == TT_SPACE_OUT && (int)TT_MID == TT_SPACE_MID,
               "a buffer of a composition is the space of plans with its number");
static bool keeps_own(const tt_walk *walk, int64_t rank) {
  return walk->family->primitive == TT_MULTICAST && walk->root == rank;
}

/* before: what comes is the left operand. */
static int32_t take_edge(tt_stage_flow *in, tt_walk *walk, int64_t number, uint16_t channel, int32_t current,
                         bool before, bool *is_new) {
  const tt_edge *edge = &walk->edge[number];
  int32_t event = tt_flow_event(in, walk, number, channel, is_new);
  if (event < 0)
    return -1;
  if (edge->sends) {
    assert(current >= 0);
    if (*is_new)
      in->flow->event[event].value = current;
    return current;
  }
  int32_t came = tt_flow_came(in, event, edge->payload.block);
  if (keeps_own(walk, in->flow->rank))
    return current;
  if (edge->payload.kind != TT_PAYLOAD_PARTIAL || current < 0)
    return came;
  return tt_flow_combined(in, before ? came : current, before ? current : came, event, *is_new);
}

/* Whether the primitive's input and result lie at the same place on a rank that has both. */
static bool stays_there(const tt_flow *flow, const tt_family *family) {
  return family->from == family->to || (flow->in_place && family->from == TT_IN && family->to == TT_OUT);
}

/* `own`: the rank's own input of this primitive, or -1. */
static void add_final(tt_stage_flow *in, const tt_walk *walk, int32_t value, int32_t own) {
  assert(value >= 0 && walk->family->to != TT_IN);
  tt_flow *flow = in->flow;
  const tt_family *family = walk->family;
  if (value == own && stays_there(flow, family))
    return;
  tt_final *final = tt_lower_push(flow->arena, &flow->final, &flow->final_count, &flow->final_room, sizeof *final);
  if (!final)
    return;
  *final = (tt_final){.value = value,
                      .place = {(uint32_t)family->to, walk->block},
                      .time = flow->value[value].made,
                      .finish = family->primitive == TT_REDUCTION ? (uint32_t)walk->end_count : 0};
}

/* Whether the edge brings a partial result that comes before the rank's own in the order of the level's groups, where
 * that order matters: ranks that share results must get equal bits. */
static bool comes_before(const tt_walk *walk, int64_t number, int64_t rank) {
  if (number < 0 || number >= walk->edge_count)
    return false;
  const tt_edge *edge = &walk->edge[number];
  bool in_turn = edge->payload.kind == TT_PAYLOAD_PARTIAL && (edge->payload.owner < 0 || walk->ordered);
  return !edge->sends && in_turn && walk->stage->position[edge->peer] < walk->stage->position[rank];
}

/* Whether edge n, which comes before, is the first or the last one of its round that does. */
static bool is_first(const tt_walk *walk, int64_t n, int64_t rank) {
  return !comes_before(walk, n - 1, rank) || walk->edge[n - 1].time != walk->edge[n].time;
}

static bool is_last(const tt_walk *walk, int64_t n, int64_t rank) {
  return !comes_before(walk, n + 1, rank) || walk->edge[n + 1].time != walk->edge[n].time;
}

/* What a rank holds along the edges of one primitive. Of one round, what comes from groups before its own is combined
 * first, then its own, then the rest. */
static int32_t take_edges(tt_stage_flow *in, tt_walk *walk, uint16_t channel, int32_t current) {
  int64_t rank = in->flow->rank;
  int32_t held = -1;
  bool is_new;
  for (int64_t n = 0; n < walk->edge_count && !in->flow->arena->failed; n++) {
    bool before = comes_before(walk, n, rank), first = before && is_first(walk, n, rank);
    bool last = before && is_last(walk, n, rank), alone = first && last;
    if (first && !alone) {
      held = current;
      current = -1;
    }
    current = take_edge(in, walk, n, channel, current, alone, &is_new);
    if (last && !alone && held >= 0)
      current = tt_flow_combined(in, current, held, walk->edge[n].event, is_new);
  }
  return current;
}

/* One part of a primitive. */
static bool flow_part(tt_stage_flow *in, tt_walk *walk, bool is_end, uint16_t channel) {
  tt_flow *flow = in->flow;
  bool is_root = walk->root == flow->rank, reduces = walk->family->primitive == TT_REDUCTION;
  if (!tt_walk_edges(walk, flow->rank))
    return false;
  if (walk->edge_count == 0 && !(is_end && is_root))
    return true;
  int32_t own = (reduces ? is_end : is_root) ? tt_flow_own(in, walk->family->from, walk->block) : -1;
  int32_t current = take_edges(in, walk, channel, own);
  if (!flow->arena->failed && (reduces ? is_root : is_end))
    add_final(in, walk, current, own);
  return !flow->arena->failed;
}

/* root and one: where the family has them. */
static bool flow_primitive(tt_stage_flow *in, tt_walk *walk, int64_t i, int64_t j) {
  uint32_t parts = in->lowering->part_count;
  int64_t stripe = in->lowering->params.stripe > 0 ? in->lowering->params.stripe : 1;
  int64_t block = tt_ir_at(walk->family->block, i, j);
  uint32_t first_block = (uint32_t)block * parts;
  bool is_end = tt_ir_has_end(walk->family, i, j, in->flow->rank);
  walk->root = tt_ir_at(walk->family->root, i, j);
  assert(walk->stage->position[walk->root] >= 0); /* whom a primitive names takes part */
  walk->one = tt_ir_at(walk->family->ends.one, i, j);
  walk->end_count = tt_ir_end_count(in->lowering->composition, walk->family, i, j);
  walk->owner = walk->first_owner + (int32_t)(i * walk->family->count_j + j);
  for (uint32_t part = 0; part < parts; part++) {
    int64_t channel = part / stripe;
    walk->block = first_block + part;
    walk->part = in->lowering->params.even ? block % walk->stage->most : part % stripe;
    walk->backward = channel % 2 == 1 && !walk->ordered;
    if (!flow_part(in, walk, is_end, (uint16_t)channel))
      return false;
  }
  return true;
}

/* ---- one stage ---- */

/* Whether equal partial results serve several primitives: every rank's block goes to several roots. */
static bool is_shared(const tt_family *family) {
  bool everyone = family->ends.kind == TT_ENDS_ALL || family->ends.kind == TT_ENDS_RANGE;
  return family->primitive == TT_REDUCTION && everyone && family->block.i == 0 && family->block.j == 0;
}

static bool stays_in_place(const tt_lower_stage *stage) {
  for (int n = 0; n < stage->level_count; n++)
    if (stage->level[n].fold || stage->level[n].striped)
      return false;
  return true;
}

/* A star may publish where all ranks know that each member of the group sends, or gets, the same. */
static bool publishes(const tt_lowering *lowering, const tt_lower_stage *stage, const tt_family *family) {
  if (family->ends.kind != TT_ENDS_ALL || family->primitive == TT_MULTICAST)
    return family->ends.kind == TT_ENDS_ALL;
  bool all_roots = family->root.base == 0 && family->root.i == 1 && family->root.j == 0 && family->count_j == 1 &&
                   family->count_i == lowering->composition->rank_count;
  return is_shared(family) && all_roots && stays_in_place(stage);
}

static bool flow_family(tt_stage_flow *in, tt_walk *walk, int number) {
  const tt_lowering *lowering = in->lowering;
  walk->stage = &lowering->stage[in->number];
  walk->family = tt_ir_family(&lowering->composition->stage[in->number], number);
  walk->family_id = number;
  walk->shared = is_shared(walk->family);
  walk->ordered = walk->family->ordered || lowering->params.reproducible;
  walk->two_ways = lowering->params.channels > 1 && !walk->ordered;
  walk->publish = publishes(lowering, walk->stage, walk->family);
  tt_touch touch = tt_touch_begin(walk, in->flow->rank);
  for (int64_t i, j; tt_touch_next(&touch, &i, &j);)
    if (!flow_primitive(in, walk, i, j))
      return false;
  walk->first_owner += (int32_t)(walk->family->count_i * walk->family->count_j);
  return !walk->arena->failed;
}

/* Own values that lie where results will be: primitives of a stage take what was there before it. Two own blocks may
 * change places: they are saved first. */
static bool find_rivals(tt_stage_flow *in, int64_t first_final) {
  tt_flow *flow = in->flow;
  for (int64_t n = first_final; n < flow->final_count; n++) {
    tt_final *final = &flow->final[n];
    assert(final->place.space == TT_SPACE_OUT || final->place.space == TT_SPACE_MID);
    final->rival[0] = tt_flow_find_own(in, (tt_buffer) final->place.space, final->place.index);
    final->rival[1] = -1;
    if (flow->in_place && final->place.space == TT_SPACE_OUT)
      final->rival[1] = tt_flow_find_own(in, TT_IN, final->place.index);
    if (tt_value_is_own(&flow->value[final->value]) && (final->rival[0] >= 0 || final->rival[1] >= 0))
      final->value = tt_flow_saved(in, final->value);
    if (final->value < 0)
      return false;
  }
  return !flow->arena->failed;
}

static bool flow_stage(const tt_lowering *lowering, tt_flow *flow, int number, tt_walk *walk) {
  tt_stage_flow in = {.lowering = lowering, .flow = flow, .number = number};
  int64_t first_final = flow->final_count;
  if (lowering->stage[number].position[flow->rank] < 0)
    return true;
  walk->first_owner = 0;
  for (int n = 0; n < lowering->composition->stage[number].family_count; n++)
    if (!flow_family(&in, walk, n))
      return false;
  return find_rivals(&in, first_final);
}

bool tt_lower_flow(const tt_lowering *lowering, tt_flow *flow) {
  tt_walk walk = {.arena = flow->arena};
  for (int n = 0; n < lowering->composition->stage_count; n++)
    if (!flow_stage(lowering, flow, n, &walk))
      return false;
  return true;
}
