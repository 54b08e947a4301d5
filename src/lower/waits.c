/* lower/waits.c - dependencies between steps of one rank: read after write, write after read, write after write.
 *
 * Steps are taken in the order in which they could run one after the other. For each place in memory we keep the last
 * write and the reads since. Steps on the same block need each other's slice only; a cell of tmp that changes its block
 * is waited for whole.
 *
 * What a step knows to be done is a number for each lane: 2n + 1 after slice s of its step n, 2n + 2 after all of step
 * n. */
#include "lower/emit.h"

#include <assert.h>
#include <string.h>

typedef struct reader {
  int64_t step;
  struct reader *next;
} reader;

typedef struct spot {
  int64_t writer; /* step, -1: none yet */
  reader *readers;
} spot;

typedef struct watch {
  tt_plan *plan;
  tt_arena *arena;
  const uint32_t *lane_of;
  tt_map number; /* of the spot of a place, + 1 */
  spot *spots;
  int64_t spot_count, spot_room;
  uint32_t *known;      /* [step][lane] */
  uint32_t *at_lane;    /* steps of each lane so far */
  const tt_step **step; /* in the order of lowering */
  uint32_t *in_lane;    /* index of each within its lane */
  tt_wait *wait;
  int64_t wait_count, wait_room;
} watch;

/* NULL where memory is exhausted. Valid until the next one is asked for. */
static spot *spot_of(watch *in, tt_ref place) {
  uint32_t space = place.space;
  if (in->plan->in_place && space == TT_SPACE_IN)
    space = TT_SPACE_OUT;
  int32_t *number = tt_lower_number(&in->number, in->arena, (uint64_t)space << 32 | place.index);
  if (!number)
    return NULL;
  if (*number)
    return &in->spots[*number - 1];
  spot *added = tt_lower_push(in->arena, &in->spots, &in->spot_count, &in->spot_room, sizeof *added);
  if (!added)
    return NULL;
  *added = (spot){.writer = -1};
  *number = (int32_t)in->spot_count;
  return added;
}

static uint32_t *known_to(const watch *in, int64_t step) { return &in->known[(size_t)step * in->plan->lane_count]; }

static uint32_t whole(uint32_t known) { return known + (known & 1); }

/* `step` will wait for `other`: it knows what that one knew. */
static void learn(const watch *in, int64_t step, int64_t other, bool all_slices) {
  uint32_t *mine = known_to(in, step), *theirs = known_to(in, other), lane = in->lane_of[other];
  for (uint32_t n = 0; n < in->plan->lane_count; n++) {
    uint32_t known = all_slices ? whole(theirs[n]) : theirs[n];
    mine[n] = known > mine[n] ? known : mine[n];
  }
  uint32_t done = 2 * in->in_lane[other] + (all_slices ? 2 : 1);
  mine[lane] = done > mine[lane] ? done : mine[lane];
}

static bool wait_for(watch *in, int64_t step, int64_t other) {
  assert(other >= 0 && other < step);
  if (in->lane_of[step] == in->lane_of[other])
    return true;
  bool all_slices = in->step[step]->block != in->step[other]->block;
  uint32_t needs = 2 * in->in_lane[other] + (all_slices ? 2 : 1);
  if (known_to(in, step)[in->lane_of[other]] >= needs)
    return true;
  tt_wait *wait = tt_lower_push(in->arena, &in->wait, &in->wait_count, &in->wait_room, sizeof *wait);
  if (!wait)
    return false;
  *wait = (tt_wait){in->lane_of[other], in->in_lane[other], all_slices};
  learn(in, step, other, all_slices);
  return true;
}

static bool read_spot(watch *in, int64_t step, tt_ref place) {
  spot *at = spot_of(in, place);
  if (!at || (at->writer >= 0 && !wait_for(in, step, at->writer)))
    return false;
  reader *added = tt_arena_alloc(in->arena, 1, sizeof *added);
  if (!added)
    return false;
  *added = (reader){step, at->readers};
  at->readers = added;
  return true;
}

static bool write_spot(watch *in, int64_t step, tt_ref place) {
  spot *at = spot_of(in, place);
  if (!at)
    return false;
  for (const reader *n = at->readers; n; n = n->next) /* the latest first: it often implies the rest */
    if (n->step != step && !wait_for(in, step, n->step))
      return false;
  if (at->writer >= 0 && !wait_for(in, step, at->writer))
    return false;
  at->writer = step;
  at->readers = NULL;
  return true;
}

static bool watch_step(watch *in, int64_t number) {
  uint32_t lane = in->lane_of[number];
  assert(in->at_lane[lane] < in->plan->lane[lane].step_count);
  tt_step *step = &in->plan->step[in->plan->lane[lane].first_step + in->at_lane[lane]];
  in->step[number] = step;
  in->in_lane[number] = in->at_lane[lane]++;
  step->wait_first = (uint32_t)in->wait_count;
  bool reads = step->kind != TT_STEP_RECV, writes = step->kind != TT_STEP_SEND;
  bool fine = (!reads || read_spot(in, number, step->src)) && (!writes || write_spot(in, number, step->dst));
  assert(in->wait_count - step->wait_first <= UINT16_MAX);
  step->wait_count = (uint16_t)(in->wait_count - step->wait_first);
  return fine;
}

bool tt_lower_waits(tt_plan *plan, const uint32_t *lane_of, tt_arena *arena) {
  size_t steps = plan->step_count;
  watch in = {.plan = plan, .arena = arena, .lane_of = lane_of};
  in.known = tt_arena_alloc(arena, steps * plan->lane_count + 1, sizeof *in.known);
  in.at_lane = tt_arena_alloc(arena, plan->lane_count + 1, sizeof *in.at_lane);
  in.step = tt_arena_alloc(arena, steps + 1, sizeof *in.step);
  in.in_lane = tt_arena_alloc(arena, steps + 1, sizeof *in.in_lane);
  int64_t *last = tt_arena_alloc(arena, plan->lane_count + 1, sizeof *last);
  if (arena->failed)
    return false;
  for (size_t n = 0; n < plan->lane_count; n++)
    last[n] = -1;
  for (int64_t n = 0; n < (int64_t)steps; n++) {
    if (last[lane_of[n]] >= 0)
      learn(&in, n, last[lane_of[n]], true);
    if (!watch_step(&in, n))
      return false;
    last[lane_of[n]] = n;
  }
  plan->wait = tt_lower_keep(&plan->arena, in.wait, in.wait_count, sizeof *plan->wait);
  plan->wait_count = (uint32_t)in.wait_count;
  return plan->wait != NULL;
}
