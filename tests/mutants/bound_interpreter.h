/* tests/mutants/bound_interpreter.h - runs all ranks' bound plans on numbers, under a random schedule. Shares nothing
 * with bind, verify or exec.
 *
 * As interpreter.h; besides, a sender picks any admitted medium, cells hold one call, and memory turns to garbage as
 * soon as its owner may use it again: a rank's buffers when its run is complete, a rank's cell when its readers have
 * released it. */
#ifndef TEST_MUTANTS_BOUND_INTERPRETER_H
#define TEST_MUTANTS_BOUND_INTERPRETER_H

#include "interpreter.h"
#include "plan/plan.h"

enum { PLACES = 256, STEPS_MOST = 512 };

typedef struct cell_place { /* in a cell */
  bool written;
  uint32_t block, slices;
  element number[SLICES];
} cell_place;

typedef struct spot { /* of a send's or take's block */
  bool in_cell;
  uint32_t at;
} spot;

typedef struct bound_rank {
  const tt_bound_plan *bound;
  spot spot[STEPS_MOST];          /* of each step of the list */
  cell_place cell[RANKS][PLACES]; /* for each reader; where all know all lengths: [0], by block */
  bool walks_order, published, released, complete, cell_is_over;
  uint32_t position, slice; /* in the order */
  uint32_t readers;         /* set of ranks that it puts something for */
  lane_state *first_lane;
  element *result; /* out when the run was complete */
} bound_rank;

typedef struct bound_run {
  interpreter in;
  uint32_t length[1024], near, far; /* of blocks, in cells; room of a pair in near and far memory */
  bound_rank rank[RANKS];
} bound_run;

static inline element garbage(interpreter *in) {
  return (element){tt_random_next(&in->random) >> 8, tt_random_next(&in->random), 7};
}

/* ---- where blocks travel ---- */

/* Lays one end's list: near where there is room, else far, else in the stream; anew with each peer. */
static inline void lay_list(bound_run *run, bound_rank *of, const uint32_t *list, uint32_t count) {
  const tt_plan *plan = of->bound->list;
  int32_t peer = -2;
  uint32_t near = 0, far = 0;
  for (uint32_t n = 0; n < count; n++) {
    const tt_step *step = &plan->step[list[n]];
    if (!(of->bound->step[list[n]].media & TT_MEDIA(TT_MEDIUM_CELL)))
      continue;
    if (step->peer != peer)
      near = far = 0;
    peer = step->peer;
    uint32_t length = run->length[step->block];
    if (near + length <= run->near) {
      of->spot[list[n]] = (spot){true, near};
      near += length;
    } else if (far + length <= run->far) {
      of->spot[list[n]] = (spot){true, PLACES / 2 + far};
      far += length;
    }
  }
}

static inline void lay_rank(bound_run *run, bound_rank *of) {
  const tt_bound_plan *bound = of->bound;
  memset(of->spot, 0, sizeof of->spot);
  if (bound->blocks == TT_CLASS_ENDS) {
    lay_list(run, of, bound->put, bound->put_count);
    lay_list(run, of, bound->take, bound->take_count);
  }
  of->walks_order = bound->blocks != TT_CLASS_STREAMS;
  for (uint32_t n = 0; n < bound->list->step_count; n++) {
    const tt_step *step = &bound->list->step[n];
    if (bound->blocks == TT_CLASS_CELLS && step->kind != TT_STEP_COPY)
      of->spot[n] = (spot){true, step->block};
    of->walks_order = of->walks_order && (step->kind == TT_STEP_COPY || of->spot[n].in_cell);
  }
}

static inline cell_place *place_in(bound_run *run, uint32_t writer, uint32_t reader, uint32_t at) {
  bool shared = run->rank[writer].bound->blocks == TT_CLASS_CELLS;
  return &run->rank[writer].cell[shared ? 0 : reader][at % PLACES];
}

