/* sim/run.c - lanes go on as far as they can; then time goes on.
 *
 * At one time everything that can happen does: lanes put pieces of blocks into packets, take pieces from packets that
 * have come, and wake the lanes that wait for them. When nothing goes on any more, ports take what is ready, and the
 * clock moves to the next event. A packet leaves when its message ends or when it is full. Where nothing at all of a
 * call goes on any more, its packets that wait for the rest of their message leave as they are, as those of the engine
 * would. */
#include "sim/machine.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static const tt_step *current(const tt_sim_lane *lane) { return &lane->plan->step[lane->of->first_step + lane->step]; }

static bool sends(const tt_sim_lane *lane) { return current(lane)->kind == TT_STEP_SEND; }

/* Also where it combines. A receiving lane has copies, too. */
static bool receives(const tt_sim_lane *lane) {
  return current(lane)->kind == TT_STEP_RECV || current(lane)->kind == TT_STEP_RECV_REDUCE;
}

static int64_t piece_bytes(const tt_sim_lane *lane) {
  int64_t bytes = tt_sim_block_bytes(lane->call->of, current(lane)->block);
  bool last = lane->slice + 1 == lane->slices;
  return last ? bytes - lane->slice * lane->call->slice_bytes : lane->call->slice_bytes;
}

/* ---- waits ---- */

static bool is_past(const tt_sim_lane *lane, uint32_t step, int64_t slice) {
  return lane->step > step || (lane->step == step && slice >= 0 && lane->entered && lane->slice > slice);
}

/* Whether the lane's waits allow its next slice; else it is in the list of one that does not. */
static bool may_go(tt_sim_machine *machine, uint32_t number) {
  tt_sim_lane *lane = &machine->lane[number];
  const tt_step *step = current(lane);
  for (uint32_t n = 0; n < step->wait_count; n++) {
    const tt_wait *wait = &lane->plan->wait[step->wait_first + n];
    tt_sim_lane *other = &machine->lane[lane->call->rank_lane[lane->rank] + wait->lane];
    int64_t slice = wait->whole || lane->slices == 0 ? -1 : lane->slice;
    if (is_past(other, wait->step, slice))
      continue;
    lane->waits = true;
    lane->waits_step = wait->step;
    lane->waits_slice = slice;
    lane->next_waiter = other->first_waiter;
    other->first_waiter = number;
    return false;
  }
  return true;
}

static void wake_waiters(tt_sim_machine *machine, tt_sim_lane *lane) {
  for (uint32_t *at = &lane->first_waiter; *at != TT_NONE;) {
    uint32_t number = *at;
    tt_sim_lane *waiter = &machine->lane[number];
    if (!is_past(lane, waiter->waits_step, waiter->waits_slice)) {
      at = &waiter->next_waiter;
      continue;
    }
    *at = waiter->next_waiter;
    waiter->waits = false;
    tt_sim_wake(machine, number);
  }
}

/* ---- packets ---- */

static tt_sim_packet *new_packet(tt_sim_machine *machine) {
  tt_sim_packet *packet = machine->unused.packet;
  if (packet)
    machine->unused.packet = packet->next;
  else
    packet = tt_arena_alloc(&machine->arena, 1, sizeof *packet);
  machine->failed |= !packet;
  return packet;
}

/* The outermost level that the packet crosses. */
static uint32_t level_of(const tt_sim_machine *machine, const tt_sim_lane *lane, uint32_t first, uint32_t count) {
  int outermost = (int)machine->level_count - 1;
  for (uint32_t n = first; n < first + count; n++) {
    int level =
        tt_sim_model_level(machine->model, tt_sim_rank_of(machine, lane->rank), machine->stream[lane->stream[n]].to);
    outermost = level < outermost ? level : outermost;
  }
  return (uint32_t)outermost;
}

/* Begins a packet; NULL where a stream has no slot for it. */
static tt_sim_packet *begin_packet(tt_sim_machine *machine, tt_sim_lane *lane) {
  uint32_t first = lane->of->published ? 0 : lane->step, count = lane->of->published ? lane->of->reader_count : 1;
  tt_medium medium = machine->work.ends ? tt_sim_ends_medium(machine, lane) : TT_MEDIUM_SLOT;
  bool rings = medium == TT_MEDIUM_SLOT || medium == TT_MEDIUM_PUBLISHED;
  int64_t slots = rings ? machine->model->slot_count : 0;
  for (uint32_t n = first; n < first + count && slots > 0; n++)
    if (machine->stream[lane->stream[n]].held >= slots)
      return NULL;
  tt_sim_packet *packet = new_packet(machine);
  if (!packet)
    return NULL;
  for (uint32_t n = first; n < first + count; n++)
    machine->stream[lane->stream[n]].held++;
  *packet = (tt_sim_packet){.lane = (uint32_t)(lane - machine->lane),
                            .step = lane->step,
                            .slice = (uint32_t)lane->slice,
                            .readers = count,
                            .level = level_of(machine, lane, first, count),
                            .medium = medium,
                            .is_new = machine->work.ends && tt_sim_ends_new(machine, lane)};
  return packet;
}

