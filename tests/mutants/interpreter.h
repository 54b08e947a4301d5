/* tests/mutants/interpreter.h - runs all ranks' plans on numbers, under a random schedule. Shares nothing with verify
 * or exec.
 *
 * Each slice of a block is one number. Numbers of slices and slots, how many slices share a slot and who goes first are
 * drawn from the seed. Memory begins as garbage. */
#ifndef TEST_MUTANTS_INTERPRETER_H
#define TEST_MUTANTS_INTERPRETER_H

#include "definition.h"

#include <stdlib.h>
#include <string.h>

enum { SLICES = 4, RANKS = 8, LANES = 64, WITHOUT_SLOTS = -1 };

typedef enum outcome { RIGHT, WRONG_VALUE, WRONG_ACCESS, WRONG_MESSAGE, STUCK } outcome;

typedef struct item {
  element number;
  const element *lent; /* what it is, where that is not known before it is taken; NULL: `number` */
  uint32_t slot;
  uint8_t bounds; /* TT_STEP_FIRST, TT_STEP_LAST: at the beginning, at the end of its message */
} item;

typedef struct channel { /* from one send lane to one reader, or to all of a published lane */
  item *item;
  uint32_t pushed, committed, slot, in_slot;
  uint32_t popped[RANKS];
  uint32_t readers; /* set of ranks */
} channel;

typedef struct lane_state {
  const tt_plan *plan;
  const tt_lane *lane;
  uint32_t rank, step, done; /* step: current; done: its slices */
  bool offered;              /* without slots: the slice is in the slot, not yet taken */
  uint32_t priority;
  channel *to[RANKS];
} lane_state;

typedef void (*access_log)(void *user, uint32_t rank, uint32_t step, tt_ref at, uint32_t slice, bool write);

typedef struct interpreter {
  const tt_meaning *meaning;
  const tt_plan *const *plan;
  uint32_t rank_count, block_count, lane_count;
  uint32_t slices[1024]; /* of each plan block */
  uint32_t slots, pack;  /* of a channel; slices of a slot */
  bool hand_over;        /* without slots */
  bool flush;            /* a lane that waits commits its slot */
  int style;
  lane_state lane[LANES];
  element *memory[RANKS][TT_SPACE_COUNT];
  tt_random random;
  outcome outcome;
  access_log log;
  void *log_user;
  void *owned[LANES * RANKS * 2 + RANKS * (TT_SPACE_COUNT + 1)];
  uint32_t owned_count;
} interpreter;

/* ---- memory ---- */

static inline void *own(interpreter *in, size_t count, size_t size) {
  return in->owned[in->owned_count++] = calloc(count + 1, size);
}

static inline bool is_there(const interpreter *in, uint32_t rank, tt_ref at, bool write) {
  const tt_meaning *meaning = in->meaning;
  uint32_t block = at.index / in->plan[0]->part_count; /* of in and out only: tmp's cells are other things */
  if (at.space != TT_SPACE_IN && at.space != TT_SPACE_OUT)
    return true;
  bool out_there = meaning->expect(meaning, rank, block).kind != TT_MEANING_NOTHING;
  if (at.space == TT_SPACE_OUT)
    return out_there;
  return meaning->has_in(meaning, rank, block) && (!write || (meaning->in_place && out_there));
}

static inline element *number_at(interpreter *in, uint32_t rank, tt_ref at, uint32_t slice) {
  bool aliased = in->meaning->in_place && at.space == TT_SPACE_IN;
  return &in->memory[rank][aliased ? TT_SPACE_OUT : at.space][at.index * SLICES + slice];
}

static inline element *touch(interpreter *in, const lane_state *at, tt_ref ref, bool write) {
  if (!is_there(in, at->rank, ref, write)) {
    in->outcome = WRONG_ACCESS;
    ref = (tt_ref){TT_SPACE_MID, 0};
  } else if (in->log != NULL) {
    in->log(in->log_user, at->rank, at->lane->first_step + at->step, ref, at->done, write);
  }
  return number_at(in, at->rank, ref, at->done);
}

