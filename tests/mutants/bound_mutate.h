/* tests/mutants/bound_mutate.h - bound plans of all ranks with one thing changed, wrong or right. */
#ifndef TEST_MUTANTS_BOUND_MUTATE_H
#define TEST_MUTANTS_BOUND_MUTATE_H

#include "cases.h"
#include "mutate.h"

#include "bind/bind.h"

typedef struct bound_case { /* what bind makes of a case's plans, and what was changed in it */
  plan_case base;
  tt_class blocks;
  tt_bound_plan *bound[CASE_RANKS];
  tt_plan *list[CASE_RANKS]; /* of one that has a list of its own; NULL: the plan */
  tt_media able;
} bound_case;

static inline void bound_finish(bound_case *of) {
  for (int rank = 0; rank < CASE_RANKS; rank++) {
    tt_bound_plan_destroy(of->bound[rank]);
    tt_plan_destroy(of->list[rank]);
    of->bound[rank] = NULL;
    of->list[rank] = NULL;
  }
  case_finish(&of->base);
}

static inline bool bind_all(bound_case *of) {
  const tt_bind_facts facts = {.blocks = of->blocks, .able = of->able};
  bool made = true;
  for (int64_t rank = 0; rank < of->base.meaning.rank_count && made; rank++)
    made = tt_bind(of->base.plan[rank], &facts, &of->bound[rank]) == TUTTI_OK;
  return made;
}

static inline uint32_t *copy_numbers(tt_arena *arena, const uint32_t *number, uint32_t count) {
  uint32_t *made = tt_arena_alloc(arena, count + 1u, sizeof *made);
  if (count > 0)
    memcpy(made, number, count * sizeof *made);
  return made;
}

/* Gives the rank a list of its own, with as many steps, bound as those of the one before. Owns `list`. */
static inline void replace_list(bound_case *of, int64_t rank, tt_plan *list) {
  const tt_bound_plan *old = of->bound[rank];
  tt_bound_plan *made;
  if (tt_bound_plan_create(list, &made) != TUTTI_OK)
    abort();
  made->blocks = old->blocks;
  memcpy(made->step, old->step, list->step_count * sizeof *made->step);
  made->put = copy_numbers(&made->arena, old->put, old->put_count);
  made->take = copy_numbers(&made->arena, old->take, old->take_count);
  made->order = copy_numbers(&made->arena, old->order, old->order_count);
  made->settle = copy_numbers(&made->arena, old->settle, old->settle_count);
  made->put_count = old->put_count;
  made->take_count = old->take_count;
  made->order_count = old->order_count;
  made->settle_count = old->settle_count;
  made->released = old->released;
  tt_bound_plan_destroy(of->bound[rank]);
  of->bound[rank] = made;
  tt_plan_destroy(of->list[rank]);
  of->list[rank] = list;
}

/* The rank's list as a copy that may be changed. */
static inline tt_plan *own_list(bound_case *of, int64_t rank) {
  draft parts;
  take_apart(of->bound[rank]->list, &parts);
  tt_plan *made = put_together(&parts);
  replace_list(of, rank, made);
  return made;
}

static inline int64_t any_rank(const bound_case *of, tt_random *random) {
  return (int64_t)any(random, (uint32_t)of->base.meaning.rank_count);
}

static inline tt_bound_plan *any_bound(const bound_case *of, tt_random *random) {
  return of->bound[any_rank(of, random)];
}

static inline void swap_numbers(uint32_t *a, uint32_t *b) {
  uint32_t old = *a;
  *a = *b;
  *b = old;
}

/* ---- wrong, mostly: each returns false where it does not apply to what was drawn ---- */

static inline tt_ref *tmp_of(tt_step *step, bool dst) {
  bool used = dst ? step->kind != TT_STEP_SEND : step->kind != TT_STEP_RECV;
  tt_ref *ref = dst ? &step->dst : &step->src;
  return used && ref->space == TT_SPACE_TMP ? ref : NULL;
}

/* One step has another cell of tmp, of this rank or of memory beside it. */
static inline bool another_tmp(bound_case *of, tt_random *random) {
  int64_t rank = any_rank(of, random);
  const tt_plan *plan = of->bound[rank]->list;
  if (plan->tmp_count == 0 || plan->step_count == 0)
    return false;
  uint32_t number = any(random, plan->step_count), cell = any(random, plan->tmp_count + 1);
  bool dst = any(random, 2);
  tt_step drawn = plan->step[number];
  if (!tmp_of(&drawn, dst) || tmp_of(&drawn, dst)->index == cell)
    return false;
  tt_plan *list = own_list(of, rank);
  list->tmp_count++;
  tmp_of(&list->step[number], dst)->index = cell;
  return true;
}

/* What comes goes to one memory for tmp, what is copied comes from another one: executors that each had their own. */
static inline bool two_memories(bound_case *of, tt_random *random) {
  int64_t rank = any_rank(of, random);
  uint32_t cells = of->bound[rank]->list->tmp_count;
  if (cells == 0)
    return false;
  tt_plan *list = own_list(of, rank);
  bool changed = false;
  for (uint32_t n = 0; n < list->step_count; n++) {
    tt_step *step = &list->step[n];
    tt_ref *ref = step->kind == TT_STEP_RECV ? tmp_of(step, true) : NULL;
    if (ref) {
      ref->index += cells;
      changed = true;
    }
  }
  list->tmp_count = 2 * cells;
  return changed;
}

static inline bool lost_release(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->settle_count == 0)
    return false;
  uint32_t at = any(random, bound->settle_count);
  bound->settle[at] = bound->settle[--bound->settle_count];
  return true;
}

