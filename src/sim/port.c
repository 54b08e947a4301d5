/* sim/port.c - packets wait for their rank's way out, then for the receiver's way in and for links, and are on the way.
 *
 * A lane's packets leave in its order. Of several lanes' first packets, a port takes the one that was ready first; of
 * those the one with the lower slice (lanes of a tree's children take turns), then the lower round. It then waits for
 * the receiver, whose ports serve in the order of asking; takes links, each from when it is free; and holds both ports
 * until all of it has come. Links are taken last, so that none is idle for a packet whose receiver is busy. */
#include "sim/machine.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* ---- memory ---- */

static tt_sim_delivery *new_delivery(tt_sim_machine *machine) {
  tt_sim_delivery *delivery = machine->unused.delivery;
  if (delivery)
    machine->unused.delivery = delivery->next;
  else
    delivery = tt_arena_alloc(&machine->arena, 1, sizeof *delivery);
  machine->failed |= !delivery;
  return delivery;
}

static void release(tt_sim_machine *machine, tt_sim_packet *packet) {
  packet->next = machine->unused.packet;
  machine->unused.packet = packet;
}

void tt_sim_used_up(tt_sim_machine *machine, tt_sim_stream *stream) {
  tt_sim_delivery *delivery = stream->first;
  assert(delivery->arrived && delivery->left == 0 && delivery->packet->readers > 0 && stream->held > 0);
  stream->first = delivery->next;
  stream->held--;
  if (--delivery->packet->readers == 0)
    release(machine, delivery->packet);
  delivery->next = machine->unused.delivery;
  machine->unused.delivery = delivery;
  if (machine->model->slot_count > 0)
    tt_sim_wake(machine, stream->send_lane);
}

void tt_sim_add_span(tt_sim_machine *machine, const tt_sim_span *span) {
  tt_sim_result *result = machine->result;
  if (!machine->spans.wanted)
    return;
  if (result->span_count == machine->spans.room) {
    int64_t room = machine->spans.room ? 2 * machine->spans.room : 1024;
    tt_sim_span *grown = realloc(result->span, (size_t)room * sizeof *grown);
    machine->failed |= !grown;
    if (!grown)
      return;
    result->span = grown;
    machine->spans.room = room;
  }
  result->span[result->span_count++] = *span;
}

/* ---- on the way ---- */

static const tt_step *first_step(const tt_sim_machine *machine, const tt_sim_packet *packet) {
  const tt_sim_lane *lane = &machine->lane[packet->lane];
  return &lane->plan->step[lane->of->first_step + packet->step];
}

static double duration_ps(const tt_sim_machine *machine, const tt_sim_packet *packet, double byte_ns) {
  return rint(1000 * (machine->model->level[packet->level].alpha_ns + (double)packet->bytes * byte_ns));
}

static double on_link_ps(double byte_ns, int64_t bytes) { return rint(1000 * (double)bytes * byte_ns); }

/* When a packet that is there at a time begins on the one of a group's links that is through with it first. */
static double begin_ps(const tt_sim_links *links, int64_t group, double from_ps, int64_t bytes) {
  const double *link = links->free_ps + group * links->count, *byte_ns = links->byte_ns + group * links->count;
  double begin = INFINITY, end = INFINITY;
  for (int64_t n = 0; n < links->count; n++) {
    double at = fmax(from_ps, link[n]), until = at + on_link_ps(byte_ns[n], bytes);
    begin = until < end ? at : begin;
    end = fmin(end, until);
  }
  return begin;
}

/* Of a group's links that are free at a time, takes the fastest; of equal ones that which has been free for the
 * shortest: the others can serve packets that begin before this one. Returns its time of a byte. */
static double take(const tt_sim_links *links, int64_t group, double from_ps, int64_t bytes) {
  double *link = links->free_ps + group * links->count;
  const double *byte_ns = links->byte_ns + group * links->count;
  int64_t best = -1;
  for (int64_t n = 0; n < links->count; n++)
    if (link[n] <= from_ps &&
        (best < 0 || byte_ns[n] < byte_ns[best] || (byte_ns[n] <= byte_ns[best] && link[n] > link[best])))
      best = n;
  assert(best >= 0);
  link[best] = from_ps + on_link_ps(byte_ns[best], bytes);
  return byte_ns[best];
}

static int64_t group_of(const tt_sim_machine *machine, uint32_t level, uint32_t rank) {
  const int32_t *group = machine->model->topo->level[level].group_of;
  int64_t number = tt_sim_rank_of(machine, rank);
  return group ? (int64_t)group[number] : number;
}

