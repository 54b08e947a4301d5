/* sim/port.c - packets wait for their rank's way out, then for the receiver's way in and for links, and are on the way.
 *
 * A lane's packets leave in its order. Of several lanes' first packets, a port takes the one that was ready first; of
 * those the one with the lower slice (lanes of a tree's children take turns), then the lower round. It then waits for
 * the receiver, whose ports serve in the order of asking, and holds the port until all of it has left. */
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

static double duration_ps(const tt_sim_machine *machine, const tt_sim_packet *packet) {
  double bytes_ns = (double)packet->bytes * machine->slowest_ns[packet->level];
  return rint(1000 * (machine->model->level[packet->level].alpha_ns + bytes_ns));
}

/* The first of an owner's servers that is free. */
static double *earliest(const tt_sim_servers *servers, int64_t owner) {
  double *server = servers->free_ps + owner * servers->count, *best = server;
  for (int64_t n = 1; n < servers->count; n++)
    best = server[n] < *best ? &server[n] : best;
  return best;
}

static int64_t group_of(const tt_sim_machine *machine, uint32_t level, uint32_t rank) {
  const int32_t *group = machine->model->topo->level[level].group_of;
  return group ? (int64_t)group[rank] : (int64_t)rank;
}

/* When the packet's way to one reader begins: a port of the reader's is free then, and a link of each level from the
 * outermost one inwards at both ends: ranks that differ at a level differ at all within it. A link is busy for the
 * bytes at its own rate: one that is faster than the slowest on the way has room for other packets beside this one. It
 * does not wait with the packet for what alpha stands for. */
static double reserve(tt_sim_machine *machine, const tt_sim_packet *packet, const tt_sim_stream *stream) {
  double *in = earliest(&machine->servers.in[packet->level], stream->reader), *link[2 * TT_TOPO_LEVELS];
  double begin = fmax(machine->clock.now_ps, *in), busy_ps[2 * TT_TOPO_LEVELS];
  int count = 0;
  for (uint32_t level = packet->level; level < machine->level_count; level++) {
    if (machine->servers.link_out[level].count == 0)
      continue;
    busy_ps[count] = busy_ps[count + 1] = rint(1000 * (double)packet->bytes * machine->model->level[level].beta_ns);
    link[count++] = earliest(&machine->servers.link_out[level], group_of(machine, level, stream->source));
    link[count++] = earliest(&machine->servers.link_in[level], group_of(machine, level, stream->reader));
  }
  for (int n = 0; n < count; n++)
    begin = fmax(begin, *link[n]);
  for (int n = 0; n < count; n++)
    *link[n] = begin + busy_ps[n];
  *in = begin + duration_ps(machine, packet);
  return begin;
}

static void append(tt_sim_stream *stream, tt_sim_delivery *delivery) {
  if (stream->first)
    stream->last->next = delivery;
  else
    stream->first = delivery;
  stream->last = delivery;
}

/* Sends the packet on its way to the reader of a stream; `port` is free when it has come. Returns when that is. */
static double deliver(tt_sim_machine *machine, tt_sim_packet *packet, uint32_t number, uint32_t port) {
  tt_sim_stream *stream = &machine->stream[number];
  tt_sim_delivery *delivery = new_delivery(machine);
  double begin = reserve(machine, packet, stream), end = begin + duration_ps(machine, packet);
  if (!delivery)
    return end;
  *delivery = (tt_sim_delivery){.packet = packet, .stream = number, .left = packet->pieces};
  append(stream, delivery);
  tt_sim_later(machine, (tt_sim_event){.time_ps = end, .delivery = delivery, .port = port, .lane = TT_NONE});
  const tt_step *step = first_step(machine, packet);
  tt_sim_add_span(machine, &(tt_sim_span){.rank = (int32_t)stream->source,
                                          .peer = (int32_t)stream->reader,
                                          .level = (uint16_t)packet->level,
                                          .round = step->time,
                                          .block = step->block,
                                          .bytes = packet->bytes,
                                          .begin_ps = begin,
                                          .end_ps = end});
  return end;
}

/* What is published is written once, at once; each reader reads it when it can. Returns when it has left. */
static double leave(tt_sim_machine *machine, tt_sim_packet *packet, uint32_t port) {
  const tt_sim_lane *lane = &machine->lane[packet->lane];
  if (!lane->of->published)
    return deliver(machine, packet, lane->stream[packet->step], port);
  for (uint32_t n = 0; n < lane->of->reader_count; n++)
    deliver(machine, packet, lane->stream[n], TT_NONE);
  double end = machine->clock.now_ps + duration_ps(machine, packet);
  tt_sim_later(machine, (tt_sim_event){.time_ps = end, .port = port, .lane = TT_NONE});
  return end;
}

/* ---- ports ---- */

static uint32_t port_of(const tt_sim_machine *machine, const tt_sim_packet *packet) {
  return (uint32_t)machine->lane[packet->lane].plan->rank * machine->level_count + packet->level;
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
    double *rank_ps = &machine->result->rank_ps[number / machine->level_count], end = leave(machine, packet, number);
    port->busy++;
    *rank_ps = fmax(*rank_ps, end);
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
