/* lower/emit.c - values and events -> lanes, steps and waits.
 *
 * A lane is what goes on side by side: sends and receives of each channel, level and way. All steps are put in one order (round;
 * then sends, receives, copies), each goes to its lane, and waits are found by watching every place in memory: who wrote it last,
 * who has read it since. A wait that lane order or other waits imply is left out. */
#include "lower/emit.h"

#include <stdlib.h>
#include <string.h>

#define WAYS 64

enum { CLASS_SEND, CLASS_RECV, CLASS_COPY };

/* A step on its way to its lane. */
typedef struct draft {
  uint32_t time, tie, class;
  uint32_t lane_id;
  uint64_t order;
  uint16_t level, channel, published, role;
  uint32_t lane; /* number, once known */
  tt_step step;
} draft;

static uint32_t lane_id(const tt_event *event) {
  return (((uint32_t)event->channel * TT_PLAN_LEVELS + event->level) * WAYS + event->way % WAYS) * 2 + event->published;
}

static tt_step send_step(const tt_flow *flow, const tt_event *event) {
  const tt_value *value = &flow->value[event->value];
  return (tt_step){.kind = TT_STEP_SEND, .peer = event->peer, .block = value->block, .src = value->place, .time = event->time};
}

static tt_step receive_step(const tt_flow *flow, const tt_event *event) {
  const tt_value *value = &flow->value[event->value];
  tt_step step = {.kind = TT_STEP_RECV, .peer = event->peer, .block = value->block, .dst = value->place, .time = event->time};
  if (value->left >= 0) {
    step.kind = TT_STEP_RECV_REDUCE;
    step.src = flow->value[value->left].place;
  }
  return step;
}

static draft event_draft(const tt_flow *flow, const tt_event *event) {
  return (draft){.time = event->time,
                 .tie = event->tie,
                 .class = event->sends ? CLASS_SEND : CLASS_RECV,
                 .lane_id = lane_id(event),
                 .order = event->order,
                 .level = event->level,
                 .channel = event->channel,
                 .published = event->published,
                 .role = event->sends ? TT_ROLE_SEND : TT_ROLE_RECV,
                 .step = event->sends ? send_step(flow, event) : receive_step(flow, event)};
}

static draft copy_draft(const tt_flow *flow, const tt_final *final) {
  const tt_value *value = &flow->value[final->value];
  return (draft){.time = final->time,
                 .class = CLASS_COPY,
                 .order = final->place.index,
                 .role = TT_ROLE_LOCAL,
                 .step = {.kind = TT_STEP_COPY,
                          .peer = -1,
                          .block = value->block,
                          .src = value->place,
                          .dst = final->place,
                          .time = final->time,
                          .finish = final->finish}};
}

/* Averages divide what is made at its final place right there. */
static void set_finish(const tt_flow *flow, draft *drafts, const int64_t *draft_of_event) {
  for (int64_t n = 0; n < flow->final_count; n++) {
    const tt_final *final = &flow->final[n];
    if (!final->copies)
      drafts[draft_of_event[flow->value[final->value].receive]].step.finish = final->finish;
  }
}

static int by_round(const void *a, const void *b) {
  const draft *x = a, *y = b;
  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  if (x->class != y->class)
    return x->class < y->class ? -1 : 1;
  if (x->tie != y->tie)
    return x->tie < y->tie ? -1 : 1;
  if (x->lane_id != y->lane_id)
    return x->lane_id < y->lane_id ? -1 : 1;
  return x->order < y->order ? -1 : x->order > y->order;
}

static draft *make_drafts(const tt_flow *flow, int64_t *count) {
  int64_t *draft_of_event = tt_arena_alloc(flow->arena, (size_t)flow->event_count + 1, sizeof *draft_of_event);
  draft *drafts = tt_arena_alloc(flow->arena, (size_t)(flow->event_count + flow->final_count) + 1, sizeof *drafts);
  *count = 0;
  if (!drafts || !draft_of_event)
    return NULL;
  for (int64_t n = 0; n < flow->event_count; n++) {
    draft_of_event[n] = *count;
    drafts[(*count)++] = event_draft(flow, &flow->event[n]);
  }
  set_finish(flow, drafts, draft_of_event);
  for (int64_t n = 0; n < flow->final_count; n++)
    if (flow->final[n].copies)
      drafts[(*count)++] = copy_draft(flow, &flow->final[n]);
  qsort(drafts, (size_t)*count, sizeof *drafts, by_round);
  return drafts;
}

/* ---- lanes ---- */

static bool same_lane(const tt_lane *lane, const draft *of) { return lane->role == of->role && lane->id == of->lane_id; }

