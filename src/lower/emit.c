/* lower/emit.c - values and events -> lanes, steps and waits.
 *
 * A lane is what goes on side by side: sends and receives of each channel, level and branch. All steps are put in one
 * order (sequence.c), each goes to its lane, and waits are found by watching every place in memory: who wrote it last,
 * who has read it since (waits.c). A wait that lane order or other waits imply is left out. */
#include "lower/emit.h"

#include "lower/sequence.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- steps ---- */

static tt_step send_step(const tt_flow *flow, const tt_event *event) {
  assert(event->sends && event->value >= 0 && flow->value[event->value].placed);
  const tt_value *value = &flow->value[event->value];
  return (tt_step){
      .kind = TT_STEP_SEND, .peer = event->peer, .block = value->block, .src = value->place, .time = event->time};
}

/* Averages divide what is made at its final place right there. */
static tt_step receive_step(const tt_flow *flow, const tt_event *event) {
  assert(!event->sends && event->value >= 0 && flow->value[event->value].placed);
  const tt_value *value = &flow->value[event->value];
  tt_step step = {.kind = TT_STEP_RECV,
                  .peer = event->peer,
                  .block = value->block,
                  .dst = value->place,
                  .time = event->time,
                  .finish = value->finish};
  if (value->left >= 0) {
    step.kind = TT_STEP_RECV_REDUCE;
    step.src = flow->value[value->left].place;
    step.flags = value->reversed ? TT_STEP_LEFT : 0;
  }
  return step;
}

static tt_step local_step(const tt_flow *flow, const tt_value *value, bool copies) {
  return (tt_step){.kind = TT_STEP_COPY,
                   .flags = copies ? 0 : TT_STEP_ONTO,
                   .peer = -1,
                   .block = value->block,
                   .src = flow->value[copies ? value->left : value->right].place,
                   .dst = value->place,
                   .time = value->made,
                   .finish = copies ? 0 : value->finish};
}

static tt_step copy_step(const tt_flow *flow, const tt_final *final) {
  const tt_value *value = &flow->value[final->value];
  return (tt_step){.kind = TT_STEP_COPY,
                   .peer = -1,
                   .block = value->block,
                   .src = value->place,
                   .dst = final->place,
                   .time = final->time,
                   .finish = final->finish};
}

static tt_step step_of(const tt_sequence *in, uint32_t number) {
  bool copies;
  int32_t local = tt_sequence_local(in, number, &copies);
  if (local >= 0)
    return local_step(in->flow, &in->flow->value[local], copies);
  const tt_event *event = tt_sequence_event(in, number);
  if (!event)
    return copy_step(in->flow, tt_sequence_final(in, number));
  return event->sends ? send_step(in->flow, event) : receive_step(in->flow, event);
}

/* ---- lanes ---- */

/* What is combined behind a message follows it slice by slice, and so does what is sent of that: copies and
 * combinations have lanes of their own, others for each that takes the same block. */
static tt_lane lane_of_local(tt_lane behind, const tt_value *made, bool copies) {
  return (tt_lane){.id = 1 + (behind.id * TT_TURNS + made->turn) * 2 + copies,
                   .role = TT_ROLE_LOCAL,
                   .level = behind.level,
                   .channel = behind.channel};
}

static tt_lane lane_for(const tt_sequence *in, uint32_t number) {
  bool copies;
  int32_t local = tt_sequence_local(in, number, &copies);
  const tt_event *event = tt_sequence_event(in, number);
  if (!event)
    return (tt_lane){.role = TT_ROLE_LOCAL};
  tt_lane lane = {.id = tt_sequence_lane_id(event),
                  .role = event->sends ? TT_ROLE_SEND : TT_ROLE_RECV,
                  .level = event->level,
                  .channel = event->channel,
                  .published = event->published};
  return local >= 0 ? lane_of_local(lane, &in->flow->value[local], copies) : lane;
}

/* Lanes found so far. */
typedef struct lanes {
  tt_lane *lane;
  int64_t count, room;
  int64_t last; /* found last: the next step's, often */
} lanes;

static bool same_lane(const tt_lane *a, const tt_lane *b) { return a->id == b->id && a->role == b->role; }

/* Number of the lane, new or old; -1 where memory is exhausted. */
static int64_t find_lane(lanes *in, const tt_lane *of, tt_arena *arena) {
  if (in->count && same_lane(&in->lane[in->last], of))
    return in->last;
  for (in->last = 0; in->last < in->count; in->last++)
    if (same_lane(&in->lane[in->last], of))
      return in->last;
  tt_lane *lane = tt_lower_push(arena, &in->lane, &in->count, &in->room, sizeof *lane);
  if (!lane)
    return -1;
  *lane = *of;
  return in->last;
}

static bool make_lanes(tt_plan *plan, const tt_sequence *in, uint32_t *lane_of) {
  lanes found = {NULL, 0, 0, 0};
  for (int64_t n = 0; n < in->count; n++) {
    tt_lane of = lane_for(in, in->number[n]);
    int64_t lane = find_lane(&found, &of, in->flow->arena);
    if (lane < 0)
      return false;
    lane_of[n] = (uint32_t)lane;
    found.lane[lane].step_count++;
  }
  for (int64_t n = 1; n < found.count; n++)
    found.lane[n].first_step = found.lane[n - 1].first_step + found.lane[n - 1].step_count;
  assert(in->count == 0 ||
         found.lane[found.count - 1].first_step + found.lane[found.count - 1].step_count == (uint64_t)in->count);
  plan->lane = tt_lower_keep(&plan->arena, found.lane, found.count, sizeof *plan->lane);
  plan->lane_count = (uint32_t)found.count;
  return plan->lane != NULL;
}