/* When the packet's way begins, and its time of a byte: a link is free then of each level from the outermost one
 * inwards, at both ends: ranks that differ at a level differ at all within it. A link is busy for the bytes at its own
 * rate: one that is faster than the slowest on the way has room for other packets beside this one. The bytes come after
 * alpha: packets whose way is longer come later to a link that they share. */
static double take_links(tt_sim_machine *machine, const tt_sim_packet *packet, const tt_sim_stream *stream,
                         double *byte_ns) {
  const tt_sim_level *outermost = &machine->model->level[packet->level];
  double alpha_ps = rint(1000 * outermost->alpha_ns);
  double now_ps = machine->clock.now_ps, from_ps = now_ps + alpha_ps;
  for (uint32_t n = packet->level; n < machine->level_count; n++)
    if (machine->link.out[n].count > 0) {
      double there_ps = now_ps + alpha_ps;
      from_ps =
          fmax(from_ps, begin_ps(&machine->link.out[n], group_of(machine, n, stream->source), there_ps, packet->bytes));
      from_ps =
          fmax(from_ps, begin_ps(&machine->link.in[n], group_of(machine, n, stream->reader), there_ps, packet->bytes));
    }
  bool alike = machine->ranks.symmetry; /* all links of a level are, and those that nobody waits for are left out */
  *byte_ns = alike ? machine->slowest_ns[packet->level] : outermost->links > 0 ? 0 : outermost->beta_ns;
  for (uint32_t n = packet->level; n < machine->level_count; n++)
    if (machine->link.out[n].count > 0) {
      *byte_ns =
          fmax(*byte_ns, take(&machine->link.out[n], group_of(machine, n, stream->source), from_ps, packet->bytes));
      *byte_ns =
          fmax(*byte_ns, take(&machine->link.in[n], group_of(machine, n, stream->reader), from_ps, packet->bytes));
    }
  machine->result->link_waits += from_ps > now_ps + alpha_ps;
  return from_ps - alpha_ps;
}

static void append(tt_sim_stream *stream, tt_sim_delivery *delivery) {
  if (stream->first)
    stream->last->next = delivery;
  else
    stream->first = delivery;
  stream->last = delivery;
}

static tt_sim_way_in *way_in(const tt_sim_machine *machine, const tt_sim_delivery *delivery) {
  return &machine->in[machine->stream[delivery->stream].reader * machine->level_count + delivery->packet->level];
}

/* It has a way out and a way in, and needs but links. Its sender is not through before it has come. */
static void begin_way(tt_sim_machine *machine, tt_sim_delivery *delivery) {
  const tt_sim_packet *packet = delivery->packet;
  const tt_sim_stream *stream = &machine->stream[delivery->stream];
  const tt_step *step = first_step(machine, packet);
  double byte_ns, begin = take_links(machine, packet, stream, &byte_ns);
  double end = begin + duration_ps(machine, packet, byte_ns);
  way_in(machine, delivery)->busy++;
  if (delivery->port != TT_NONE)
    tt_sim_through_at(&machine->lane[packet->lane], end);
  tt_sim_later(machine, (tt_sim_event){.time_ps = end, .delivery = delivery, .port = delivery->port, .lane = TT_NONE});
  tt_sim_add_span(machine, &(tt_sim_span){.rank = (int32_t)stream->source,
                                          .peer = (int32_t)stream->reader,
                                          .level = (uint16_t)packet->level,
                                          .round = step->time,
                                          .block = step->block,
                                          .bytes = packet->bytes,
                                          .begin_ps = begin,
                                          .end_ps = end});
}

/* Begins as many as the way in has room for. */
static void let_in(tt_sim_machine *machine, tt_sim_way_in *in, uint32_t level) {
  while (in->first && in->busy < machine->model->level[level].ports) {
    tt_sim_delivery *delivery = in->first;
    in->first = delivery->next_at_in;
    begin_way(machine, delivery);
  }
}

void tt_sim_arrived(tt_sim_machine *machine, tt_sim_delivery *delivery) {
  tt_sim_way_in *in = way_in(machine, delivery);
  assert(in->busy > 0 && !delivery->arrived);
  in->busy--;
  machine->lane[delivery->packet->lane].call->busy--;
  delivery->arrived = true;
  let_in(machine, in, delivery->packet->level);
  tt_sim_wake(machine, machine->stream[delivery->stream].recv_lane);
}

