/* exec/bind.c - from a plan's steps to an instance's ops: streams opened, places split, and what can be known once.
 *
 * Two facts about memory are found here. A step's result is *final* where no step of the same or a later round reads
 * it: then it may be stored past the cache. A send may *refer* to its source instead of copying it where no step waits
 * for it or for a later send of its lane: nobody then overwrites the source in this run (whoever did would have to
 * wait), and nobody waits for a peer that may itself be waiting. Everything here costs O(steps + blocks), once per
 * instance. */
#include "exec/engine.h"

static tutti_status no_memory(const tt_plan *plan) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for an instance of %u steps", plan->step_count);
}

/* Places of the plan's memory, numbered; an in-place plan has (in, b) and (out, b) at one place. */
static size_t place_number(const tt_plan *plan, tt_ref ref) {
  uint32_t space = ref.space == TT_SPACE_IN && plan->in_place ? TT_SPACE_OUT : ref.space;
  return (size_t)space * plan->block_count + ref.index;
}

static bool has_src(const tt_step *step) { return step->kind != TT_STEP_RECV; }

static bool has_dst(const tt_step *step) { return step->kind != TT_STEP_SEND; }

/* For each place: 1 + the last round that reads it, 0 where none does. */
static uint32_t *last_reads(tt_instance *instance, tt_arena *arena) {
  const tt_plan *plan = instance->plan;
  uint32_t *last = tt_arena_alloc(arena, (size_t)3 * plan->block_count + plan->tmp_count, sizeof *last);
  for (uint32_t n = 0; last && n < plan->step_count; n++) {
    const tt_step *step = &plan->step[n];
    if (!has_src(step))
      continue;
    uint32_t *at = &last[place_number(plan, step->src)];
    *at = step->time + 1 > *at ? step->time + 1 : *at;
  }
  return last;
}

static bool is_final(const tt_plan *plan, const tt_step *step, const uint32_t *last) {
  if (!has_dst(step) || step->dst.space != TT_SPACE_OUT)
    return false;
  size_t place = place_number(plan, step->dst);
  bool own_read = has_src(step) && place_number(plan, step->src) == place;
  return last[place] <= step->time + own_read;
}

static bool ends_message(const tt_step *step, bool last_of_lane) {
  return (step->flags & TT_STEP_LAST) || last_of_lane || step[1].peer != step->peer;
}

static bool combines(const tt_step *step) { return step->kind == TT_STEP_RECV_REDUCE || step->flags & TT_STEP_ONTO; }

static bool is_far(const tt_instance *instance, int32_t peer) {
  const bool *far = tt_link_get(instance->link)->far;
  return far && peer >= 0 && far[peer];
}

static void bind_step(tt_instance *instance, const tt_lane *lane, uint32_t number, const uint32_t *last) {
  const tt_plan *plan = instance->plan;
  bool last_of_lane = number + 1 == lane->first_step + lane->step_count;
  const tt_step *step = &plan->step[number];
  instance->op[number] = (tt_op){.kind = step->kind,
                                 .ends_message = ends_message(step, last_of_lane),
                                 .whole = is_far(instance, step->peer),
                                 .level = (uint8_t)(step->kind == TT_STEP_COPY ? TT_OWN_LEVEL : lane->level),
                                 .far = is_far(instance, step->peer),
                                 .wait_count = step->wait_count,
                                 .wait_first = step->wait_first,
                                 .use = {.reduces = combines(step),
                                         .left = step->flags & TT_STEP_LEFT,
                                         .final = is_final(plan, step, last),
                                         .finish = step->finish},
                                 .length = tt_blocks_length(plan, step->block),
                                 .src = tt_blocks_place(plan, step->src),
                                 .dst = tt_blocks_place(plan, step->dst)};
  instance->reduces |= combines(step);
  instance->uses_mid |=
      (has_src(step) && step->src.space == TT_SPACE_MID) || (has_dst(step) && step->dst.space == TT_SPACE_MID);
}

static tutti_status bind_stream(tt_instance *instance, const tt_lane *lane, uint32_t number) {
  const tt_step *step = &instance->plan->step[number];
  tt_op *op = &instance->op[number];
  if (step->kind == TT_STEP_COPY)
    return TUTTI_OK;
  if (number > lane->first_step && step[-1].kind == step->kind && step[-1].peer == step->peer) {
    op->stream = op[-1].stream;
    return TUTTI_OK;
  }
  tt_link_end end = {.lane_id = lane->id,
                     .sends = step->kind == TT_STEP_SEND,
                     .published = lane->published,
                     .peer = step->peer,
                     .reader = instance->plan->reader + lane->first_reader,
                     .reader_count = lane->reader_count};
  return tt_link_stream(instance->link, &end, &op->stream);
}

