/* sim/network.c - lanes and streams of all ranks' plans, numbered through, and everything that they share.
 *
 * Of several calls, each has lanes and streams of its own; ports, links and ranks are there once. A stream is (lane id,
 * source, reader); each step of a lane that sends or receives knows its stream's number. Streams are found by the
 * receiving lanes' steps and looked up by the sending ones'. Cost: O(steps). */
#include "sim/machine.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct finder {
  tt_sim_machine *machine;
  uint32_t *number; /* hash table of streams, open addressing; 0: none, else stream + 1 */
  uint32_t mask;
} finder;

static bool is(const tt_sim_stream *stream, uint32_t id, uint32_t source, uint32_t to) {
  return stream->id == id && stream->source == source && stream->to == to;
}

/* Where the stream's number is or would be. */
static uint32_t *find(const finder *in, uint32_t id, uint32_t source, uint32_t to) {
  assert((in->mask & (in->mask + 1)) == 0 && in->machine->stream_count < in->mask);
  uint64_t hash = (((uint64_t)id << 32 | source) ^ (uint64_t)to * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
  uint32_t at = (uint32_t)(hash >> 32) & in->mask;
  while (in->number[at] != 0 && !is(&in->machine->stream[in->number[at] - 1], id, source, to))
    at = (at + 1) & in->mask;
  return &in->number[at];
}

/* ---- both ends ---- */

static tutti_status receive_from(const finder *in, uint32_t number, int64_t peer, uint32_t *stream) {
  tt_sim_machine *machine = in->machine;
  const tt_sim_lane *lane = &machine->lane[number];
  uint32_t source, to;
  tt_sim_stand_in(machine, tt_sim_peer(machine, lane->rank, peer), lane->rank, &source, &to);
  uint32_t *found = find(in, lane->of->id, source, to);
  if (*found == 0) {
    machine->stream[machine->stream_count] = (tt_sim_stream){.id = lane->of->id,
                                                             .source = source,
                                                             .reader = lane->rank,
                                                             .to = to,
                                                             .send_lane = TT_NONE,
                                                             .recv_lane = number};
    *found = ++machine->stream_count;
  }
  *stream = *found - 1;
  return machine->stream[*stream].recv_lane == number
             ? TUTTI_OK
             : tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " receives from rank %" PRId64 " in two lanes of id %u",
                       tt_sim_rank_of(machine, lane->rank), tt_sim_peer(machine, lane->rank, peer), lane->of->id);
}

static tutti_status send_to(const finder *in, uint32_t number, int64_t peer, uint32_t *stream) {
  const tt_sim_lane *lane = &in->machine->lane[number];
  int64_t source = tt_sim_rank_of(in->machine, lane->rank), reader = tt_sim_peer(in->machine, lane->rank, peer);
  uint32_t found = *find(in, lane->of->id, lane->rank, (uint32_t)reader);
  if (found == 0)
    return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " sends to rank %" PRId64 " in lane id %u, which never receives it",
                   source, reader, lane->of->id);
  uint32_t *sender = &in->machine->stream[ *stream = found - 1].send_lane;
  if (*sender != TT_NONE && *sender != number)
    return tt_fail(TUTTI_ERR_PLAN, "rank %" PRId64 " sends to rank %" PRId64 " in two lanes of id %u", source, reader,
                   lane->of->id);
  *sender = number;
  return TUTTI_OK;
}

static tutti_status join_steps(const finder *in, uint32_t number, bool sends) {
  const tt_sim_lane *lane = &in->machine->lane[number];
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < lane->of->step_count && status == TUTTI_OK; n++) {
    const tt_step *step = &lane->plan->step[lane->of->first_step + n];
    if (step->kind == TT_STEP_COPY)
      continue;
    if (n > 0 && step[-1].peer == step->peer)
      lane->stream[n] = lane->stream[n - 1];
    else if (sends)
      status = send_to(in, number, step->peer, &lane->stream[n]);
    else
      status = receive_from(in, number, step->peer, &lane->stream[n]);
  }
  return status;
}

static tutti_status join_readers(const finder *in, uint32_t number) {
  const tt_sim_lane *lane = &in->machine->lane[number];
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < lane->of->reader_count && status == TUTTI_OK; n++)
    status = send_to(in, number, lane->plan->reader[lane->of->first_reader + n], &lane->stream[n]);
  return status;
}