static inline uint32_t readers_of(const bound_rank *of, const tt_lane *lane, const tt_step *step) {
  uint32_t readers = step->peer >= 0 ? 1u << step->peer : 0;
  for (uint32_t n = 0; step->peer < 0 && n < lane->reader_count; n++)
    readers |= 1u << of->bound->list->reader[lane->first_reader + n];
  return readers;
}

static inline lane_state lane_of(bound_run *run, uint32_t rank, uint32_t number) {
  const tt_plan *plan = run->rank[rank].bound->list;
  uint32_t lane = 0;
  while (number >= plan->lane[lane].first_step + plan->lane[lane].step_count)
    lane++;
  return (lane_state){
      .plan = plan, .lane = &plan->lane[lane], .rank = rank, .step = number - plan->lane[lane].first_step};
}

/* ---- cells ---- */

static inline void put_step(bound_run *run, uint32_t rank, uint32_t number) {
  bound_rank *of = &run->rank[rank];
  const tt_step *step = &of->bound->list->step[number];
  lane_state at = lane_of(run, rank, number);
  uint32_t readers = readers_of(of, at.lane, step);
  of->readers |= readers;
  for (uint32_t reader = 0; reader < RANKS; reader++)
    if (readers >> reader & 1) {
      cell_place *place = place_in(run, rank, reader, of->spot[number].at);
      *place = (cell_place){true, step->block, run->in.slices[step->block], {{0}}};
      for (at.done = 0; at.done < place->slices; at.done++)
        place->number[at.done] = *touch(&run->in, &at, step->src, false);
    }
}

static inline bool publish(bound_run *run, uint32_t rank) {
  bound_rank *of = &run->rank[rank];
  if (of->published)
    return false;
  for (uint32_t n = 0; n < of->bound->put_count; n++)
    if (of->spot[of->bound->put[n]].in_cell)
      put_step(run, rank, of->bound->put[n]);
  of->published = true;
  return true;
}

/* A writer's next call may come as soon as all its readers have released this one. */
static inline void end_cells(bound_run *run) {
  for (uint32_t writer = 0; writer < run->in.rank_count; writer++) {
    bound_rank *of = &run->rank[writer];
    bool over = of->published && of->complete && !of->cell_is_over;
    for (uint32_t reader = 0; reader < run->in.rank_count; reader++)
      over = over && (run->rank[reader].released || !(of->readers >> reader & 1));
    if (!over)
      continue;
    of->cell_is_over = true;
    for (uint32_t n = 0; n < RANKS * PLACES; n++)
      for (uint32_t slice = 0; slice < SLICES; slice++)
        of->cell[n / PLACES][n % PLACES].number[slice] = garbage(&run->in);
  }
}

/* One slice out of a cell; false where it has not come. */
static inline bool take_from_cell(bound_run *run, lane_state *at, const tt_step *step) {
  uint32_t number = at->lane->first_step + at->step;
  bound_rank *from = &run->rank[step->peer];
  if (!from->published)
    return false;
  cell_place *place = place_in(run, (uint32_t)step->peer, at->rank, run->rank[at->rank].spot[number].at);
  if (!place->written || place->block != step->block)
    run->in.outcome = WRONG_MESSAGE;
  element got = place->number[at->done];
  if (step->kind == TT_STEP_RECV_REDUCE) {
    element mine = *touch(&run->in, at, step->src, false);
    got = step->flags & TT_STEP_LEFT ? combined(got, mine) : combined(mine, got);
  }
  store(&run->in, at, step, got);
  return true;
}

/* ---- a rank that walks its order ---- */

