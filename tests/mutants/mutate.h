/* tests/mutants/mutate.h - plans with one thing changed. Waits follow the steps they name when steps move. */
#ifndef TEST_MUTANTS_MUTATE_H
#define TEST_MUTANTS_MUTATE_H

#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

/* A plan taken apart: steps keep their names while they are dropped, doubled and moved. */
typedef struct named_wait {
  uint32_t name, whole;
} named_wait;

typedef struct named_step {
  tt_step step;
  uint32_t name, lane, wait_count;
  named_wait wait[32];
} named_step;

typedef struct draft {
  const tt_plan *of;
  named_step *step; /* lane by lane */
  uint32_t count, names;
} draft;

static inline void take_apart(const tt_plan *plan, draft *into) {
  *into = (draft){plan, calloc(plan->step_count + 4u, sizeof(named_step)), 0, plan->step_count};
  for (uint32_t lane = 0; lane < plan->lane_count; lane++)
    for (uint32_t n = 0; n < plan->lane[lane].step_count; n++) {
      named_step *made = &into->step[into->count];
      *made = (named_step){.step = plan->step[into->count], .name = into->count, .lane = lane};
      for (uint32_t w = 0; w < made->step.wait_count && w < 32; w++) {
        const tt_wait *wait = &plan->wait[made->step.wait_first + w];
        made->wait[made->wait_count++] = (named_wait){plan->lane[wait->lane].first_step + wait->step, wait->whole};
      }
      into->count++;
    }
}

static inline const named_step *find_name(const draft *from, uint32_t name) {
  for (uint32_t n = 0; n < from->count; n++)
    if (from->step[n].name == name)
      return &from->step[n];
  return NULL;
}

static inline void put_waits(const draft *from, const named_step *of, tt_plan *plan) {
  tt_step *step = &plan->step[of - from->step];
  step->wait_first = plan->wait_count;
  for (uint32_t n = 0; n < of->wait_count; n++) {
    const named_step *on = find_name(from, of->wait[n].name);
    if (on != NULL)
      plan->wait[plan->wait_count++] =
          (tt_wait){on->lane, (uint32_t)(on - from->step) - plan->lane[on->lane].first_step, of->wait[n].whole};
  }
  step->wait_count = (uint16_t)(plan->wait_count - step->wait_first);
}

static inline void copy_tables(const draft *from, tt_plan *plan) {
  tt_arena arena = plan->arena;
  *plan = *from->of;
  plan->arena = arena;
  plan->lane = tt_arena_alloc(&plan->arena, plan->lane_count, sizeof *plan->lane);
  plan->step = tt_arena_alloc(&plan->arena, from->count, sizeof *plan->step);
  plan->wait = tt_arena_alloc(&plan->arena, (size_t)from->count * 32, sizeof *plan->wait);
  plan->reader = tt_arena_alloc(&plan->arena, plan->reader_count, sizeof *plan->reader);
  if (plan->lane_count > 0)
    memcpy(plan->lane, from->of->lane, plan->lane_count * sizeof *plan->lane);
  if (plan->reader_count > 0)
    memcpy(plan->reader, from->of->reader, plan->reader_count * sizeof *plan->reader);
}

/* Frees the draft. */
static inline tt_plan *put_together(draft *from) {
  tt_plan *plan = NULL;
  if (tt_plan_create(&plan) != TUTTI_OK)
    abort();
  copy_tables(from, plan);
  plan->step_count = from->count;
  plan->wait_count = 0;
  for (uint32_t lane = 0; lane < plan->lane_count; lane++)
    plan->lane[lane].step_count = 0;
  for (uint32_t n = 0; n < from->count; n++) {
    plan->step[n] = from->step[n].step;
    plan->lane[from->step[n].lane].step_count++;
  }
  for (uint32_t lane = 0, next = 0; lane < plan->lane_count; next += plan->lane[lane++].step_count)
    plan->lane[lane].first_step = next;
  for (uint32_t n = 0; n < from->count; n++)
    put_waits(from, &from->step[n], plan);
  free(from->step);
  return plan;
}

/* ---- changes: each returns false where it does not apply to what was drawn ---- */

static inline uint32_t any(tt_random *random, uint32_t limit) { return (uint32_t)tt_random_below(random, limit); }

static inline void remove_step(draft *on, uint32_t at) {
  memmove(&on->step[at], &on->step[at + 1], (on->count - at - 1) * sizeof *on->step);
  on->count--;
}

static inline bool drop_step(draft *on, tt_random *random) {
  remove_step(on, any(random, on->count));
  return true;
}

static inline bool drop_wait(draft *on, tt_random *random) {
  named_step *of = &on->step[any(random, on->count)];
  if (of->wait_count == 0)
    return false;
  of->wait[any(random, of->wait_count)] = of->wait[of->wait_count - 1];
  of->wait_count--;
  return true;
}

static inline bool weaken_wait(draft *on, tt_random *random) {
  named_step *of = &on->step[any(random, on->count)];
  if (of->wait_count == 0)
    return false;
  named_wait *wait = &of->wait[any(random, of->wait_count)];
  wait->whole = !wait->whole;
  return true;
}

