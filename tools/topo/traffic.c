/* tools/topo/traffic.c - who sends to whom, by all ranks' plans, and a placement that keeps it near.
 *
 * Slots are filled in their order: the next rank is the one with the most traffic to those that are placed, weighted by
 * how near they are. Then pairs of ranks change places as long as that brings traffic nearer. Cost: O(ranks^3). */
#include "traffic.h"

#include <inttypes.h>

#define ROUNDS_MOST 8

tutti_status topo_traffic_make(tt_arena *arena, int64_t rank_count, topo_traffic *traffic) {
  *traffic = (topo_traffic){.rank_count = rank_count,
                            .bytes = tt_arena_alloc(arena, (size_t)(rank_count * rank_count), sizeof(double))};
  return traffic->bytes ? TUTTI_OK
                        : tt_fail(TUTTI_ERR_MEMORY, "no memory for the traffic of %" PRId64 " ranks", rank_count);
}

static void add(topo_traffic *traffic, int64_t a, int64_t b, double bytes) {
  traffic->bytes[a * traffic->rank_count + b] += bytes;
  traffic->bytes[b * traffic->rank_count + a] += bytes;
}

static void add_lane(topo_traffic *traffic, const tt_plan *plan, const tt_lane *lane, double block_bytes) {
  for (uint32_t n = 0; n < lane->step_count; n++) {
    const tt_step *step = &plan->step[lane->first_step + n];
    if (step->kind != TT_STEP_SEND)
      continue;
    for (uint32_t k = 0; k < lane->reader_count && lane->published; k++)
      add(traffic, plan->rank, plan->reader[lane->first_reader + k], block_bytes);
    if (!lane->published)
      add(traffic, plan->rank, step->peer, block_bytes);
  }
}

void topo_traffic_add(topo_traffic *traffic, const plan_work *work, int64_t bytes, double count) {
  double block_bytes = count * (double)bytes / (double)plan_unit_blocks(work);
  for (int64_t r = 0; r < work->plan_count; r++)
    for (uint32_t n = 0; n < work->plan[r]->lane_count; n++)
      add_lane(traffic, work->plan[r], &work->plan[r]->lane[n], block_bytes);
}

/* ---- placing ---- */

typedef struct placing {
  const topo_traffic *traffic;
  const uint8_t *near;
  int64_t *slot_of;
  int64_t count;
} placing;

/* What the rank's traffic gains at a slot, with all that are placed but one. */
static double gain(const placing *in, int64_t rank, int64_t slot, int64_t but) {
  const double *bytes = &in->traffic->bytes[rank * in->count];
  const uint8_t *near = &in->near[slot * in->count];
  double sum = 0;
  for (int64_t r = 0; r < in->count; r++)
    if (r != rank && r != but && in->slot_of[r] >= 0)
      sum += bytes[r] * near[in->slot_of[r]];
  return sum;
}

/* Of those that are not placed, the one that gains most; of equal ones the first. */
static int64_t best_for(const placing *in, int64_t slot) {
  int64_t best = -1;
  double most = -1;
  for (int64_t r = 0; r < in->count; r++) {
    double gained = in->slot_of[r] < 0 ? gain(in, r, slot, -1) : -1;
    best = gained > most ? r : best;
    most = gained > most ? gained : most;
  }
  return best;
}

static bool exchange(placing *in, int64_t a, int64_t b) {
  int64_t x = in->slot_of[a], y = in->slot_of[b];
  if (in->near[x * in->count + y] == in->near[x * in->count + x]) /* one node */
    return false;
  double now = gain(in, a, x, b) + gain(in, b, y, a), then = gain(in, a, y, b) + gain(in, b, x, a);
  if (then <= now * (1 + 1e-9))
    return false;
  in->slot_of[a] = y;
  in->slot_of[b] = x;
  return true;
}

void topo_traffic_place(const topo_traffic *traffic, const uint8_t *near, int64_t *slot_of) {
  placing in = {.traffic = traffic, .near = near, .slot_of = slot_of, .count = traffic->rank_count};
  for (int64_t r = 0; r < in.count; r++)
    slot_of[r] = -1;
  for (int64_t slot = 0; slot < in.count; slot++)
    slot_of[best_for(&in, slot)] = slot;
  bool better = true;
  for (int round = 0; round < ROUNDS_MOST && better; round++) {
    better = false;
    for (int64_t a = 0; a < in.count; a++)
      for (int64_t b = a + 1; b < in.count; b++)
        better |= exchange(&in, a, b);
  }
}
