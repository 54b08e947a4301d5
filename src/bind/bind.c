/* bind/bind.c - the media of each step, and two facts about memory.
 *
 * A step's result is *final* where no step of the same or a later round reads it. A send may *lend* its source, where
 * no step waits for it or for a later send of its lane: nobody then overwrites the source in this run (whoever did
 * would have to wait), and nobody waits for a peer that may itself be waiting. */
#include "bind/parts.h"

#include <assert.h>

typedef struct binding {
  const tt_plan *plan;
  const tt_bind_facts *facts;
  tt_bound_plan *bound;
  uint32_t *last_read; /* of each place: 1 + the last round that reads it; 0: none */
  uint32_t *waited;    /* of each lane: how many of its steps are waited for, or stand before one that is */
  tt_arena arena;      /* of this binding */
} binding;

static tutti_status no_memory(const tt_plan *plan) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory to bind %u steps", plan->step_count);
}

/* Places of the plan's memory, numbered; an in-place plan has (in, b) and (out, b) at one place. */
static size_t place_number(const tt_plan *plan, tt_ref ref) {
  assert(ref.index < (ref.space == TT_SPACE_TMP ? plan->tmp_count : plan->block_count));
  uint32_t space = ref.space == TT_SPACE_IN && plan->in_place ? TT_SPACE_OUT : ref.space;
  return (size_t)space * plan->block_count + ref.index;
}

static bool has_src(const tt_step *step) { return step->kind != TT_STEP_RECV; }

static bool has_dst(const tt_step *step) { return step->kind != TT_STEP_SEND; }

static void find_reads(binding *on) {
  const tt_plan *plan = on->plan;
  for (uint32_t n = 0; n < plan->step_count; n++) {
    const tt_step *step = &plan->step[n];
    if (!has_src(step))
      continue;
    uint32_t *at = &on->last_read[place_number(plan, step->src)];
    *at = step->time + 1 > *at ? step->time + 1 : *at;
  }
}

static bool is_final(const binding *on, const tt_step *step) {
  if (!has_dst(step) || step->dst.space != TT_SPACE_OUT)
    return false;
  size_t place = place_number(on->plan, step->dst);
  bool own_read = has_src(step) && place_number(on->plan, step->src) == place;
  return on->last_read[place] <= step->time + own_read;
}

static void find_waited(binding *on) {
  for (uint32_t n = 0; n < on->plan->wait_count; n++) {
    const tt_wait *wait = &on->plan->wait[n];
    uint32_t *waited = &on->waited[wait->lane];
    *waited = wait->step + 1 > *waited ? wait->step + 1 : *waited;
  }
}

/* ---- media ---- */

/* On another machine. */
static bool is_far(const binding *on, int32_t peer) {
  const int64_t *machine = on->facts->machine;
  return machine && peer >= 0 && machine[peer] != machine[on->plan->rank];
}

/* What a stream can carry; both of its ends say the same, but for what only the sender may do. */
static tt_media stream_media(const binding *on, const tt_lane *lane, const tt_step *step) {
  assert(step->kind != TT_STEP_COPY);
  if (is_far(on, step->peer))
    return TT_MEDIA(TT_MEDIUM_MESSAGE);
  tt_media lent = on->facts->able & TT_MEDIA_LENT;
  return lent | TT_MEDIA(lane->published ? TT_MEDIUM_PUBLISHED : TT_MEDIUM_SLOT);
}

static bool may_lend(const binding *on, uint32_t lane, uint32_t number) {
  const tt_step *step = &on->plan->step[on->plan->lane[lane].first_step + number];
  return number >= on->waited[lane] && step->src.space <= TT_SPACE_OUT;
}

static tt_media media_of(const binding *on, uint32_t lane, uint32_t number) {
  const tt_lane *of = &on->plan->lane[lane];
  const tt_step *step = &on->plan->step[of->first_step + number];
  if (step->kind == TT_STEP_COPY)
    return 0;
  if (on->facts->blocks == TT_CLASS_CELLS)
    return TT_MEDIA(TT_MEDIUM_CELL);
  tt_media media = stream_media(on, of, step);
  if (step->kind == TT_STEP_SEND && !may_lend(on, lane, number))
    media &= (tt_media)~TT_MEDIA_LENT;
  if (on->facts->blocks == TT_CLASS_ENDS && !of->published && !is_far(on, step->peer))
    media |= TT_MEDIA(TT_MEDIUM_CELL);
  return media;
}

static void bind_lane(binding *on, uint32_t lane) {
  const tt_lane *of = &on->plan->lane[lane];
  for (uint32_t n = 0; n < of->step_count; n++) {
    tt_bound_step *made = &on->bound->step[of->first_step + n];
    *made = (tt_bound_step){media_of(on, lane, n), is_final(on, &on->plan->step[of->first_step + n])};
    if (of->role == TT_ROLE_SEND && made->media & TT_MEDIA_LENT)
      on->bound->settle[on->bound->settle_count++] = of->first_step + n;
  }
}

static tutti_status allocate(binding *on) {
  const tt_plan *plan = on->plan;
  on->last_read =
      tt_arena_alloc(&on->arena, (size_t)TT_SPACE_TMP * plan->block_count + plan->tmp_count, sizeof *on->last_read);
  on->waited = tt_arena_alloc(&on->arena, plan->lane_count, sizeof *on->waited);
  on->bound->settle = tt_arena_alloc(&on->bound->arena, plan->step_count, sizeof *on->bound->settle);
  return on->arena.failed || on->bound->arena.failed ? no_memory(plan) : TUTTI_OK;
}

static tutti_status bind_all(binding *on) {
  tutti_status status = allocate(on);
  if (status != TUTTI_OK)
    return status;
  find_reads(on);
  find_waited(on);
  for (uint32_t lane = 0; lane < on->plan->lane_count; lane++)
    bind_lane(on, lane);
  if (on->facts->blocks != TT_CLASS_STREAMS)
    status = tt_bind_cells(on->plan, on->bound);
  return status != TUTTI_OK || !on->facts->wide ? status : tt_bind_images(on->plan, on->bound);
}

#ifndef NDEBUG
/* What comes out is well formed, as far as there is memory to find out. */
static bool is_sound(const tt_bound_plan *bound) {
  tutti_status status = tt_bound_plan_check(bound);
  return status == TUTTI_OK || status == TUTTI_ERR_MEMORY;
}
#endif

tutti_status tt_bind(const tt_plan *plan, const tt_bind_facts *facts, tt_bound_plan **bound) {
  assert(facts->blocks < TT_CLASS_COUNT && facts->able <= TT_MEDIA_ALL);
  tt_bound_plan *made;
  tutti_status status = tt_plan_check(plan);
  if (status == TUTTI_OK)
    status = tt_bound_plan_create(plan, &made);
  if (status != TUTTI_OK)
    return status;
  made->blocks = facts->blocks;
  binding on = {.plan = plan, .facts = facts, .bound = made};
  tt_arena_init(&on.arena);
  status = bind_all(&on);
  assert(status != TUTTI_OK || is_sound(made));
  tt_arena_finish(&on.arena);
  if (status != TUTTI_OK)
    tt_bound_plan_destroy(made);
  else
    *bound = made;
  return status;
}
