/* sim/ends.c - what ranks of bound plans do at the ends of streams, in time that was measured.
 *
 * A piece takes longer where the rank's cache has lost its bytes. What of memory is in the cache is told by *reuse*:
 * how many bytes the rank has used since it used these. Calls are taken to follow one another on the same buffers, so
 * what a call uses first was used last a whole call ago.
 *
 * Ranks that share a core take turns at it, and what one of them writes is in the cache of both. Bytes that come from
 * memory take their turn there, too: of all ranks of a machine. */
#include "sim/machine.h"

#include <assert.h>
#include <math.h>

const int64_t tt_sim_piece[TT_SIM_PIECES] = {64, 1 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20};
const int64_t tt_sim_reuse[TT_SIM_REUSES] = {64 << 10, 512 << 10, 1 << 20, 2 << 20, 4 << 20, 16 << 20, 64 << 20};

typedef struct own { /* of a rank */
  double used;       /* bytes, so far */
  double all;        /* bytes of different places that the call uses */
  double *used_at;   /* of each place: what `used` was when it was used last; -1: not in this call */
  bool *made;        /* of each place: this call has written it */
  bool has_put;      /* it has written its cell */
} own;

struct tt_sim_ends {
  const tt_sim_bound *bound;
  own *own;          /* of each rank */
  bool past;         /* the run's final results go past the cache */
  double *memory_ps; /* when the memory of a machine is free; of its first rank */
  uint32_t *beside;  /* of each stream: the next one from the same rank to the same rank, around */
};

/* ---- what is measured ---- */

/* Between the two knots around it by a line; before the first and beyond the last by the nearest one. */
static double by_lines(const int64_t *at, const double *value, int count, double x) {
  int n = 1;
  while (n + 1 < count && x > (double)at[n])
    n++;
  double share = (x - (double)at[n - 1]) / (double)(at[n] - at[n - 1]);
  return value[n - 1] + share * (value[n] - value[n - 1]);
}

/* By the logarithm of the distance; beyond the ends it stays. */
static double by_reuse(const double *value, double reuse) {
  int n = 0;
  while (n < TT_SIM_REUSES && reuse > (double)tt_sim_reuse[n])
    n++;
  if (n == 0 || n == TT_SIM_REUSES)
    return value[n == 0 ? 0 : n - 1];
  double low = log((double)tt_sim_reuse[n - 1]), high = log((double)tt_sim_reuse[n]);
  return value[n - 1] + (log(reuse) - low) / (high - low) * (value[n] - value[n - 1]);
}

double tt_sim_beside_ns(const double ns[static TT_SIM_PIECES], int64_t piece_bytes) {
  return by_lines(tt_sim_piece, ns, TT_SIM_PIECES, (double)piece_bytes);
}

double tt_sim_end_ns(const tt_sim_end *end, int64_t piece_bytes, double reuse_bytes) {
  double alone_ns = by_lines(tt_sim_piece, end->piece_ns, TT_SIM_PIECES, (double)piece_bytes);
  return fmax(0, alone_ns) + fmax(0, by_reuse(end->reuse_ns, reuse_bytes)) * (double)piece_bytes;
}

void tt_sim_rates_set(const tt_sim_rates *rates, int between_count, tt_sim_model *model) {
  for (int n = 0; n < model->topo->level_count; n++)
    model->level[n] = n < between_count ? rates->between : rates->within;
}

/* ---- steps ---- */

static const tt_step *current(const tt_sim_lane *lane) { return &lane->plan->step[lane->of->first_step + lane->step]; }

static const tt_bound_step *bound_of(const tt_sim_machine *machine, const tt_sim_lane *lane) {
  return &machine->work.ends->bound->plan[lane->plan->rank]->step[lane->of->first_step + lane->step];
}

static int64_t first_of_machine(const tt_sim_ends *ends, int64_t rank) {
  return ends->bound->machine ? ends->bound->machine[rank] : 0;
}