static inline void fill_memory(interpreter *in) {
  for (uint32_t rank = 0; rank < in->rank_count; rank++)
    for (uint32_t space = 0; space < TT_SPACE_COUNT; space++) {
      uint32_t count = (space == TT_SPACE_TMP ? in->plan[rank]->tmp_count : in->block_count) * SLICES;
      in->memory[rank][space] = own(in, count, sizeof(element));
      for (uint32_t n = 0; n < count; n++)
        in->memory[rank][space][n] = (element){tt_random_next(&in->random) >> 8, 3, n};
    }
  for (uint32_t rank = 0; rank < in->rank_count; rank++)
    for (uint32_t n = 0; n < in->block_count * SLICES; n++) {
      tt_ref at = {TT_SPACE_IN, n / SLICES};
      if (is_there(in, rank, at, false))
        *number_at(in, rank, at, n % SLICES) = input_number(rank, n / SLICES, n % SLICES);
    }
}

/* ---- channels ---- */

static inline channel *new_channel(interpreter *in, uint32_t items) {
  channel *made = own(in, 1, sizeof *made);
  made->item = own(in, items * SLICES, sizeof *made->item);
  return made;
}

static inline uint32_t least_popped(const channel *of) {
  uint32_t least = of->pushed;
  for (uint32_t rank = 0; rank < RANKS; rank++)
    if ((of->readers >> rank & 1) != 0 && of->popped[rank] < least)
      least = of->popped[rank];
  return least;
}

static inline uint32_t slots_in_use(const channel *of) {
  uint32_t least = least_popped(of);
  return least == of->pushed ? 0 : of->item[of->pushed - 1].slot - of->item[least].slot + 1;
}

static inline void commit(channel *of) {
  if (of->in_slot > 0)
    of->slot++;
  of->in_slot = 0;
  of->committed = of->pushed;
}

static inline void push(const interpreter *in, channel *to, element value, uint8_t bounds) {
  to->item[to->pushed++] = (item){value, NULL, to->slot, bounds};
  if (++to->in_slot == in->pack || (bounds & TT_STEP_LAST) != 0)
    commit(to);
}

static inline channel *channel_to(interpreter *in, lane_state *lane, int32_t peer) {
  uint32_t at = peer < 0 ? 0 : (uint32_t)peer;
  if (lane->to[at] == NULL) {
    lane->to[at] = new_channel(in, lane->lane->step_count);
    lane->to[at]->readers = peer < 0 ? 0 : 1u << peer;
    for (uint32_t n = 0; peer < 0 && n < lane->lane->reader_count; n++)
      lane->to[at]->readers |= 1u << lane->plan->reader[lane->lane->first_reader + n];
  }
  return lane->to[at];
}

/* Ranks of a published lane's group; of another lane, its own two ends. */
static inline uint32_t group_of(const lane_state *lane, int32_t peer) {
  uint32_t group = 1u << lane->rank | (peer < 0 ? 0 : 1u << peer);
  for (uint32_t n = 0; n < lane->lane->reader_count; n++)
    group |= 1u << lane->plan->reader[lane->lane->first_reader + n];
  return group;
}

/* Lanes of one rank may have the same id, where they send to different ranks. */
static inline bool sends_to(const lane_state *lane, uint32_t rank) {
  for (uint32_t n = 0; n < lane->lane->step_count && !lane->lane->published; n++)
    if (lane->plan->step[lane->lane->first_step + n].peer == (int32_t)rank)
      return true;
  return lane->lane->published && (group_of(lane, -1) >> rank & 1) != 0;
}

/* NULL where the peer has no such lane for this rank. */
static inline channel *channel_from(interpreter *in, const lane_state *lane, int32_t peer) {
  for (uint32_t n = 0; n < in->lane_count; n++) {
    lane_state *other = &in->lane[n];
    if (other->rank != (uint32_t)peer || other->lane->role != TT_ROLE_SEND || other->lane->id != lane->lane->id ||
        !sends_to(other, lane->rank))
      continue;
    channel *from = channel_to(in, other, other->lane->published ? -1 : (int32_t)lane->rank);
    bool same = other->lane->published == lane->lane->published &&
                (!lane->lane->published || group_of(other, -1) == group_of(lane, peer));
    return same && (from->readers >> lane->rank & 1) != 0 ? from : NULL;
  }
  return NULL;
}

/* ---- steps ---- */

static inline const tt_step *current(const lane_state *lane) {
  return &lane->plan->step[lane->lane->first_step + lane->step];
}