/* Sends the packet to the reader of a stream; `port` is free when it has come. */
static void deliver(tt_sim_machine *machine, tt_sim_packet *packet, uint32_t number, uint32_t port) {
  tt_sim_delivery *delivery = new_delivery(machine);
  if (!delivery)
    return;
  *delivery = (tt_sim_delivery){.packet = packet, .stream = number, .left = packet->pieces, .port = port};
  append(&machine->stream[number], delivery);
  tt_sim_way_in *in = way_in(machine, delivery);
  if (in->first)
    in->last->next_at_in = delivery;
  else
    in->first = delivery;
  in->last = delivery;
  let_in(machine, in, packet->level);
}

/* What is published is written once, at once; each reader reads it when it can. */
static void leave(tt_sim_machine *machine, tt_sim_packet *packet, uint32_t port) {
  const tt_sim_lane *lane = &machine->lane[packet->lane];
  if (!lane->of->published) {
    deliver(machine, packet, lane->stream[packet->step], port);
    return;
  }
  for (uint32_t n = 0; n < lane->of->reader_count; n++)
    deliver(machine, packet, lane->stream[n], TT_NONE);
  double end = machine->clock.now_ps + duration_ps(machine, packet, machine->slowest_ns[packet->level]);
  tt_sim_through_at(lane, end);
  tt_sim_later(machine, (tt_sim_event){.time_ps = end, .port = port, .lane = TT_NONE});
}

/* ---- ports ---- */

static uint32_t port_of(const tt_sim_machine *machine, const tt_sim_packet *packet) {
  return machine->lane[packet->lane].rank * machine->level_count + packet->level;
}

static void make_ready(tt_sim_machine *machine, uint32_t number) {
  if (machine->port[number].ready)
    return;
  machine->port[number].ready = true;
  machine->port[number].next_ready = TT_NONE;
  if (machine->ready.first == TT_NONE)
    machine->ready.first = number;
  else
    machine->port[machine->ready.last].next_ready = number;
  machine->ready.last = number;
}

/* The lane's first packet comes to its port. */
static void queue(tt_sim_machine *machine, uint32_t lane) {
  uint32_t number = port_of(machine, machine->lane[lane].first);
  machine->lane[lane].next_at_port = machine->port[number].first_lane;
  machine->port[number].first_lane = lane;
  make_ready(machine, number);
}

void tt_sim_depart(tt_sim_machine *machine, tt_sim_packet *packet) {
  tt_sim_lane *lane = &machine->lane[packet->lane];
  packet->ready_ps = machine->clock.now_ps;
  lane->call->busy += packet->readers;
  packet->next = NULL;
  if (lane->first)
    lane->last->next = packet;
  lane->last = packet;
  if (lane->first)
    return;
  lane->first = packet;
  queue(machine, packet->lane);
}

static bool goes_before(const tt_sim_machine *machine, const tt_sim_packet *a, const tt_sim_packet *b) {
  if (a->ready_ps != b->ready_ps)
    return a->ready_ps < b->ready_ps;
  if (a->slice != b->slice)
    return a->slice < b->slice;
  uint32_t x = first_step(machine, a)->time, y = first_step(machine, b)->time;
  return x != y ? x < y : a->lane < b->lane;
}

/* Takes the lane whose first packet goes next out of the port's list. */
static uint32_t choose(tt_sim_machine *machine, tt_sim_port *port) {
  uint32_t *best = &port->first_lane;
  for (uint32_t *at = best; *at != TT_NONE; at = &machine->lane[*at].next_at_port)
    if (goes_before(machine, machine->lane[*at].first, machine->lane[*best].first))
      best = at;
  uint32_t lane = *best;
  *best = machine->lane[lane].next_at_port;
  return lane;
}

static void serve(tt_sim_machine *machine, uint32_t number) {
  tt_sim_port *port = &machine->port[number];
  int64_t ports = machine->model->level[number % machine->level_count].ports;
  assert(port->busy >= 0 && port->busy <= ports);
  while (port->busy < ports && port->first_lane != TT_NONE) {
    uint32_t lane = choose(machine, port);
    tt_sim_packet *packet = machine->lane[lane].first;
    leave(machine, packet, number);
    port->busy++;
    machine->lane[lane].first = packet->next;
    if (packet->next)
      queue(machine, lane);
  }
}

void tt_sim_left(tt_sim_machine *machine, uint32_t port) {
  assert(machine->port[port].busy > 0);
  machine->port[port].busy--;
  make_ready(machine, port);
}

void tt_sim_serve(tt_sim_machine *machine) {
  while (machine->ready.first != TT_NONE) {
    uint32_t number = machine->ready.first;
    machine->ready.first = machine->port[number].next_ready;
    machine->port[number].ready = false;
    serve(machine, number);
  }
}