static tutti_status bind_lane(tt_instance *instance, uint32_t number, const uint32_t *last) {
  const tt_lane *lane = &instance->plan->lane[number];
  uint32_t end = lane->first_step + lane->step_count;
  for (uint32_t n = lane->first_step; n < end; n++) {
    bind_step(instance, lane, n, last);
    tutti_status status = bind_stream(instance, lane, n);
    if (status)
      return status;
  }
  instance->lane[number].first = instance->op + lane->first_step;
  instance->lane[number].end = instance->op + end;
  return TUTTI_OK;
}

static void bind_waits(tt_instance *instance) {
  const tt_plan *plan = instance->plan;
  for (uint32_t n = 0; n < plan->wait_count; n++) {
    const tt_wait *wait = &plan->wait[n];
    const tt_lane_run *lane = &instance->lane[wait->lane];
    instance->wait[n] = (tt_wait_on){lane, lane->first + wait->step, wait->whole};
  }
}

/* Marks the sends of a lane after the last one that anything waits for. */
static void allow_refer(tt_instance *instance, const tt_lane *lane, uint32_t waited) {
  const tt_plan *plan = instance->plan;
  for (uint32_t n = waited; n < lane->step_count; n++) {
    const tt_step *step = &plan->step[lane->first_step + n];
    tt_op *op = &instance->op[lane->first_step + n];
    op->may_refer = step->kind == TT_STEP_SEND && step->src.space <= TT_SPACE_OUT;
    uint32_t count = instance->refer_count;
    if (op->may_refer && (count == 0 || instance->refer_stream[count - 1] != op->stream))
      instance->refer_stream[instance->refer_count++] = op->stream;
  }
}

static tutti_status bind_refers(tt_instance *instance, tt_arena *arena) {
  const tt_plan *plan = instance->plan;
  if (!instance->ops->refer || !instance->ops->unreleased)
    return TUTTI_OK;
  uint32_t *waited =
      tt_arena_alloc(arena, plan->lane_count, sizeof *waited); /* steps of each lane that are waited for */
  instance->refer_stream = tt_arena_alloc(&instance->arena, plan->step_count, sizeof(tutti_stream *));
  if (!waited || !instance->refer_stream)
    return no_memory(plan);
  for (uint32_t n = 0; n < plan->wait_count; n++) {
    const tt_wait *wait = &plan->wait[n];
    waited[wait->lane] = wait->step + 1 > waited[wait->lane] ? wait->step + 1 : waited[wait->lane];
  }
  for (uint32_t n = 0; n < plan->lane_count; n++)
    if (plan->lane[n].role == TT_ROLE_SEND)
      allow_refer(instance, &plan->lane[n], waited[n]);
  return TUTTI_OK;
}

static tutti_status bind_sends(tt_instance *instance) {
  const tt_plan *plan = instance->plan;
  if (!instance->ops->unsent)
    return TUTTI_OK;
  instance->send_stream = tt_arena_alloc(&instance->arena, plan->step_count, sizeof(tutti_stream *));
  if (!instance->send_stream)
    return no_memory(plan);
  for (uint32_t n = 0; n < plan->step_count; n++) {
    tutti_stream *stream = plan->step[n].kind == TT_STEP_SEND ? instance->op[n].stream : NULL;
    if (stream && (instance->send_count == 0 || instance->send_stream[instance->send_count - 1] != stream))
      instance->send_stream[instance->send_count++] = stream;
  }
  return TUTTI_OK;
}

static tutti_status allocate(tt_instance *instance) {
  const tt_plan *plan = instance->plan;
  instance->op = tt_arena_alloc(&instance->arena, plan->step_count, sizeof *instance->op);
  instance->wait = tt_arena_alloc(&instance->arena, plan->wait_count, sizeof *instance->wait);
  instance->lane = tt_arena_alloc(&instance->arena, plan->lane_count, sizeof *instance->lane);
  instance->active = tt_arena_alloc(&instance->arena, plan->lane_count, sizeof *instance->active);
  return instance->arena.failed ? no_memory(plan) : TUTTI_OK;
}

static tutti_status bind_lanes(tt_instance *instance, tt_arena *arena) {
  const uint32_t *last = last_reads(instance, arena);
  if (!last)
    return no_memory(instance->plan);
  for (uint32_t n = 0; n < instance->plan->lane_count; n++) {
    tutti_status status = bind_lane(instance, n, last);
    if (status)
      return status;
  }
  bind_waits(instance);
  tutti_status status = bind_refers(instance, arena);
  return status ? status : bind_sends(instance);
}

tutti_status tt_bind(tt_instance *instance) {
  if (instance->plan->part_count > TT_PARTS_MOST)
    return tt_fail(TUTTI_ERR_PLAN, "%u parts a block, at most %u can run", instance->plan->part_count, TT_PARTS_MOST);
  tutti_status status = allocate(instance);
  if (status)
    return status;
  tt_arena arena; /* of this binding */
  tt_arena_init(&arena);
  status = bind_lanes(instance, &arena);
  tt_arena_finish(&arena);
  return status;
}