static inline bool advance_order(bound_run *run, uint32_t rank) {
  bound_rank *of = &run->rank[rank];
  const tt_bound_plan *bound = of->bound;
  bool moved = false;
  if (of->position < bound->order_count) {
    uint32_t number = bound->order[of->position];
    const tt_step *step = &bound->list->step[number];
    lane_state at = lane_of(run, rank, number);
    at.done = of->slice;
    moved = true;
    if (step->kind == TT_STEP_COPY)
      store(&run->in, &at, step, copied(&run->in, &at, step));
    else
      moved = take_from_cell(run, &at, step);
    if (moved && ++of->slice == run->in.slices[step->block]) {
      of->slice = 0;
      of->position++;
    }
  }
  if (of->position >= bound->released && !of->released)
    of->released = moved = true;
  return moved;
}

/* ---- lanes ---- */

static inline bool send_bound(bound_run *run, lane_state *lane, const tt_step *step) {
  uint32_t number = lane->lane->first_step + lane->step;
  interpreter *in = &run->in;
  channel *to = channel_to(in, lane, step->peer);
  if (run->rank[lane->rank].spot[number].in_cell) {
    if (bounds_of(in, lane, step) & TT_STEP_LAST) /* what was sent of its message goes out */
      commit(to);
    return true;
  }
  if (to->in_slot == 0 && slots_in_use(to) >= in->slots)
    return false;
  element *source = touch(in, lane, step->src, false);
  bool lends = run->rank[lane->rank].bound->step[number].media & TT_MEDIA_LENT && tt_random_below(&in->random, 2);
  push(in, to, *source, bounds_of(in, lane, step));
  to->item[to->pushed - 1].lent = lends ? source : NULL;
  return true;
}

static inline bool recv_bound(bound_run *run, lane_state *lane, const tt_step *step) {
  uint32_t number = lane->lane->first_step + lane->step;
  if (run->rank[lane->rank].spot[number].in_cell)
    return take_from_cell(run, lane, step);
  return recv_slice(&run->in, lane, step);
}

static inline bool advance_bound(bound_run *run, lane_state *lane) {
  interpreter *in = &run->in;
  const tt_step *step = current(lane);
  bool moved = false;
  if (waits(lane, step))
    return in->flush && flush_all(lane);
  if (step->kind == TT_STEP_SEND)
    moved = send_bound(run, lane, step);
  else if (step->kind == TT_STEP_COPY)
    store(in, lane, step, copied(in, lane, step)), moved = true;
  else
    moved = recv_bound(run, lane, step);
  if (moved && ++lane->done == in->slices[step->block]) {
    lane->done = 0;
    lane->step++;
  }
  return moved;
}

/* ---- the end of a rank's run ---- */

static inline bool is_settled(bound_run *run, const bound_rank *of) {
  for (uint32_t n = 0; n < of->bound->settle_count; n++) {
    uint32_t number = of->bound->settle[n];
    const tt_step *step = &of->bound->list->step[number];
    lane_state at = lane_of(run, (uint32_t)(of - run->rank), number);
    lane_state *lane = of->first_lane + (at.lane - of->bound->list->lane);
    channel *to = lane->to[step->peer < 0 ? 0 : step->peer];
    if (to != NULL && least_popped(to) < to->pushed)
      return false;
  }
  return true;
}

static inline bool is_through(bound_run *run, const bound_rank *of) {
  if (of->walks_order)
    return of->position == of->bound->order_count && of->released;
  for (uint32_t n = 0; n < of->bound->list->lane_count; n++)
    if (of->first_lane[n].step < of->first_lane[n].lane->step_count)
      return false;
  return is_settled(run, of);
}

/* The result is taken, then the rank's memory is its owner's again. */
static inline bool complete(bound_run *run, uint32_t rank) {
  bound_rank *of = &run->rank[rank];
  interpreter *in = &run->in;
  if (of->complete || !of->published || !is_through(run, of))
    return false;
  uint32_t out = in->block_count * SLICES;
  of->result = own(in, out, sizeof *of->result);
  memcpy(of->result, in->memory[rank][TT_SPACE_OUT], out * sizeof *of->result);
  for (uint32_t space = 0; space < TT_SPACE_COUNT; space++) {
    uint32_t count = space == TT_SPACE_TMP ? of->bound->list->tmp_count * SLICES : out;
    for (uint32_t n = 0; n < count; n++)
      in->memory[rank][space][n] = garbage(in);
  }
  of->complete = of->released = true;
  return true;
}