/* The lanes of one call. */
static tutti_status join(const finder *in, uint32_t first, uint32_t end) {
  const tt_sim_machine *machine = in->machine;
  tutti_status status = TUTTI_OK;
  for (uint32_t n = first; n < end && status == TUTTI_OK; n++)
    if (machine->lane[n].of->role == TT_ROLE_RECV)
      status = join_steps(in, n, false);
  for (uint32_t n = first; n < end && status == TUTTI_OK; n++)
    if (machine->lane[n].of->role == TT_ROLE_SEND)
      status = machine->lane[n].of->published ? join_readers(in, n) : join_steps(in, n, true);
  return status;
}

static tutti_status join_calls(finder *in) {
  const tt_sim_machine *machine = in->machine;
  tutti_status status = TUTTI_OK;
  for (uint32_t c = 0; c < machine->call_count && status == TUTTI_OK; c++) {
    bool last = c + 1 == machine->call_count;
    memset(in->number, 0, ((size_t)in->mask + 1) * sizeof *in->number);
    status = join(in, machine->call[c].rank_lane[0], last ? machine->lane_count : machine->call[c + 1].rank_lane[0]);
  }
  return status;
}

/* ---- tables ---- */

/* At most so many streams: a lane has a new one only where its peer changes. */
static uint32_t stream_limit(const tt_sim_machine *machine) {
  uint32_t limit = 0;
  for (uint32_t n = 0; n < machine->lane_count; n++) {
    const tt_lane *lane = machine->lane[n].of;
    const tt_step *step = machine->lane[n].plan->step + lane->first_step;
    for (uint32_t k = 0; k < lane->step_count && lane->role == TT_ROLE_RECV; k++)
      limit += k == 0 || step[k].peer != step[k - 1].peer;
  }
  return limit;
}

static tt_sim_links links(tt_sim_machine *machine, uint32_t level) {
  int64_t groups = machine->model->topo->level[level].group_count;
  int64_t count = machine->link.unused[level] ? 0 : machine->model->level[level].links;
  tt_sim_links made = {.free_ps = tt_arena_alloc(&machine->arena, (size_t)(groups * count), sizeof *made.free_ps),
                       .byte_ns = tt_arena_alloc(&machine->arena, (size_t)(groups * count), sizeof *made.byte_ns),
                       .count = count};
  for (int64_t n = 0; n < groups * count && made.byte_ns; n++)
    made.byte_ns[n] = tt_sim_link_ns(machine->model, (int)level, n / count, n % count);
  return made;
}

/* Where all links of a level are alike, a packet is as slow as the slowest on its way; a level without links slows only
 * what goes no further out. */
static void find_slowest(tt_sim_machine *machine) {
  double within_ns = 0;
  for (uint32_t n = machine->level_count; n-- > 0;) {
    const tt_sim_level *level = &machine->model->level[n];
    machine->slowest_ns[n] = fmax(level->beta_ns, within_ns);
    within_ns = level->links > 0 ? machine->slowest_ns[n] : within_ns;
  }
}

static void add_links(tt_sim_machine *machine) {
  for (uint32_t n = 0; n < machine->level_count; n++) {
    machine->link.out[n] = links(machine, n);
    machine->link.in[n] = links(machine, n);
  }
}

static void add_ports(tt_sim_machine *machine) {
  size_t count = (size_t)machine->rank_count * machine->level_count;
  machine->port = tt_arena_alloc(&machine->arena, count, sizeof *machine->port);
  machine->in = tt_arena_alloc(&machine->arena, count, sizeof *machine->in);
  machine->work.done_ps = tt_arena_alloc(&machine->arena, machine->rank_count, sizeof *machine->work.done_ps);
  for (size_t n = 0; n < count && machine->port; n++)
    machine->port[n] = (tt_sim_port){.first_lane = TT_NONE, .next_ready = TT_NONE};
}

static void add_lane(tt_sim_machine *machine, tt_sim_running *call, uint32_t rank, const tt_lane *of,
                     tt_sim_lane *lane) {
  bool publishes = of->published && of->role == TT_ROLE_SEND;
  *lane = (tt_sim_lane){.call = call,
                        .plan = tt_sim_plan_of(machine, call->of, rank),
                        .of = of,
                        .rank = rank,
                        .first_waiter = TT_NONE,
                        .next_waiter = TT_NONE,
                        .next_awake = TT_NONE,
                        .next_at_port = TT_NONE};
  if (of->role != TT_ROLE_LOCAL)
    lane->stream = tt_arena_alloc(&machine->arena, publishes ? of->reader_count : of->step_count, sizeof *lane->stream);
}

