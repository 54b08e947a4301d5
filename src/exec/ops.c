/* exec/ops.c - a bound plan's steps as ops of one instance: streams opened, places split, waits found. Nothing is
 * decided here. The cost is O(steps), once per instance. */
#include "exec/engine.h"

#include <assert.h>

static tutti_status no_memory(const tt_plan *plan) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for an instance of %u steps", plan->step_count);
}

static bool is_in_mid(const tt_step *step) {
  return (step->kind != TT_STEP_RECV && step->src.space == TT_SPACE_MID) ||
         (step->kind != TT_STEP_SEND && step->dst.space == TT_SPACE_MID);
}

static void set_op(tt_instance *instance, const tt_lane *lane, uint32_t number) {
  const tt_plan *plan = instance->plan;
  const tt_bound_step *bound = &instance->bound->step[number];
  bool last_of_lane = number + 1 == lane->first_step + lane->step_count;
  const tt_step *step = &plan->step[number];
  assert(lane->level < TT_PLAN_LEVELS && bound->media <= TT_MEDIA_ALL);
  instance->steps.op[number] = (tt_op){.kind = step->kind,
                                       .ends_message = tt_step_ends_message(step, last_of_lane),
                                       .media = bound->media,
                                       .slots = (uint8_t)tt_media_slots(bound->media),
                                       .level = (uint8_t)(step->kind == TT_STEP_COPY ? TT_OWN_LEVEL : lane->level),
                                       .wait_count = step->wait_count,
                                       .wait_first = step->wait_first,
                                       .use = {.reduces = tt_plan_step_combines(step),
                                               .left = step->flags & TT_STEP_LEFT,
                                               .final = bound->final,
                                               .finish = step->finish},
                                       .length = tt_blocks_length(plan, step->block),
                                       .src = tt_blocks_place(plan, step->src),
                                       .dst = tt_blocks_place(plan, step->dst)};
  instance->steps.reduces |= tt_plan_step_combines(step);
  instance->steps.uses_mid |= is_in_mid(step);
  instance->steps.takes |= tt_plan_step_takes(step);
  if (step->kind == TT_STEP_SEND && step->src.space <= TT_SPACE_OUT)
    instance->steps.lends[step->src.space] |= (bound->media & TT_MEDIA_LENT) != 0;
}

static tutti_status open_stream(tt_instance *instance, const tt_lane *lane, uint32_t number) {
  const tt_step *step = &instance->plan->step[number];
  tt_op *op = &instance->steps.op[number];
  if (step->kind == TT_STEP_COPY)
    return TUTTI_OK;
  if (number > lane->first_step && step[-1].kind == step->kind && step[-1].peer == step->peer) {
    op->stream = op[-1].stream;
    return TUTTI_OK;
  }
  tt_stream_end end = {.lane_id = lane->id,
                       .sends = step->kind == TT_STEP_SEND,
                       .published = lane->published,
                       .peer = step->peer,
                       .reader = instance->plan->reader + lane->first_reader,
                       .reader_count = lane->reader_count};
  return tt_stream_table_stream(instance->streams.of, &end, &op->stream);
}

static tutti_status set_lane(tt_instance *instance, uint32_t number) {
  const tt_lane *lane = &instance->plan->lane[number];
  uint32_t end = lane->first_step + lane->step_count;
  for (uint32_t n = lane->first_step; n < end; n++) {
    set_op(instance, lane, n);
    tutti_status status = open_stream(instance, lane, n);
    if (status != TUTTI_OK)
      return status;
  }
  instance->lane[number].first = instance->steps.op + lane->first_step;
  instance->lane[number].end = instance->steps.op + end;
  return TUTTI_OK;
}

static void set_waits(tt_instance *instance) {
  const tt_plan *plan = instance->plan;
  for (uint32_t n = 0; n < plan->wait_count; n++) {
    const tt_wait *wait = &plan->wait[n];
    const tt_lane_run *lane = &instance->lane[wait->lane];
    assert(wait->step < lane->end - lane->first);
    instance->steps.wait[n] = (tt_wait_on){lane, lane->first + wait->step, wait->whole};
  }
}

/* Adds a send's stream to a list; the same one several times where peers take turns. */
static void list_stream(const tt_instance *instance, uint32_t step, tutti_stream **list, uint32_t *count) {
  tutti_stream *stream = instance->plan->step[step].kind == TT_STEP_SEND ? instance->steps.op[step].stream : NULL;
  if (stream && (*count == 0 || list[*count - 1] != stream))
    list[(*count)++] = stream;
}

static tutti_status set_refers(tt_instance *instance) {
  const tt_bound_plan *bound = instance->bound;
  if (bound->settle_count == 0)
    return TUTTI_OK;
  instance->steps.refer.stream = tt_arena_alloc(&instance->arena, bound->settle_count, sizeof(tutti_stream *));
  if (!instance->steps.refer.stream)
    return no_memory(instance->plan);
  for (uint32_t n = 0; n < bound->settle_count; n++)
    list_stream(instance, bound->settle[n], instance->steps.refer.stream, &instance->steps.refer.count);
  return TUTTI_OK;
}

static tutti_status set_sends(tt_instance *instance) {
  const tt_plan *plan = instance->plan;
  if (!instance->streams.ops->unsent)
    return TUTTI_OK;
  instance->steps.send.stream = tt_arena_alloc(&instance->arena, plan->step_count, sizeof(tutti_stream *));
  if (!instance->steps.send.stream)
    return no_memory(plan);
  for (uint32_t n = 0; n < plan->step_count; n++)
    list_stream(instance, n, instance->steps.send.stream, &instance->steps.send.count);
  return TUTTI_OK;
}

static tutti_status allocate(tt_instance *instance) {
  const tt_plan *plan = instance->plan;
  instance->steps.op = tt_arena_alloc(&instance->arena, plan->step_count, sizeof *instance->steps.op);
  instance->steps.wait = tt_arena_alloc(&instance->arena, plan->wait_count, sizeof *instance->steps.wait);
  instance->lane = tt_arena_alloc(&instance->arena, plan->lane_count, sizeof *instance->lane);
  instance->active = tt_arena_alloc(&instance->arena, plan->lane_count, sizeof *instance->active);
  return instance->arena.failed ? no_memory(plan) : TUTTI_OK;
}

tutti_status tt_ops_make(tt_instance *instance) {
  if (instance->plan->part_count > TT_PARTS_MOST)
    return tt_fail(TUTTI_ERR_PLAN, "%u parts a block; the limit is %u", instance->plan->part_count, TT_PARTS_MOST);
  tutti_status status = allocate(instance);
  for (uint32_t n = 0; n < instance->plan->lane_count && status == TUTTI_OK; n++)
    status = set_lane(instance, n);
  if (status != TUTTI_OK)
    return status;
  set_waits(instance);
  status = set_refers(instance);
  return status != TUTTI_OK ? status : set_sends(instance);
}