static inline bool waits(const lane_state *lane, const tt_step *step) {
  const lane_state *first = lane - (lane->lane - lane->plan->lane);
  for (uint32_t n = 0; n < step->wait_count; n++) {
    const tt_wait *wait = &lane->plan->wait[step->wait_first + n];
    const lane_state *on = &first[wait->lane];
    bool reached = on->step > wait->step || (!wait->whole && on->step == wait->step && on->done > lane->done);
    if (!reached)
      return true;
  }
  return false;
}

/* Message bounds that the lane's current slice is at. */
static inline uint8_t bounds_of(const interpreter *in, const lane_state *lane, const tt_step *step) {
  int first = lane->done == 0 ? step->flags & TT_STEP_FIRST : 0;
  int last = lane->done + 1 == in->slices[step->block] ? step->flags & TT_STEP_LAST : 0;
  return (uint8_t)(first | last);
}

static inline bool send_slice(interpreter *in, lane_state *lane, const tt_step *step) {
  channel *to = channel_to(in, lane, step->peer);
  if (!lane->offered) {
    if (to->in_slot == 0 && slots_in_use(to) >= in->slots)
      return false;
    push(in, to, *touch(in, lane, step->src, false), bounds_of(in, lane, step));
    lane->offered = true;
    if (in->hand_over)
      return false; /* done when taken: counted as no progress, since its reader makes it */
  }
  if (in->hand_over && least_popped(to) < to->pushed)
    return false;
  lane->offered = false;
  return true;
}

static inline void store(interpreter *in, lane_state *lane, const tt_step *step, element value) {
  *touch(in, lane, step->dst, true) = step->finish > 0 ? finished(value, step->finish) : value;
}

static inline bool recv_slice(interpreter *in, lane_state *lane, const tt_step *step) {
  channel *from = channel_from(in, lane, step->peer);
  if (from == NULL || from->popped[lane->rank] == from->committed)
    return false;
  item got = from->item[from->popped[lane->rank]++];
  if (got.lent != NULL)
    got.number = *got.lent;
  if (got.bounds != bounds_of(in, lane, step))
    in->outcome = WRONG_MESSAGE;
  if (step->kind == TT_STEP_RECV_REDUCE) {
    element mine = *touch(in, lane, step->src, false);
    got.number = step->flags & TT_STEP_LEFT ? combined(got.number, mine) : combined(mine, got.number);
  }
  store(in, lane, step, got.number);
  return true;
}

static inline bool flush_all(lane_state *lane) {
  bool moved = false;
  for (uint32_t n = 0; n < RANKS; n++)
    if (lane->to[n] != NULL && lane->to[n]->in_slot > 0) {
      commit(lane->to[n]);
      moved = true;
    }
  return moved;
}

static inline element copied(interpreter *in, lane_state *lane, const tt_step *step) {
  element value = *touch(in, lane, step->src, false);
  return step->flags & TT_STEP_ONTO ? combined(*touch(in, lane, step->dst, false), value) : value;
}

/* One slice of the lane's current step; false where it cannot go on now. */
static inline bool advance(interpreter *in, lane_state *lane) {
  const tt_step *step = current(lane);
  bool offered = lane->offered, moved = false;
  if (!offered && waits(lane, step))
    return in->flush && flush_all(lane);
  if (step->kind == TT_STEP_SEND)
    moved = send_slice(in, lane, step);
  else if (step->kind == TT_STEP_COPY)
    store(in, lane, step, copied(in, lane, step)), moved = true;
  else
    moved = recv_slice(in, lane, step);
  if (moved && ++lane->done == in->slices[step->block]) {
    lane->done = 0;
    lane->step++;
  }
  return moved || lane->offered != offered;
}

/* ---- a run ---- */

static inline void add_lanes(interpreter *in) {
  for (uint32_t rank = 0; rank < in->rank_count; rank++)
    for (uint32_t n = 0; n < in->plan[rank]->lane_count && in->lane_count < LANES; n++)
      in->lane[in->lane_count++] = (lane_state){.plan = in->plan[rank],
                                                .lane = &in->plan[rank]->lane[n],
                                                .rank = rank,
                                                .priority = (uint32_t)tt_random_next(&in->random)};
}