static void close_packet(tt_sim_machine *machine, tt_sim_lane *lane) {
  tt_sim_packet *packet = lane->open;
  if (!packet)
    return;
  tt_sim_counts *counts = &machine->result->level[packet->level];
  counts->messages += !lane->in_message;
  lane->in_message = true;
  counts->packets++;
  counts->bytes += packet->bytes;
  lane->open = NULL;
  tt_sim_depart(machine, packet);
}

/* Puts the current piece into a packet; false where there is no room for now. */
static bool put(tt_sim_machine *machine, tt_sim_lane *lane) {
  int64_t bytes = piece_bytes(lane);
  assert(bytes > 0 && bytes <= lane->call->slice_bytes);
  if (lane->open && bytes > lane->call->slice_bytes - lane->open->bytes)
    close_packet(machine, lane);
  if (!lane->open)
    lane->open = begin_packet(machine, lane);
  if (!lane->open)
    return false;
  lane->open->bytes += bytes;
  lane->open->pieces++;
  return true;
}

static bool has_come(const tt_sim_machine *machine, const tt_sim_lane *lane) {
  const tt_sim_delivery *delivery = machine->stream[lane->stream[lane->step]].first;
  return delivery && delivery->arrived;
}

/* ---- one lane ---- */

/* Of a byte, where only combining and copying take a rank's time. */
static double work_ns(const tt_sim_model *model, const tt_step *step) {
  if (step->kind == TT_STEP_RECV_REDUCE || step->flags & TT_STEP_ONTO)
    return model->gamma_ns;
  return step->kind == TT_STEP_COPY ? model->copy_ns : 0;
}

double tt_sim_begin_work(tt_sim_machine *machine, uint32_t number, double begin_ps) {
  tt_sim_lane *lane = &machine->lane[number];
  const tt_step *step = current(lane);
  int64_t bytes = piece_bytes(lane);
  double end_ps = machine->work.ends ? tt_sim_ends_work(machine, lane, bytes, begin_ps)
                                     : begin_ps + rint(1000 * work_ns(machine->model, step) * (double)bytes);
  end_ps =
      begin_ps + rint((end_ps - begin_ps) * tt_sim_work_factor(machine->model, tt_sim_rank_of(machine, lane->rank)));
  machine->work.done_ps[lane->rank] = end_ps;
  tt_sim_works(lane);
  tt_sim_later(machine, (tt_sim_event){.time_ps = end_ps, .port = TT_NONE, .lane = number});
  tt_sim_add_span(machine, &(tt_sim_span){.rank = (int32_t)lane->rank,
                                          .peer = -1,
                                          .level = (uint16_t)(machine->level_count - 1),
                                          .round = step->time,
                                          .block = step->block,
                                          .bytes = bytes,
                                          .begin_ps = begin_ps,
                                          .end_ps = end_ps});
  return end_ps;
}

/* The rank's own work on the current piece, if it takes time. */
static void work(tt_sim_machine *machine, uint32_t number) {
  const tt_sim_lane *lane = &machine->lane[number];
  if (machine->work.cores)
    tt_sim_cores_queue(machine, number);
  else if (machine->work.ends || work_ns(machine->model, current(lane)) * (double)piece_bytes(lane) > 0)
    tt_sim_begin_work(machine, number, fmax(machine->clock.now_ps, machine->work.done_ps[lane->rank]));
}

static void enter(tt_sim_machine *machine, tt_sim_lane *lane) {
  assert(!lane->entered);
  int64_t bytes = tt_sim_block_bytes(lane->call->of, current(lane)->block), slice = lane->call->slice_bytes;
  lane->slices = bytes / slice + (bytes % slice > 0);
  lane->slice = 0;
  lane->entered = true;
  if (machine->work.ends)
    tt_sim_ends_enter(machine, lane);
}

static bool ends_message(const tt_sim_lane *lane) {
  const tt_step *step = current(lane);
  return step->flags & TT_STEP_LAST || lane->step + 1 == lane->of->step_count || step[1].peer != step->peer;
}

static void leave(tt_sim_machine *machine, tt_sim_lane *lane) {
  if (sends(lane) && ends_message(lane)) {
    close_packet(machine, lane);
    lane->in_message = false;
  }
  lane->step++;
  lane->entered = false;
  if (!tt_sim_is_through(lane))
    return;
  assert(machine->lanes_left > 0);
  machine->lanes_left--;
  tt_sim_through_at(lane, machine->clock.now_ps);
}

/* Who has lent something is not through before it is used. */
static void use_up(tt_sim_machine *machine, tt_sim_stream *stream) {
  if (TT_MEDIA(stream->first->packet->medium) & TT_MEDIA_LENT)
    tt_sim_through_at(&machine->lane[stream->send_lane], machine->clock.now_ps);
  tt_sim_used_up(machine, stream);
}