static void add_lanes(tt_sim_machine *machine) {
  for (uint32_t c = 0; c < machine->call_count; c++)
    for (uint32_t r = 0; r < machine->rank_count; r++)
      machine->lane_count += tt_sim_plan_of(machine, machine->call[c].of, r)->lane_count;
  machine->lane = tt_arena_alloc(&machine->arena, machine->lane_count, sizeof *machine->lane);
  uint32_t at = 0;
  for (uint32_t n = 0; n < machine->call_count * machine->rank_count && !machine->arena.failed; n++) {
    tt_sim_running *call = &machine->call[n / machine->rank_count];
    uint32_t rank = n % machine->rank_count;
    const tt_plan *plan = tt_sim_plan_of(machine, call->of, rank);
    call->rank_lane[rank] = at;
    for (uint32_t l = 0; l < plan->lane_count; l++)
      add_lane(machine, call, rank, &plan->lane[l], &machine->lane[at++]);
  }
}

static tutti_status check(const tt_sim_machine *machine, const tt_sim_call *call) {
  const tt_plan *first = call->plan[0];
  if (machine->model->topo->rank_count != first->rank_count)
    return tt_fail(TUTTI_ERR_PLAN, "there are plans of %" PRId64 " ranks, but the topology has %" PRId64,
                   first->rank_count, machine->model->topo->rank_count);
  for (uint32_t r = 0; r < machine->rank_count; r++) {
    const tt_plan *plan = tt_sim_plan_of(machine, call, r);
    if ((!machine->ranks.symmetry && plan->rank != r) || plan->rank_count != first->rank_count ||
        plan->block_count != first->block_count || plan->part_count != first->part_count ||
        plan->slice_bytes != first->slice_bytes)
      return tt_fail(TUTTI_ERR_PLAN, "the plan of rank %u is of another collective than that of rank 0", r);
  }
  return TUTTI_OK;
}

static tutti_status add_calls(tt_sim_machine *machine, const tt_sim_call *call) {
  machine->rank_count = (uint32_t)call->plan[0]->rank_count;
  machine->call = tt_arena_alloc(&machine->arena, machine->call_count, sizeof *machine->call);
  tutti_status status = machine->ranks.symmetry ? tt_sim_symmetry_make(machine, call) : TUTTI_OK;
  for (uint32_t c = 0; c < machine->call_count && machine->call && status == TUTTI_OK; c++) {
    int64_t slot = machine->model->slot_bytes, slice = call[c].plan[0]->slice_bytes;
    machine->call[c] =
        (tt_sim_running){.of = &call[c],
                         .slice_bytes = slot && (!slice || slot < slice) ? slot
                                        : slice                          ? slice
                                                                         : INT64_MAX,
                         .rank_lane = tt_arena_alloc(&machine->arena, machine->rank_count, sizeof(uint32_t)),
                         .rank_ps = machine->result->rank_ps + (size_t)c * machine->rank_count};
    status = check(machine, &call[c]);
  }
  return status;
}

tutti_status tt_sim_network(tt_sim_machine *machine, const tt_sim_call *call) {
  machine->level_count = (uint32_t)machine->model->topo->level_count;
  tutti_status status = add_calls(machine, call);
  if (status != TUTTI_OK)
    return status;
  if (!machine->arena.failed)
    add_lanes(machine);
  finder in = {.machine = machine};
  uint32_t limit = stream_limit(machine);
  for (in.mask = 3; in.mask / 2 < limit;)
    in.mask = 2 * in.mask + 1;
  in.number = tt_arena_alloc(&machine->arena, (size_t)in.mask + 1, sizeof *in.number);
  machine->stream = tt_arena_alloc(&machine->arena, limit, sizeof *machine->stream);
  add_ports(machine);
  add_links(machine);
  find_slowest(machine);
  if (machine->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to simulate %u ranks", machine->rank_count);
  return join_calls(&in);
}

/* ---- lengths ---- */

/* Part n of `count` nearly equal ones. */
static int64_t share(int64_t bytes, int64_t count, int64_t n) { return bytes / count + (n < bytes % count); }

int64_t tt_sim_block_bytes(const tt_sim_call *call, uint32_t block) {
  const tt_plan *plan = call->plan[0];
  const tt_sim_lengths *lengths = &call->lengths;
  uint32_t whole = block / plan->part_count, count = plan->block_count / plan->part_count;
  int64_t bytes = lengths->bytes ? lengths->bytes[whole] : share(lengths->total_bytes, count, whole);
  return plan->part_count == 1 ? bytes : share(bytes, plan->part_count, block % plan->part_count);
}