tt_medium tt_sim_ends_medium(const tt_sim_machine *machine, const tt_sim_lane *lane) {
  const tt_sim_bound *bound = machine->work.ends->bound;
  tt_media media = bound_of(machine, lane)->media;
  bool reads = bound->single_copy && media & TT_MEDIA(TT_MEDIUM_READ) && bound->read_least >= 0;
  if (media & TT_MEDIA(TT_MEDIUM_CELL) && bound->plan[lane->plan->rank]->blocks == TT_CLASS_CELLS)
    return TT_MEDIUM_CELL;
  if (reads && tt_sim_block_bytes(lane->call->of, current(lane)->block) >= bound->read_least)
    return TT_MEDIUM_READ;
  return media & TT_MEDIA(TT_MEDIUM_MESSAGE)     ? TT_MEDIUM_MESSAGE
         : media & TT_MEDIA(TT_MEDIUM_PUBLISHED) ? TT_MEDIUM_PUBLISHED
                                                 : TT_MEDIUM_SLOT;
}

/* ---- reuse ---- */

static bool has_src(const tt_step *step) { return step->kind != TT_STEP_RECV; }

static bool has_dst(const tt_step *step) { return step->kind != TT_STEP_SEND; }

/* Of the plan's memory; (in, b) and (out, b) are one where the plan is in place. */
static size_t place(const tt_plan *plan, tt_ref ref) {
  uint32_t space = ref.space == TT_SPACE_IN && plan->in_place ? TT_SPACE_OUT : ref.space;
  return (size_t)space * plan->block_count + ref.index;
}

static size_t place_count(const tt_plan *plan) { return (size_t)TT_SPACE_TMP * plan->block_count + plan->tmp_count; }

static double reuse_of(const own *of, size_t at) {
  return of->used_at[at] < 0 ? of->all : fmin(of->used - of->used_at[at], of->all);
}

bool tt_sim_ends_new(const tt_sim_machine *machine, const tt_sim_lane *lane) {
  return machine->work.ends->own[lane->plan->rank].made[place(lane->plan, current(lane)->src)];
}

void tt_sim_ends_enter(tt_sim_machine *machine, tt_sim_lane *lane) {
  const tt_step *step = current(lane);
  own *of = &machine->work.ends->own[lane->plan->rank];
  double sum = 0, count = 0;
  tt_ref ref[2] = {step->src, step->dst};
  bool has[2] = {has_src(step), has_dst(step)};
  for (int n = 0; n < 2; n++)
    if (has[n]) {
      sum += reuse_of(of, place(lane->plan, ref[n]));
      count++;
    }
  for (int n = 0; n < 2; n++)
    if (has[n])
      of->used_at[place(lane->plan, ref[n])] = of->used;
  if (has[1])
    of->made[place(lane->plan, step->dst)] = true;
  lane->reuse = sum / count;
}

/* Every place that a rank's steps use counts once. */
static tutti_status add_own(tt_sim_machine *machine, const tt_plan *plan, own *of) {
  size_t places = place_count(plan);
  *of = (own){.used_at = tt_arena_alloc(&machine->arena, places + 1, sizeof *of->used_at),
              .made = tt_arena_alloc(&machine->arena, places + 1, sizeof *of->made)};
  if (!of->used_at || !of->made)
    return TUTTI_ERR_MEMORY;
  for (uint32_t n = 0; n < plan->step_count; n++) {
    const tt_step *step = &plan->step[n];
    double bytes = (double)tt_sim_block_bytes(machine->call->of, step->block);
    if (has_src(step))
      of->used_at[place(plan, step->src)] = bytes;
    if (has_dst(step))
      of->used_at[place(plan, step->dst)] = bytes;
  }
  for (size_t n = 0; n < places; n++) {
    of->all += of->used_at[n];
    of->used_at[n] = -1;
  }
  return TUTTI_OK;
}

/* ---- work ---- */

/* The stream of the lane's step; of one with several readers the first. */
static uint32_t stream_of(const tt_sim_lane *lane) {
  return lane->stream[lane->of->published && current(lane)->kind == TT_STEP_SEND ? 0 : lane->step];
}

typedef struct queue { /* from one rank to another */
  int64_t streams;     /* with something in them; at least one */
  int64_t packets;     /* begun and not used up */
} queue;

static queue queue_of(const tt_sim_machine *machine, uint32_t stream) {
  queue of = {1, machine->stream[stream].held};
  for (uint32_t n = machine->work.ends->beside[stream]; n != stream; n = machine->work.ends->beside[n]) {
    of.streams += machine->stream[n].held > 0;
    of.packets += machine->stream[n].held;
  }
  return of;
}