static tt_lane *lane_of(tt_plan *plan, int64_t *room, const draft *of) {
  for (uint32_t n = 0; n < plan->lane_count; n++)
    if (same_lane(&plan->lane[n], of))
      return &plan->lane[n];
  int64_t count = plan->lane_count;
  tt_lane *lane = tt_lower_push(&plan->arena, &plan->lane, &count, room, sizeof *lane);
  if (!lane)
    return NULL;
  plan->lane_count = (uint32_t)count;
  *lane = (tt_lane){.id = of->lane_id, .role = of->role, .level = of->level, .channel = of->channel, .published = of->published};
  return lane;
}

static bool make_lanes(tt_plan *plan, draft *drafts, int64_t count) {
  int64_t room = 0;
  for (int64_t n = 0; n < count; n++) {
    tt_lane *lane = lane_of(plan, &room, &drafts[n]);
    if (!lane)
      return false;
    drafts[n].lane = (uint32_t)(lane - plan->lane);
    lane->step_count++;
  }
  for (uint32_t n = 1; n < plan->lane_count; n++)
    plan->lane[n].first_step = plan->lane[n - 1].first_step + plan->lane[n - 1].step_count;
  return true;
}

static void mark_messages(const tt_plan *plan, const tt_lane *lane) {
  tt_step *steps = &plan->step[lane->first_step];
  for (uint32_t n = 0; n < lane->step_count && lane->role != TT_ROLE_LOCAL; n++) {
    bool first = n == 0 || steps[n - 1].time != steps[n].time || steps[n - 1].peer != steps[n].peer;
    bool last = n + 1 == lane->step_count || steps[n + 1].time != steps[n].time || steps[n + 1].peer != steps[n].peer;
    steps[n].flags |= (uint8_t)((first ? TT_STEP_FIRST : 0) | (last ? TT_STEP_LAST : 0));
  }
}

/* Who shares the streams of a published lane: the other members of the rank's group at that level. */
static bool add_readers(const tt_lowering *lowering, tt_plan *plan, tt_lane *lane, int64_t *room) {
  for (int s = 0; s < lowering->composition->stage_count; s++)
    for (int n = 0; n < lowering->stage[s].level_count; n++) {
      const tt_lower_stage *stage = &lowering->stage[s];
      if (lowering->level_number[s][n] != lane->level)
        continue;
      int64_t position = stage->position[plan->rank], outer = n ? stage->level[n - 1].group_at[position] : 0;
      const int32_t *start = n ? stage->level[n - 1].start : (const int32_t[]){0, (int32_t)stage->rank_count};
      lane->first_reader = plan->reader_count;
      for (int64_t at = start[outer]; at < start[outer + 1]; at++) {
        int64_t count = plan->reader_count;
        if (stage->perm[at] == plan->rank)
          continue;
        int32_t *reader = tt_lower_push(&plan->arena, &plan->reader, &count, room, sizeof *reader);
        if (!reader)
          return false;
        *reader = stage->perm[at];
        plan->reader_count = (uint32_t)count;
        lane->reader_count++;
      }
      return true;
    }
  return true;
}

/* ---- the whole ---- */

static bool fill_steps(const tt_lowering *lowering, tt_plan *plan, draft *drafts, int64_t count) {
  plan->step = tt_arena_alloc(&plan->arena, (size_t)count + 1, sizeof *plan->step);
  uint32_t *next = tt_arena_alloc(&plan->arena, plan->lane_count + 1, sizeof *next);
  if (!plan->step || !next)
    return false;
  for (int64_t n = 0; n < count; n++)
    plan->step[plan->lane[drafts[n].lane].first_step + next[drafts[n].lane]++] = drafts[n].step;
  plan->step_count = (uint32_t)count;
  int64_t room = 0;
  for (uint32_t n = 0; n < plan->lane_count; n++) {
    mark_messages(plan, &plan->lane[n]);
    if (plan->lane[n].published && !add_readers(lowering, plan, &plan->lane[n], &room))
      return false;
  }
  return true;
}

tutti_status tt_lower_emit(const tt_lowering *lowering, const tt_flow *flow, uint32_t tmp_count, tt_plan *plan) {
  int64_t count;
  draft *drafts = make_drafts(flow, &count);
  plan->tmp_count = tmp_count;
  if (!drafts || !make_lanes(plan, drafts, count))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan of %lld steps", (long long)count);
  uint32_t *lanes = tt_arena_alloc(flow->arena, (size_t)count + 1, sizeof *lanes);
  for (int64_t n = 0; n < count && lanes; n++)
    lanes[n] = drafts[n].lane;
  if (!lanes || !fill_steps(lowering, plan, drafts, count) || !tt_lower_waits(plan, lanes, flow->arena))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a plan of %lld steps", (long long)count);
  return TUTTI_OK;
}