/* The current piece is done; or the step, where its block has no bytes. */
static void complete(tt_sim_machine *machine, tt_sim_lane *lane) {
  if (receives(lane) && lane->slices > 0) {
    tt_sim_stream *stream = &machine->stream[lane->stream[lane->step]];
    assert(stream->first->arrived && stream->first->left > 0);
    if (--stream->first->left == 0)
      use_up(machine, stream);
  }
  if (++lane->slice >= lane->slices)
    leave(machine, lane);
  if (lane->open && lane->open->bytes == lane->call->slice_bytes)
    close_packet(machine, lane);
  wake_waiters(machine, lane);
}

/* Whether the current piece is done at once. */
static bool move(tt_sim_machine *machine, uint32_t number) {
  tt_sim_lane *lane = &machine->lane[number];
  if (sends(lane) ? !put(machine, lane) : receives(lane) && !has_come(machine, lane))
    return false;
  if (!sends(lane) || machine->work.ends)
    work(machine, number);
  return !lane->works;
}

/* Within a machine, what was put into a slot goes out while the lane has to wait. */
static void hold(tt_sim_machine *machine, tt_sim_lane *lane) {
  if (machine->work.ends && lane->open && lane->open->medium != TT_MEDIUM_MESSAGE)
    close_packet(machine, lane);
}

static void visit(tt_sim_machine *machine, uint32_t number) {
  tt_sim_lane *lane = &machine->lane[number];
  while (!tt_sim_is_through(lane) && !machine->failed) {
    if (!lane->entered)
      enter(machine, lane);
    if (!may_go(machine, number)) {
      hold(machine, lane);
      return;
    }
    if (lane->slices > 0 && !move(machine, number))
      return;
    complete(machine, lane);
  }
}

/* ---- all ---- */

static void visit_awake(tt_sim_machine *machine) {
  while (machine->awake.first != TT_NONE) {
    uint32_t number = machine->awake.first;
    machine->awake.first = machine->lane[number].next_awake;
    machine->lane[number].awake = false;
    visit(machine, number);
  }
}

static void happen(tt_sim_machine *machine, const tt_sim_event *event) {
  assert(event->time_ps >= machine->clock.now_ps);
  machine->clock.now_ps = event->time_ps;
  if (event->delivery)
    tt_sim_arrived(machine, event->delivery);
  if (event->port != TT_NONE)
    tt_sim_left(machine, event->port);
  if (event->lane != TT_NONE) {
    tt_sim_lane *lane = &machine->lane[event->lane];
    lane->works = false;
    if (!event->starts) {
      lane->call->busy--;
      complete(machine, lane);
    }
    tt_sim_wake(machine, event->lane);
  }
}

/* All that happens next at one time; false where nothing does. */
static bool go_on(tt_sim_machine *machine) {
  tt_sim_event event;
  if (!tt_sim_next(&machine->clock, &event))
    return false;
  happen(machine, &event);
  while (machine->clock.count > 0 && machine->clock.event[0].time_ps == machine->clock.now_ps) {
    tt_sim_next(&machine->clock, &event);
    happen(machine, &event);
  }
  return true;
}

static bool flush_call(tt_sim_machine *machine, uint32_t call) {
  bool found = false;
  for (uint32_t n = 0; n < machine->lane_count; n++) {
    tt_sim_lane *lane = &machine->lane[n];
    if (lane->call != &machine->call[call] || !lane->open)
      continue;
    found = true;
    close_packet(machine, lane);
  }
  return found;
}

/* Sends what waits for the rest of its message, in calls of which nothing else goes on; false where there is none. */
static bool flush(tt_sim_machine *machine) {
  bool found = false;
  for (uint32_t c = 0; c < machine->call_count && machine->lanes_left > 0; c++)
    found |= machine->call[c].busy == 0 && flush_call(machine, c);
  return found;
}

static tutti_status stopped(const tt_sim_machine *machine) {
  for (uint32_t n = 0; n < machine->lane_count; n++) {
    const tt_sim_lane *lane = &machine->lane[n];
    if (!tt_sim_is_through(lane))
      return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " lane %u step %u never proceeds",
                     tt_sim_rank_of(machine, lane->rank), (unsigned)(lane->of - lane->plan->lane), lane->step);
  }
  return TUTTI_OK;
}

static void go(tt_sim_machine *machine) {
  for (uint32_t c = 0; c < machine->call_count; c++)
    for (uint32_t r = 0; r < machine->rank_count; r++)
      machine->call[c].rank_ps[r] =
          rint(1000 * fmax(machine->call[c].of->start_ns, tt_sim_late_ns(machine->model, tt_sim_rank_of(machine, r))));
  for (uint32_t n = 0; n < machine->lane_count; n++)
    tt_sim_start(machine, n);
  do {
    visit_awake(machine);
    tt_sim_cores_serve(machine);
    tt_sim_serve(machine);
  } while (!machine->failed && (flush(machine) || go_on(machine)));
}

tutti_status tt_sim_go(tt_sim_machine *machine) {
  go(machine);
  return machine->failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory to simulate %u ranks", machine->rank_count)
                         : stopped(machine);
}