/* Whether the peer's bytes are in the cache of this rank's core, as its own are. */
static bool shares_core(const tt_sim_machine *machine, const tt_sim_lane *lane) {
  const tt_sim_ends *ends = machine->work.ends;
  const tt_sim_stream *stream = &machine->stream[stream_of(lane)];
  return ends->bound->rates->cores > 0 &&
         tt_sim_core_of(ends->bound, stream->source) == tt_sim_core_of(ends->bound, stream->reader);
}

static double shared_ns(const tt_sim_machine *machine, const tt_sim_lane *lane, const tt_sim_end *end, int64_t bytes) {
  bool combines = tt_plan_step_combines(current(lane));
  const tt_sim_end *here = &machine->work.ends->bound->rates->own[combines ? TT_SIM_COMBINE : TT_SIM_STORE];
  return end->piece_ns[0] + tt_sim_end_ns(here, bytes, lane->reuse);
}

static double alone_ns(const tt_sim_machine *machine, const tt_sim_lane *lane, const tt_sim_end *end, int64_t bytes) {
  if (shares_core(machine, lane))
    return shared_ns(machine, lane, end, bytes);
  bool past = machine->work.ends->past && bound_of(machine, lane)->final;
  return tt_sim_end_ns(end, bytes, past ? 0 : lane->reuse) + (past ? end->past_ns * (double)bytes : 0);
}

/* Both ranks are at work where more than this packet lies between them. A byte then takes the less the more there is:
 * several streams are like one whose pieces are as long as those of all of them together. From a whole slot on it does
 * not get less. */
static double end_ns(const tt_sim_machine *machine, const tt_sim_lane *lane, const tt_sim_end *end, int64_t bytes) {
  queue between = queue_of(machine, stream_of(lane));
  if (between.packets <= 1 || shares_core(machine, lane))
    return alone_ns(machine, lane, end, bytes);
  int64_t slot = machine->model->slot_bytes, most = bytes > slot ? bytes : slot, all = between.streams * bytes;
  all = all < most ? all : most;
  double ns = alone_ns(machine, lane, end, all) + tt_sim_beside_ns(end->both_ns, all);
  return fmax(0, ns) * (double)bytes / (double)all;
}

/* A cell is written once, however many read it. What is read where it lies is told once for its block. */
static double send_ns(tt_sim_machine *machine, const tt_sim_lane *lane, int64_t bytes) {
  tt_medium medium = lane->open->medium;
  const tt_sim_end *end = &machine->work.ends->bound->rates->end[medium][TT_SIM_SEND];
  own *of = &machine->work.ends->own[lane->plan->rank];
  if (medium == TT_MEDIUM_READ || medium == TT_MEDIUM_LENT)
    return lane->slice == 0 ? end->piece_ns[0] : 0;
  if (medium != TT_MEDIUM_CELL)
    return end_ns(machine, lane, end, bytes);
  double ns = of->has_put ? 0 : end_ns(machine, lane, end, bytes);
  of->has_put = true;
  return ns;
}

static const tt_step *sent_step(const tt_sim_machine *machine, const tt_sim_packet *packet) {
  const tt_sim_lane *lane = &machine->lane[packet->lane];
  return &lane->plan->step[lane->of->first_step + packet->step];
}

/* What is read from the other process is read in longer pieces than slots have, unless the sender gets it only piece by
 * piece. */
static double take_ns(const tt_sim_machine *machine, const tt_sim_lane *lane, int64_t bytes) {
  tt_medium medium = machine->stream[lane->stream[lane->step]].first->packet->medium;
  bool combines = current(lane)->kind == TT_STEP_RECV_REDUCE;
  tt_sim_act act = machine->stream[lane->stream[lane->step]].first->packet->is_new
                       ? (combines ? TT_SIM_COMBINE_NEW : TT_SIM_STORE_NEW)
                       : (combines ? TT_SIM_COMBINE : TT_SIM_STORE);
  const tt_sim_end *end = &machine->work.ends->bound->rates->end[medium][act];
  if (medium != TT_MEDIUM_READ)
    return end_ns(machine, lane, end, bytes);
  if (sent_step(machine, machine->stream[lane->stream[lane->step]].first->packet)->wait_count > 0)
    return alone_ns(machine, lane, end, bytes);
  int64_t whole = tt_sim_block_bytes(lane->call->of, current(lane)->block);
  return alone_ns(machine, lane, end, whole) * (double)bytes / (double)whole;
}

