/* exec/forecast.c - what a run will send, by lane and medium: the rules of layout.c and move.c, without buffers.
 *
 * How many slots there are, and now and then what is lent, depends on how far other lanes are when a step is let go on.
 * The step gets all of its block at once, or a slice at a time, and then the slot in work goes out between two slices.
 * Both courses are followed, and what a run does lies between them. */
#include "exec/engine.h"
#include "exec/shares.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

typedef struct course { /* of a lane */
  int64_t used;         /* bytes of the slot in work; 0: there is none */
  tt_media went;        /* how bytes of the message go */
  tt_sent slots;        /* of the message */
} course;

typedef struct forecast {
  const tt_bound_plan *bound;
  const tt_run *run;
  const tt_forecast_facts *facts;
  bool takes;    /* as in tt_instance */
  bool wide;     /* buffers are images, which nobody shares */
  bool *in_cell; /* of each step: its block travels in a cell */
  int64_t slot, slice;
  tt_medium slots; /* what carries what the step in work copies */
  tt_blocks blocks;
  tt_sent_range *sent; /* of the lane in work, by medium */
  course least, most;  /* of that lane */
  tt_arena arena;
} forecast;

static int64_t bytes_of(const forecast *of, const tt_step *step) {
  return tt_blocks_bytes(&of->blocks, tt_blocks_length(of->bound->list, step->block));
}