/* ---- a run ---- */

/* Something of that rank: its cells, its order or one of its lanes, or its end. */
static inline bool step_rank(bound_run *run, uint32_t rank) {
  bound_rank *of = &run->rank[rank];
  if (publish(run, rank))
    return true;
  bool moved = false;
  if (of->walks_order)
    moved = !of->complete && advance_order(run, rank);
  uint32_t lanes = of->bound->list->lane_count;
  uint32_t start = lanes ? (uint32_t)tt_random_below(&run->in.random, lanes) : 0;
  for (uint32_t n = 0; n < lanes && !of->walks_order && !moved; n++) {
    lane_state *lane = &of->first_lane[(start + n) % lanes];
    moved = lane->step < lane->lane->step_count && advance_bound(run, lane);
  }
  if (complete(run, rank))
    moved = true;
  end_cells(run);
  return moved;
}

static inline void run_ranks(bound_run *run) {
  uint32_t ranks = run->in.rank_count, slow = (uint32_t)tt_random_below(&run->in.random, ranks);
  for (bool moved = true; moved && run->in.outcome == RIGHT;) {
    moved = false;
    for (uint32_t tries = 0; tries < 4 * ranks && run->in.outcome == RIGHT; tries++) {
      uint32_t rank = (uint32_t)tt_random_below(&run->in.random, ranks);
      if (rank == slow && run->in.style == 2 && tt_random_below(&run->in.random, 8) > 0)
        continue;
      moved |= step_rank(run, rank);
    }
    for (uint32_t rank = 0; rank < ranks && !moved; rank++)
      moved = step_rank(run, rank);
  }
}

static inline outcome check_bound(bound_run *run, bool ordered) {
  for (uint32_t rank = 0; rank < run->in.rank_count; rank++) {
    if (!run->rank[rank].complete)
      return STUCK;
    run->in.memory[rank][TT_SPACE_OUT] = run->rank[rank].result;
  }
  return check_out(&run->in, ordered);
}

static inline void draw_lengths(bound_run *run) {
  interpreter *in = &run->in;
  for (uint32_t n = 0; n < in->block_count; n++)
    run->length[n] = 1 + (uint32_t)tt_random_below(&in->random, 6);
  run->near = (uint32_t)tt_random_below(&in->random, 20);
  run->far = (uint32_t)tt_random_below(&in->random, 30);
}

/* As interpret(), with slots. */
static inline outcome interpret_bound(const tt_meaning *meaning, const tt_bound_plan *const *bound, uint64_t seed,
                                      int slots, bool ordered) {
  static bound_run run;
  const tt_plan *list[RANKS];
  for (int64_t rank = 0; rank < meaning->rank_count; rank++)
    list[rank] = bound[rank]->list;
  run.in = (interpreter){.meaning = meaning, .plan = list};
  run.in.rank_count = (uint32_t)meaning->rank_count;
  run.in.block_count = list[0]->block_count;
  tt_random_init(&run.in.random, seed);
  draw(&run.in, slots);
  draw_lengths(&run);
  fill_memory(&run.in);
  add_lanes(&run.in);
  lane_state *lane = run.in.lane;
  for (uint32_t rank = 0; rank < run.in.rank_count; rank++) {
    memset(&run.rank[rank], 0, sizeof run.rank[rank]);
    run.rank[rank].bound = bound[rank];
    run.rank[rank].first_lane = lane;
    lane += list[rank]->lane_count;
    lay_rank(&run, &run.rank[rank]);
  }
  run_ranks(&run);
  outcome got = run.in.outcome == RIGHT ? check_bound(&run, ordered) : run.in.outcome;
  while (run.in.owned_count > 0)
    free(run.in.owned[--run.in.owned_count]);
  return got;
}

#endif