static double work_ns(tt_sim_machine *machine, const tt_sim_lane *lane, int64_t bytes) {
  const tt_step *step = current(lane);
  const tt_sim_end *own_end = machine->work.ends->bound->rates->own;
  if (step->kind == TT_STEP_SEND)
    return send_ns(machine, lane, bytes);
  if (step->kind == TT_STEP_COPY)
    return tt_sim_end_ns(&own_end[step->flags & TT_STEP_ONTO ? TT_SIM_COMBINE : TT_SIM_STORE], bytes, lane->reuse);
  return take_ns(machine, lane, bytes);
}

/* ---- memory ---- */

double tt_sim_ends_work(tt_sim_machine *machine, tt_sim_lane *lane, int64_t bytes, double begin_ps) {
  tt_sim_ends *ends = machine->work.ends;
  const tt_sim_rates *rates = ends->bound->rates;
  int64_t rank = lane->plan->rank;
  const tt_step *step = current(lane);
  double end_ps = begin_ps + rint(1000 * work_ns(machine, lane, bytes));
  ends->own[rank].used += (double)bytes * (has_src(step) + has_dst(step));
  if (lane->reuse >= (double)rates->cache_bytes && rates->memory_ns > 0) {
    double *memory_ps = &ends->memory_ps[first_of_machine(ends, rank)];
    *memory_ps = fmax(*memory_ps, begin_ps) + rint(1000 * rates->memory_ns * (double)bytes);
    end_ps = fmax(end_ps, *memory_ps);
  }
  return end_ps;
}

static int64_t all_bytes(const tt_sim_machine *machine) {
  int64_t sum = 0;
  for (uint32_t block = 0; block < machine->call->of->plan[0]->block_count; block++)
    sum += tt_sim_block_bytes(machine->call->of, block);
  return sum;
}

/* Those that have the same ends are a ring. Of each rank there is a list of the first ones. */
static void find_beside(tt_sim_machine *machine, tt_sim_ends *of) {
  uint32_t *first = tt_arena_alloc(&machine->arena, machine->rank_count, sizeof *first);
  uint32_t *next = tt_arena_alloc(&machine->arena, machine->stream_count + 1, sizeof *next);
  of->beside = tt_arena_alloc(&machine->arena, machine->stream_count + 1, sizeof *of->beside);
  for (uint32_t r = 0; r < machine->rank_count && !machine->arena.failed; r++)
    first[r] = TT_NONE;
  for (uint32_t n = 0; n < machine->stream_count && !machine->arena.failed; n++) {
    uint32_t *at = &first[machine->stream[n].source];
    while (*at != TT_NONE && machine->stream[*at].reader != machine->stream[n].reader)
      at = &next[*at];
    of->beside[n] = *at == TT_NONE ? n : of->beside[*at];
    if (*at != TT_NONE) {
      of->beside[*at] = n;
      continue;
    }
    *at = n;
    next[n] = TT_NONE;
  }
}

tutti_status tt_sim_ends_make(tt_sim_machine *machine, const tt_sim_bound *bound) {
  size_t ranks = machine->rank_count;
  tt_sim_ends *made = tt_arena_alloc(&machine->arena, 1, sizeof *made);
  if (made) {
    made->bound = bound;
    made->past = bound->past_bytes > 0 && all_bytes(machine) >= bound->past_bytes;
    made->own = tt_arena_alloc(&machine->arena, ranks, sizeof *made->own);
    made->memory_ps = tt_arena_alloc(&machine->arena, ranks, sizeof *made->memory_ps);
  }
  if (made)
    find_beside(machine, made);
  for (size_t r = 0; r < ranks && !machine->arena.failed; r++) {
    add_own(machine, machine->call->of->plan[r], &made->own[r]);
    machine->work.done_ps[r] = bound->start_ps ? bound->start_ps[r] : 0;
  }
  machine->work.ends = made;
  if (!machine->arena.failed)
    tt_sim_cores_make(machine, bound);
  return machine->arena.failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory to simulate %u ranks", machine->rank_count)
                               : TUTTI_OK;
}