static int64_t lower(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t higher(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- slots ---- */

static void flush(course *of) {
  of->slots.slots += of->used > 0;
  of->used = 0;
}

static void put(const forecast *on, course *of, int64_t bytes) {
  int64_t at = (of->used + 63) & ~(int64_t)63;
  if (at + bytes > on->slot) {
    flush(of);
    at = 0;
  }
  assert(bytes > 0 && bytes <= on->slot);
  of->used = at + bytes;
  of->went |= TT_MEDIA(on->slots);
  of->slots.bytes += bytes;
  if (of->used >= on->slice)
    flush(of);
}

/* ---- references ---- */

typedef struct reference {
  bool tried;       /* for pieces of `lend` bytes: an empty slot is taken for it, also where it is refused */
  tt_medium medium; /* TT_MEDIUM_COUNT: it is refused */
  int64_t least;    /* bytes of a piece from which it is not */
} reference;

static reference refer(const forecast *on, const tt_step *step, tt_media media, int64_t bytes) {
  bool waits = bytes >= tt_run_lends_from(on->run, &on->facts->thresholds, on->takes);
  bool shared = step->src.space <= TT_SPACE_OUT && on->facts->shared[step->src.space] && !on->wide;
  bool read = on->run->single_copy && media & TT_MEDIA(TT_MEDIUM_READ) && on->facts->read_least >= 0;
  return (reference){.tried = (media & TT_MEDIA_LENT) && waits,
                     .medium = !waits   ? TT_MEDIUM_COUNT
                               : shared ? TT_MEDIUM_LENT
                               : read   ? TT_MEDIUM_READ
                                        : TT_MEDIUM_COUNT,
                     .least = shared ? 0 : on->facts->read_least};
}

/* ---- a step ---- */

/* The next bytes that a step may send, `piece` of them at first. Returns what of it is referred to. */
static tt_sent send(const forecast *on, course *of, reference *by, int64_t piece, int64_t bytes) {
  if (by->tried && piece >= on->facts->thresholds.lend) {
    flush(of);
    if (by->medium < TT_MEDIUM_COUNT && bytes >= by->least) {
      of->went |= TT_MEDIA(by->medium);
      return (tt_sent){.bytes = bytes, .slots = 1};
    }
    by->tried = false; /* for the rest of the block */
  }
  for (int64_t done = 0; done < bytes; done += on->slice)
    put(on, of, lower(bytes - done, on->slice));
  return (tt_sent){.bytes = 0};
}

static tt_sent send_at_once(const forecast *on, course *of, reference by, int64_t bytes) {
  return send(on, of, &by, lower(bytes, on->slice), bytes);
}

static tt_sent send_by_slices(const forecast *on, course *of, reference by, int64_t bytes, bool holds) {
  tt_sent all = {.bytes = 0};
  for (int64_t done = 0; done < bytes; done += on->slice) {
    int64_t piece = lower(bytes - done, on->slice);
    if (holds)
      flush(of);
    tt_sent referred = send(on, of, &by, piece, piece);
    all = (tt_sent){.bytes = all.bytes + referred.bytes, .slots = all.slots + referred.slots};
  }
  return all;
}

static void add(tt_sent_range *to, tt_sent a, tt_sent b) {
  to->least.messages += lower(a.messages, b.messages);
  to->least.bytes += lower(a.bytes, b.bytes);
  to->least.slots += lower(a.slots, b.slots);
  to->most.messages += higher(a.messages, b.messages);
  to->most.bytes += higher(a.bytes, b.bytes);
  to->most.slots += higher(a.slots, b.slots);
}

static void go(forecast *on, const tt_step *step, tt_media media, int64_t bytes) {
  bool waits = step->wait_count > 0, holds = waits && !(media & TT_MEDIA(TT_MEDIUM_MESSAGE));
  if (holds)
    flush(&on->most);
  if (bytes == 0)
    return;
  reference by = refer(on, step, media, bytes);
  tt_sent whole = send_at_once(on, &on->least, by, bytes);
  tt_sent sliced = waits && bytes > on->slice ? send_by_slices(on, &on->most, by, bytes, holds)
                                              : send_at_once(on, &on->most, by, bytes);
  if (by.medium < TT_MEDIUM_COUNT)
    add(&on->sent[by.medium], whole, sliced);
}

/* ---- lanes ---- */

static void end_message(forecast *on) {
  course *least = &on->least, *most = &on->most;
  flush(least);
  flush(most);
  for (int n = 0; n < TT_MEDIUM_COUNT; n++)
    add(&on->sent[n], (tt_sent){.messages = least->went >> n & 1}, (tt_sent){.messages = most->went >> n & 1});
  add(&on->sent[on->slots], least->slots, most->slots);
  *least = *most = (course){.used = 0};
}

static void follow(forecast *on, const tt_lane *lane) {
  assert(lane->role == TT_ROLE_SEND);
  const tt_plan *plan = on->bound->list;
  on->least = on->most = (course){.used = 0};
  for (uint32_t n = lane->first_step; n < lane->first_step + lane->step_count; n++) {
    const tt_step *step = &plan->step[n];
    tt_media media = on->bound->step[n].media;
    bool last = n + 1 == lane->first_step + lane->step_count;
    on->slots = tt_media_slots(media);
    go(on, step, media, on->in_cell[n] ? 0 : bytes_of(on, step));
    if (tt_step_ends_message(step, last))
      end_message(on);
  }
}

/* ---- cells ---- */

static void add_to_cell(tt_sent_range *cell, int64_t bytes) {
  cell->least.bytes += bytes;
  cell->most.bytes += bytes;
}

/* Of an image: what goes to several ranks is there once. */
static tutti_status fill_image(forecast *on, tt_sent_range *by_lane) {
  const tt_plan *plan = on->bound->list;
  bool *there = tt_arena_alloc(&on->arena, plan->block_count, sizeof *there);
  if (!there)
    return TUTTI_ERR_MEMORY;
  for (uint32_t number = 0; number < plan->lane_count; number++)
    for (uint32_t n = 0; n < plan->lane[number].step_count; n++) {
      uint32_t at = plan->lane[number].first_step + n;
      const tt_step *step = &plan->step[at];
      if (step->kind != TT_STEP_SEND)
        continue;
      on->in_cell[at] = true;
      if (!there[step->block])
        add_to_cell(&by_lane[number * TT_MEDIUM_COUNT + TT_MEDIUM_CELL], bytes_of(on, step));
      there[step->block] = true;
    }
  return TUTTI_OK;
}

static tutti_status fill_shares(forecast *on, tt_sent_range *by_lane) {
  const tt_plan *plan = on->bound->list;
  uint32_t *lane_of = tt_arena_alloc(&on->arena, plan->step_count, sizeof *lane_of);
  if (!lane_of)
    return TUTTI_ERR_MEMORY;
  for (uint32_t number = 0; number < plan->lane_count; number++)
    for (uint32_t n = 0; n < plan->lane[number].step_count; n++)
      lane_of[plan->lane[number].first_step + n] = number;
  tt_shares shares = tt_shares_begin(plan->rank_count, tt_options_get()->direct_bytes);
  for (uint32_t n = 0; n < on->bound->put_count; n++) {
    uint32_t at = on->bound->put[n];
    int64_t bytes = bytes_of(on, &plan->step[at]);
    tt_shares_turn(&shares, plan->step[at].peer, plan->step[at].peer);
    if (bytes == 0 || !(on->bound->step[at].media & TT_MEDIA(TT_MEDIUM_CELL)) || tt_shares_next(&shares, bytes).streams)
      continue;
    on->in_cell[at] = true;
    add_to_cell(&by_lane[lane_of[at] * TT_MEDIUM_COUNT + TT_MEDIUM_CELL], bytes);
  }
  return TUTTI_OK;
}

/* One cell for all lanes: it counts for the first of them. */
static void count_cell(const tt_plan *plan, tt_sent_range *by_lane) {
  for (uint32_t n = 0; n < plan->lane_count; n++) {
    tt_sent_range *cell = &by_lane[n * TT_MEDIUM_COUNT + TT_MEDIUM_CELL];
    if (cell->most.bytes == 0)
      continue;
    cell->least.messages = cell->most.messages = cell->least.slots = cell->most.slots = 1;
    return;
  }
}

static tutti_status fill_cells(forecast *on, tt_sent_range *by_lane) {
  tutti_status status = TUTTI_OK;
  on->in_cell = tt_arena_alloc(&on->arena, on->bound->list->step_count, sizeof *on->in_cell);
  if (on->in_cell && on->bound->blocks == TT_CLASS_CELLS)
    status = fill_image(on, by_lane);
  if (on->in_cell && on->bound->blocks == TT_CLASS_ENDS)
    status = fill_shares(on, by_lane);
  if (!on->in_cell || status != TUTTI_OK)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to look at %u steps", on->bound->list->step_count);
  count_cell(on->bound->list, by_lane);
  return TUTTI_OK;
}

/* ---- all of it ---- */

static tutti_status begin(forecast *on) {
  int64_t element = on->run->element_bytes ? on->run->element_bytes : (int64_t)tutti_type_size(on->run->type);
  on->wide = tt_accumulate_applies(on->run);
  if (on->wide)
    element = (int64_t)sizeof(float);
  int64_t whole = on->run->moves_only ? 1 : element;
  on->slot = tt_slot_bytes(on->bound->list, on->facts->slot_bytes, whole);
  on->slice = tt_slice_bytes(on->slot, whole);
  if (on->slice <= 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "elements of %" PRId64 " bytes do not fit into slots of %" PRId64 " bytes",
                   element, on->slot);
  return tt_blocks_init(&on->blocks, on->run, element, on->bound->list);
}

tutti_status tt_forecast(const tt_bound_plan *bound, const tt_run *run, const tt_forecast_facts *facts,
                         tt_sent_range *by_lane) {
  const tt_plan *plan = bound->list;
  assert(facts->thresholds.lend > 0 && facts->thresholds.fetch > 0 && facts->thresholds.combine > 0);
  forecast on = {.bound = bound, .run = run, .facts = facts};
  for (uint32_t n = 0; n < plan->step_count; n++)
    on.takes |= tt_plan_step_takes(&plan->step[n]);
  memset(by_lane, 0, (size_t)plan->lane_count * TT_MEDIUM_COUNT * sizeof *by_lane);
  tt_arena_init(&on.arena);
  tutti_status status = begin(&on);
  if (status == TUTTI_OK)
    status = fill_cells(&on, by_lane);
  for (uint32_t n = 0; n < plan->lane_count && status == TUTTI_OK; n++) {
    on.sent = &by_lane[n * TT_MEDIUM_COUNT];
    if (plan->lane[n].role == TT_ROLE_SEND)
      follow(&on, &plan->lane[n]);
  }
  tt_arena_finish(&on.arena);
  return status;
}