static inline bool early_release(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->released == 0)
    return false;
  bound->released = any(random, bound->released);
  return true;
}

static inline bool lend_too_soon(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->list->step_count == 0)
    return false;
  uint32_t number = any(random, bound->list->step_count);
  tt_bound_step *step = &bound->step[number];
  if (bound->list->step[number].kind != TT_STEP_SEND || step->media & TT_MEDIA_LENT || bound->blocks == TT_CLASS_CELLS)
    return false;
  step->media |= TT_MEDIA_LENT;
  uint32_t *settle = copy_numbers(&bound->arena, bound->settle, bound->settle_count + 1);
  settle[bound->settle_count++] = number;
  bound->settle = settle;
  return true;
}

static inline bool swap_order(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->order_count < 2)
    return false;
  uint32_t a = any(random, bound->order_count), b = any(random, bound->order_count);
  swap_numbers(&bound->order[a], &bound->order[b]);
  return a != b;
}

static inline bool another_medium(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->list->step_count == 0)
    return false;
  uint32_t number = any(random, bound->list->step_count);
  tt_media bit = TT_MEDIA(any(random, TT_MEDIUM_COUNT));
  if (bound->list->step[number].kind == TT_STEP_COPY || bound->step[number].media == bit)
    return false;
  bound->step[number].media ^= bit;
  return true;
}

static inline bool another_place(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  bool put = any(random, 2);
  uint32_t *list = put ? bound->put : bound->take, count = put ? bound->put_count : bound->take_count;
  if (bound->blocks != TT_CLASS_ENDS || count < 2)
    return false;
  uint32_t a = any(random, count), b = any(random, count);
  swap_numbers(&list[a], &list[b]);
  return a != b;
}

/* ---- right: what bind would not write, but might have ---- */

/* Cells of tmp have other names, and there is one more. */
static inline bool rename_tmp(bound_case *of, tt_random *random) {
  int64_t rank = any_rank(of, random);
  uint32_t cells = of->bound[rank]->list->tmp_count;
  if (cells == 0 || of->bound[rank]->list->step_count == 0)
    return false;
  uint32_t by = 1 + any(random, cells);
  tt_plan *list = own_list(of, rank);
  list->tmp_count = cells + 1;
  for (uint32_t n = 0; n < list->step_count; n++)
    for (int dst = 0; dst < 2; dst++) {
      tt_ref *ref = tmp_of(&list->step[n], dst);
      if (ref)
        ref->index = (ref->index + by) % (cells + 1);
    }
  return true;
}

static inline bool same_place(const tt_plan *plan, tt_ref a, tt_ref b) {
  uint32_t x = a.space == TT_SPACE_IN && plan->in_place ? TT_SPACE_OUT : a.space;
  uint32_t y = b.space == TT_SPACE_IN && plan->in_place ? TT_SPACE_OUT : b.space;
  return x == y && a.index == b.index;
}

/* Neither writes what the other touches. */
static inline bool independent(const tt_plan *plan, const tt_step *a, const tt_step *b) {
  bool reads_a = a->kind != TT_STEP_RECV, reads_b = b->kind != TT_STEP_RECV;
  return !same_place(plan, a->dst, b->dst) && !(reads_b && same_place(plan, a->dst, b->src)) &&
         !(reads_a && same_place(plan, b->dst, a->src));
}

/* Two neighbours in the order of cells that touch different memory. */
static inline bool other_order(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->order_count < 2)
    return false;
  uint32_t at = any(random, bound->order_count - 1), *pair = &bound->order[at];
  const tt_step *a = &bound->list->step[pair[0]], *b = &bound->list->step[pair[1]];
  if (at + 1 == bound->released || !independent(bound->list, a, b))
    return false;
  swap_numbers(&pair[0], &pair[1]);
  return true;
}

/* Fewer media: what may be lent need not be. */
static inline bool lend_less(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->settle_count == 0)
    return false;
  uint32_t at = any(random, bound->settle_count);
  bound->step[bound->settle[at]].media &=
      any(random, 2) ? (tt_media)~TT_MEDIA_LENT : (tt_media)~TT_MEDIA(TT_MEDIUM_READ);
  return true;
}

/* Released later than could be. */
static inline bool later_release(bound_case *of, tt_random *random) {
  tt_bound_plan *bound = any_bound(of, random);
  if (bound->released == bound->order_count)
    return false;
  bound->released += 1 + any(random, bound->order_count - bound->released);
  return true;
}

/* The last blocks between two ranks in the other order, at both ends. */
static inline bool other_places(bound_case *of, tt_random *random) {
  int64_t rank = any_rank(of, random);
  tt_bound_plan *from = of->bound[rank];
  if (from->blocks != TT_CLASS_ENDS || from->put_count < 2)
    return false;
  uint32_t at = any(random, from->put_count - 1);
  const tt_step *a = &from->list->step[from->put[at]], *b = &from->list->step[from->put[at + 1]];
  if (a->peer < 0 || a->peer != b->peer)
    return false;
  tt_bound_plan *to = of->bound[a->peer];
  for (uint32_t n = 0; n + 1 < to->take_count; n++) {
    const tt_step *x = &to->list->step[to->take[n]], *y = &to->list->step[to->take[n + 1]];
    if (x->peer == rank && y->peer == rank && x->block == a->block && y->block == b->block) {
      swap_numbers(&to->take[n], &to->take[n + 1]);
      swap_numbers(&from->put[at], &from->put[at + 1]);
      return true;
    }
  }
  return false;
}

#endif
