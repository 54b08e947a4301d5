/* tools/tune/probe.c - see probe.h.
 *
 *     memory   | sent | own | result | sent | own | result | ...       a part for each turn: what is used again only
 *                                                                      when all other parts have been
 *
 * A second stage moves nothing, but keeps the plan from running in cells, unless that is wanted. */
#include "probe.h"

#include "call/call.h"

#include <stdio.h>
#include <string.h>

#define ELEMENT ((int64_t)sizeof(float))

/* ---- a message ---- */

static tutti_status add_way(tutti_composition *made, const tt_probe *probe, int64_t from, int64_t to) {
  int64_t both[2] = {from < to ? from : to, from < to ? to : from};
  return probe->combines ? tutti_composition_reduce(made, both, 2, to, 0, TUTTI_IN, TUTTI_OUT)
                         : tutti_composition_multicast(made, from, &to, 1, 0, TUTTI_IN, TUTTI_OUT);
}

static tutti_status compose(tutti_composition *made, const tt_probe *probe, int64_t from, int64_t to) {
  tutti_status status = tutti_composition_stage(made, "move");
  if (status == TUTTI_OK)
    status = add_way(made, probe, from, to);
  if (status != TUTTI_OK || probe->medium == TT_MEDIUM_CELL)
    return status;
  status = tutti_composition_stage(made, "rest");
  return status == TUTTI_OK ? tutti_composition_multicast(made, to, &from, 1, 1, TUTTI_IN, TUTTI_OUT) : status;
}

static tutti_status set_params(tutti_composition *composition, const tt_probe *probe) {
  char text[64], slice[16];
  tt_format_bytes(probe->piece_bytes, slice);
  if (probe->pieces > 1)
    snprintf(text, sizeof text, "linear slice=%s", slice);
  else
    snprintf(text, sizeof text, "linear%s", probe->medium == TT_MEDIUM_READ ? " single-copy" : "");
  return tutti_composition_set_params(composition, text);
}

tutti_status tune_message_open(tutti_comm *comm, const tt_probe *probe, int64_t from, int64_t to, void *memory,
                               tune_message *message) {
  int64_t count = probe->piece_bytes * probe->pieces / ELEMENT, zero[2] = {0, 0};
  int64_t counts[2] = {count, 0};
  tutti_block_table blocks = {.counts = counts, .in_offsets = zero, .out_offsets = zero};
  unsigned char *out = (unsigned char *)memory + tt_probe_trip(probe) - probe->piece_bytes * probe->pieces;
  *message = (tune_message){.sends = tutti_comm_rank(comm) == from};
  tutti_status status = tutti_composition_create(comm, 2, &message->composition);
  if (status == TUTTI_OK)
    status = compose(message->composition, probe, from, to);
  if (status == TUTTI_OK)
    status = set_params(message->composition, probe);
  return status == TUTTI_OK ? tutti_composition_init(message->composition, memory, out, &blocks, TUTTI_FLOAT32,
                                                     TUTTI_SUM, &message->request)
                            : status;
}

void tune_message_close(tune_message *message) {
  tutti_request_destroy(message->request);
  tutti_composition_destroy(message->composition);
  *message = (tune_message){.request = NULL};
}

void tune_message_watch(tune_message *message) {
  message->spent = (tt_spent){.level_count = 0};
  tt_stream_table_watch(message->request->side->streams, &message->spent);
}

int64_t tune_message_moved(const tune_message *message) {
  int64_t sum_ns = 0;
  for (uint32_t n = 0; n < message->spent.level_count; n++)
    sum_ns += message->spent.level[n].move_ns;
  return sum_ns;
}

/* Each start finds its buffers in the request. */
tutti_status tune_message_run(tune_message *message, const void *in, void *out) {
  message->request->call.in = in;
  message->request->call.out = out;
  tutti_status status = tutti_request_start(message->request);
  return status == TUTTI_OK ? tutti_wait(&message->request) : status;
}

/* ---- there and back ---- */

static int64_t bytes_of(const tt_probe *probe) { return probe->piece_bytes * probe->pieces; }

tutti_status tune_trip_open(tutti_comm *comm, const tt_probe *probe, int64_t from, int64_t to, void *memory,
                            tune_trip *trip) {
  *trip = (tune_trip){.probe = *probe, .memory = memory, .turns = 1};
  if (tt_probe_trip(probe) > 0)
    trip->turns = probe->reuse_bytes / tt_probe_trip(probe);
  tutti_status status = tune_message_open(comm, probe, from, to, memory, &trip->message[0]);
  return status == TUTTI_OK ? tune_message_open(comm, probe, to, from, memory, &trip->message[1]) : status;
}

void tune_trip_close(tune_trip *trip) {
  tune_message_close(&trip->message[0]);
  tune_message_close(&trip->message[1]);
}

/* There or back: this rank sends or takes. */
static tutti_status run_way(tune_trip *trip, int way, unsigned char *part) {
  tune_message *message = &trip->message[way];
  int64_t bytes = bytes_of(&trip->probe);
  bool sends = message->sends;
  if (trip->probe.is_new && sends)
    memset(part, 0, (size_t)bytes);
  unsigned char *own = part + (trip->probe.combines ? bytes : 0);
  return tune_message_run(message, sends ? part : own, own + bytes);
}

static tutti_status run_times(tune_trip *trip, int64_t count) {
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    unsigned char *part = trip->memory + trip->turn * tt_probe_trip(&trip->probe);
    trip->turn = trip->turn + 1 < trip->turns ? trip->turn + 1 : 0;
    status = run_way(trip, 0, part);
    if (status == TUTTI_OK)
      status = run_way(trip, 1, part);
  }
  return status;
}

/* The first turns are not timed: others have used the memory. */
tutti_status tune_trip_run(tune_trip *trip, int64_t count, tt_probe_time *sum) {
  int there = trip->message[0].sends ? 0 : 1;
  double per = 1 / (double)count;
  tutti_status status = run_times(trip, trip->turns);
  for (int way = 0; way < 2; way++)
    tune_message_watch(&trip->message[way]);
  int64_t begin_ns = tt_clock_ns();
  if (status == TUTTI_OK)
    status = run_times(trip, count);
  sum->way_ns = (double)(tt_clock_ns() - begin_ns) * per / 2;
  sum->send_ns = (double)tune_message_moved(&trip->message[there]) * per;
  sum->take_ns = (double)tune_message_moved(&trip->message[1 - there]) * per;
  return status;
}
