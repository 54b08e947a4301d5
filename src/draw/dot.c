/* draw/dot.c - the dependency graph of all ranks' plans: what may run when, for graph tools.
 *
 * A cluster for each rank; solid edges are lane order, dashed ones waits, bold ones streams: the n-th send of a stream
 * to its n-th receive. */
#include "draw/draw.h"

#include "plan/plan.h"

#include <assert.h>
#include <inttypes.h>

static void put_step(FILE *out, const tt_plan *plan, uint32_t lane, uint32_t n) {
  static const char *const kinds[TT_STEP_KIND_COUNT] = {"send", "recv", "reduce", "copy"};
  const tt_step *step = &plan->step[plan->lane[lane].first_step + n];
  assert(step->kind < TT_STEP_KIND_COUNT);
  fprintf(out, "    r%" PRId64 "l%us%u [label=\"%s b%u\\nround %u\"];\n", plan->rank, lane, n, kinds[step->kind],
          step->block, step->time + 1);
}

static void put_orders(FILE *out, const tt_plan *plan, uint32_t lane, uint32_t n) {
  const tt_step *step = &plan->step[plan->lane[lane].first_step + n];
  int64_t rank = plan->rank;
  if (n > 0)
    fprintf(out, "    r%" PRId64 "l%us%u -> r%" PRId64 "l%us%u;\n", rank, lane, n - 1, rank, lane, n);
  for (uint32_t w = 0; w < step->wait_count; w++) {
    const tt_wait *wait = &plan->wait[step->wait_first + w];
    fprintf(out, "    r%" PRId64 "l%us%u -> r%" PRId64 "l%us%u [style=dashed%s];\n", rank, wait->lane, wait->step, rank,
            lane, n, wait->whole ? ", label=\"whole\"" : "");
  }
}

static void put_rank(FILE *out, const tt_plan *plan) {
  fprintf(out, "  subgraph cluster%" PRId64 " {\n    label=\"rank %" PRId64 "\";\n", plan->rank, plan->rank);
  for (uint32_t lane = 0; lane < plan->lane_count; lane++)
    for (uint32_t n = 0; n < plan->lane[lane].step_count; n++) {
      put_step(out, plan, lane, n);
      put_orders(out, plan, lane, n);
    }
  fputs("  }\n", out);
}

/* The receiver's lane that streams of `lane` end in; lane_count where there is none. */
static uint32_t lane_of_receiver(const tt_plan *receiver, const tt_lane *lane) {
  uint32_t n = 0;
  while (n < receiver->lane_count && !(receiver->lane[n].role == TT_ROLE_RECV && receiver->lane[n].id == lane->id))
    n++;
  return n;
}

static uint32_t next_from(const tt_plan *plan, uint32_t lane, int32_t peer, uint32_t n) {
  while (n < plan->lane[lane].step_count && plan->step[plan->lane[lane].first_step + n].peer != peer)
    n++;
  return n;
}

static void put_stream(FILE *out, const tt_plan *sender, uint32_t lane, const tt_plan *receiver) {
  const tt_lane *from = &sender->lane[lane];
  uint32_t other = lane_of_receiver(receiver, from), at = 0;
  for (uint32_t n = 0; n < from->step_count && other < receiver->lane_count; n++) {
    const tt_step *step = &sender->step[from->first_step + n];
    if (step->peer >= 0 && step->peer != receiver->rank)
      continue;
    at = next_from(receiver, other, (int32_t)sender->rank, at);
    assert(at < receiver->lane[other].step_count); /* as many receives as sends */
    fprintf(out, "  r%" PRId64 "l%us%u -> r%" PRId64 "l%us%u [style=bold, color=\"#2f7ed8\"];\n", sender->rank, lane, n,
            receiver->rank, other, at++);
  }
}

static void put_streams(FILE *out, const tt_draw_picture *picture, const tt_plan *sender) {
  for (uint32_t n = 0; n < sender->lane_count; n++) {
    const tt_lane *lane = &sender->lane[n];
    int64_t count = lane->published ? lane->reader_count : sender->rank_count;
    for (int64_t r = 0; r < count && lane->role == TT_ROLE_SEND; r++)
      put_stream(out, sender, n, picture->plan[lane->published ? sender->reader[lane->first_reader + r] : r]);
  }
}

tutti_status tt_draw_dot(const tt_draw_picture *picture, FILE *out) {
  int64_t rank_count = picture->plan[0]->rank_count;
  if (rank_count > TT_DRAW_RANKS)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "a graph of %" PRId64 " ranks is too large to draw; the limit is %d",
                   rank_count, TT_DRAW_RANKS);
  fputs("digraph plan {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n", out);
  for (int64_t r = 0; r < rank_count; r++)
    put_rank(out, picture->plan[r]);
  for (int64_t r = 0; r < rank_count; r++)
    put_streams(out, picture, picture->plan[r]);
  fputs("}\n", out);
  return TUTTI_OK;
}