static inline bool move_wait(draft *on, tt_random *random) {
  named_step *of = &on->step[any(random, on->count)];
  if (of->wait_count == 0)
    return false;
  of->wait[any(random, of->wait_count)] = (named_wait){any(random, on->count), any(random, 2)};
  return true;
}

static inline bool add_wait(draft *on, tt_random *random) {
  named_step *of = &on->step[any(random, on->count)];
  if (of->wait_count == 32)
    return false;
  of->wait[of->wait_count++] = (named_wait){any(random, on->count), any(random, 2)};
  return true;
}

static inline void set_block(tt_step *step, uint32_t block) {
  step->block = block;
  if (step->kind != TT_STEP_RECV && step->src.space != TT_SPACE_TMP)
    step->src.index = block;
  if (step->kind != TT_STEP_SEND && step->dst.space != TT_SPACE_TMP)
    step->dst.index = block;
}

static inline bool wrong_block(draft *on, tt_random *random) {
  tt_step *step = &on->step[any(random, on->count)].step;
  uint32_t block = any(random, on->of->block_count);
  if (block == step->block)
    return false;
  set_block(step, block);
  return true;
}

static inline bool wrong_peer(draft *on, tt_random *random) {
  tt_step *step = &on->step[any(random, on->count)].step;
  int32_t peer = (int32_t)any(random, (uint32_t)on->of->rank_count);
  if (step->peer < 0 || peer == step->peer || peer == on->of->rank)
    return false;
  step->peer = peer;
  return true;
}

/* Two neighbours in a lane. Message bounds and rounds belong to the places in the lane, not to the steps. */
static inline bool swap_steps(draft *on, tt_random *random) {
  uint32_t at = any(random, on->count);
  if (at + 1 == on->count || on->step[at].lane != on->step[at + 1].lane)
    return false;
  named_step first = on->step[at];
  on->step[at] = on->step[at + 1];
  on->step[at + 1] = first;
  tt_step *a = &on->step[at].step, *b = &on->step[at + 1].step;
  uint8_t bounds = TT_STEP_FIRST | TT_STEP_LAST, difference = (uint8_t)((a->flags ^ b->flags) & bounds);
  uint32_t time = a->time;
  a->flags ^= difference, b->flags ^= difference;
  a->time = b->time, b->time = time;
  return true;
}

static inline bool wrong_place(draft *on, tt_random *random) {
  tt_step *step = &on->step[any(random, on->count)].step;
  tt_ref *ref = any(random, 2) == 0 ? &step->src : &step->dst, old = *ref;
  if (step->kind == (ref == &step->src ? TT_STEP_RECV : TT_STEP_SEND))
    return false;
  ref->space = any(random, on->of->tmp_count > 0 ? TT_SPACE_COUNT : TT_SPACE_TMP);
  ref->index = ref->space == TT_SPACE_TMP ? any(random, on->of->tmp_count) : step->block;
  return ref->space != old.space || ref->index != old.index;
}

static inline bool wrong_kind(draft *on, tt_random *random) {
  tt_step *step = &on->step[any(random, on->count)].step;
  if (step->kind == TT_STEP_RECV) {
    step->kind = TT_STEP_RECV_REDUCE;
    step->src = step->dst;
  } else if (step->kind == TT_STEP_RECV_REDUCE) {
    step->kind = TT_STEP_RECV;
    step->src = (tt_ref){0, 0};
    step->flags &= (uint8_t)~TT_STEP_LEFT;
  } else
    return false;
  return true;
}

static inline bool wrong_finish(draft *on, tt_random *random) {
  tt_step *step = &on->step[any(random, on->count)].step;
  if (step->kind == TT_STEP_SEND)
    return false;
  uint32_t old = step->finish;
  step->finish = any(random, 2) == 0 ? any(random, (uint32_t)on->of->rank_count + 1) : (uint32_t)on->of->rank_count;
  return step->finish != old;
}

static inline bool turn_operands(draft *on, tt_random *random) {
  tt_step *step = &on->step[any(random, on->count)].step;
  step->flags ^= TT_STEP_LEFT;
  return step->kind == TT_STEP_RECV_REDUCE;
}

static inline bool wrong_bounds(draft *on, tt_random *random) {
  tt_step *step = &on->step[any(random, on->count)].step;
  step->flags ^= any(random, 2) == 0 ? TT_STEP_FIRST : TT_STEP_LAST;
  return step->kind != TT_STEP_COPY;
}

/* Once more right behind itself, in the same message. */
static inline void double_step(draft *on, uint32_t at) {
  memmove(&on->step[at + 1], &on->step[at], (on->count - at) * sizeof *on->step);
  on->step[at + 1].name = on->names++;
  on->step[at].step.flags &= (uint8_t)~TT_STEP_LAST;
  on->step[at + 1].step.flags &= (uint8_t)~TT_STEP_FIRST;
  on->count++;
}

#endif