static inline void draw(interpreter *in, int slots) {
  bool equal = tt_random_below(&in->random, 2) == 0;
  uint32_t count = 1 + (uint32_t)tt_random_below(&in->random, SLICES);
  for (uint32_t n = 0; n < in->block_count; n++)
    in->slices[n] = equal ? count : 1 + (uint32_t)tt_random_below(&in->random, SLICES);
  in->hand_over = slots == WITHOUT_SLOTS;
  in->slots = slots > 0 ? (uint32_t)slots : in->hand_over ? 1 : 1 + (uint32_t)tt_random_below(&in->random, 3);
  in->pack = in->hand_over ? 1 : 1u << 2 * tt_random_below(&in->random, 4);
  in->flush = tt_random_below(&in->random, 2) == 0;
  in->style = (int)tt_random_below(&in->random, 3);
}

/* The lane to try next: anyone, or the one of highest priority below `limit`. */
static inline lane_state *choose(interpreter *in, const bool *tried) {
  lane_state *best = NULL;
  uint32_t start = (uint32_t)tt_random_below(&in->random, in->lane_count);
  for (uint32_t n = 0; n < in->lane_count; n++) {
    uint32_t at = (start + n) % in->lane_count;
    if (tried[at] || in->lane[at].step == in->lane[at].lane->step_count)
      continue;
    if (in->style == 0)
      return &in->lane[at];
    if (best == NULL || in->lane[at].priority > best->priority)
      best = &in->lane[at];
  }
  return best;
}

static inline void run_lanes(interpreter *in) {
  bool tried[LANES] = {false};
  lane_state *next;
  while (in->lane_count > 0 && in->outcome == RIGHT && (next = choose(in, tried)) != NULL) {
    bool moved = advance(in, next);
    if (moved)
      memset(tried, 0, sizeof tried);
    tried[next - in->lane] = !moved;
    if (in->style == 2 && tt_random_below(&in->random, 8) == 0)
      next->priority = (uint32_t)tt_random_next(&in->random);
  }
}

static inline outcome check_ended(interpreter *in) {
  for (uint32_t n = 0; n < in->lane_count; n++) {
    if (in->lane[n].step < in->lane[n].lane->step_count)
      return STUCK;
    for (uint32_t to = 0; to < RANKS; to++)
      if (in->lane[n].to[to] != NULL && least_popped(in->lane[n].to[to]) < in->lane[n].to[to]->pushed)
        return WRONG_MESSAGE;
  }
  return RIGHT;
}

static inline bool is_expected(interpreter *in, uint32_t rank, uint32_t block, uint32_t slice, bool ordered) {
  tt_expected expected = in->meaning->expect(in->meaning, rank, block / in->plan[0]->part_count);
  if (expected.kind == TT_MEANING_NOTHING)
    return true;
  element is = *number_at(in, rank, (tt_ref){TT_SPACE_OUT, block}, slice);
  element wanted = expected_number(in->meaning, &expected, block, slice);
  return is.sum == wanted.sum && (!(ordered || expected.ordered) || (is.a == wanted.a && is.b == wanted.b));
}

static inline outcome check_out(interpreter *in, bool ordered) {
  for (uint32_t rank = 0; rank < in->rank_count; rank++)
    for (uint32_t block = 0; block < in->block_count; block++)
      for (uint32_t slice = 0; slice < in->slices[block]; slice++)
        if (!is_expected(in, rank, block, slice, ordered))
          return WRONG_VALUE;
  return RIGHT;
}

/* slots: how many a channel has; 0: drawn; WITHOUT_SLOTS: slices are handed over. ordered: results are in rank order.
 */
static inline outcome interpret(const tt_meaning *meaning, const tt_plan *const *plan, uint64_t seed, int slots,
                                bool ordered, access_log log, void *user) {
  static interpreter in;
  in = (interpreter){.meaning = meaning, .plan = plan, .log = log, .log_user = user};
  in.rank_count = (uint32_t)meaning->rank_count;
  in.block_count = plan[0]->block_count;
  tt_random_init(&in.random, seed);
  draw(&in, slots);
  fill_memory(&in);
  add_lanes(&in);
  run_lanes(&in);
  if (in.outcome == RIGHT)
    in.outcome = check_ended(&in);
  if (in.outcome == RIGHT)
    in.outcome = check_out(&in, ordered);
  while (in.owned_count > 0)
    free(in.owned[--in.owned_count]);
  return in.outcome;
}

#endif