/* Both ends see the same messages: what has one round, one peer and one tie. */
static void mark_messages(const tt_plan *plan, const tt_lane *lane, const uint32_t *tie) {
  if (lane->role == TT_ROLE_LOCAL)
    return;
  uint32_t end = lane->first_step + lane->step_count;
  for (uint32_t n = lane->first_step; n < end; n++) {
    tt_step *step = &plan->step[n];
    if (n > lane->first_step && step[-1].time == step->time && step[-1].peer == step->peer && tie[n - 1] == tie[n])
      continue;
    step->flags |= TT_STEP_FIRST;
    if (n > lane->first_step)
      step[-1].flags |= TT_STEP_LAST;
  }
  plan->step[end - 1].flags |= TT_STEP_LAST;
}

/* ---- readers of published lanes ---- */

/* The stage that has this level of the plan, and the run of its line that is the rank's group around the level. */
static const tt_lower_stage *find_group(const tt_lowering *lowering, int64_t rank, uint32_t level, int64_t *begin,
                                        int64_t *end) {
  for (int s = 0; s < lowering->composition->stage_count; s++)
    for (int n = 0; n < lowering->stage[s].level_count; n++) {
      const tt_lower_stage *stage = &lowering->stage[s];
      if (lowering->level_number[s][n] != level)
        continue;
      int64_t outer = n ? stage->level[n - 1].group_at[stage->position[rank]] : 0;
      *begin = n ? stage->level[n - 1].start[outer] : 0;
      *end = n ? stage->level[n - 1].start[outer + 1] : stage->rank_count;
      return stage;
    }
  return NULL;
}

/* Who shares the streams of a published lane: the other members of the rank's group at that level. */
static void add_readers(const tt_lowering *lowering, tt_plan *plan, tt_lane *lane) {
  int64_t begin = 0, end = 0;
  const tt_lower_stage *stage = find_group(lowering, plan->rank, lane->level, &begin, &end);
  assert(stage && end - begin > 1); /* the lane's level is some stage's, and there are others to read */
  lane->first_reader = plan->reader_count;
  for (int64_t at = begin; at < end; at++)
    if (stage->perm[at] != plan->rank)
      plan->reader[plan->reader_count++] = stage->perm[at];
  lane->reader_count = plan->reader_count - lane->first_reader;
}

static bool make_readers(const tt_lowering *lowering, tt_plan *plan) {
  int64_t count = 0, begin = 0, end = 0;
  for (uint32_t n = 0; n < plan->lane_count; n++)
    if (plan->lane[n].published && find_group(lowering, plan->rank, plan->lane[n].level, &begin, &end))
      count += end - begin;
  plan->reader = tt_arena_alloc(&plan->arena, (size_t)count, sizeof *plan->reader);
  for (uint32_t n = 0; n < plan->lane_count && plan->reader; n++)
    if (plan->lane[n].published)
      add_readers(lowering, plan, &plan->lane[n]);
  return plan->reader != NULL;
}

/* ---- the whole ---- */

static bool fill_steps(tt_plan *plan, const tt_sequence *in, const uint32_t *lane_of) {
  plan->step = tt_arena_alloc(&plan->arena, (size_t)in->count, sizeof *plan->step);
  uint32_t *next = tt_arena_alloc(in->flow->arena, plan->lane_count, sizeof *next);
  uint32_t *tie = tt_arena_alloc(in->flow->arena, (size_t)in->count, sizeof *tie);
  if (!plan->step || !next || !tie)
    return false;
  for (int64_t n = 0; n < in->count; n++) {
    const tt_event *event = tt_sequence_event(in, in->number[n]);
    assert(next[lane_of[n]] < plan->lane[lane_of[n]].step_count);
    uint32_t step = plan->lane[lane_of[n]].first_step + next[lane_of[n]]++;
    plan->step[step] = step_of(in, in->number[n]);
    tie[step] = event ? event->tie : 0;
  }
  plan->step_count = (uint32_t)in->count;
  for (uint32_t n = 0; n < plan->lane_count; n++)
    mark_messages(plan, &plan->lane[n], tie);
  return true;
}

tutti_status tt_lower_emit(const tt_lowering *lowering, const tt_flow *flow, uint32_t tmp_count, tt_plan *plan) {
  tt_sequence sequence;
  plan->tmp_count = tmp_count;
  bool fine = tt_sequence_make(flow, &sequence);
  uint32_t *lane_of = tt_arena_alloc(flow->arena, (size_t)sequence.count, sizeof *lane_of);
  fine = fine && lane_of && make_lanes(plan, &sequence, lane_of) && make_readers(lowering, plan) &&
         fill_steps(plan, &sequence, lane_of) && tt_lower_waits(plan, lane_of, flow->arena);
  return fine ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan of %" PRId64 " steps", sequence.count);
}
