/* verify/claim.c - plans from a text, of anybody: whether they do what they claim.
 *
 * Numbers of a text may say anything, so what the proof would need is estimated first. What compiled plans need is far
 * below the limits. */
#include "verify/verify.h"

#include <inttypes.h>

#define GIB ((double)(1 << 30))
#define BYTES_MOST (4 * GIB)
#define WORK_MOST (4 * GIB) /* visits of blocks and of lanes' clocks: about a minute */

/* For each step, each reader of a published lane, each place in memory. */
#define STEP_BYTES 512.0
#define READER_BYTES 128.0
#define PLACE_BYTES 4.0

typedef struct cost {
  double bytes, work;
} cost;

static double combining_steps(const tt_plan *plan) {
  double count = 0;
  for (uint32_t n = 0; n < plan->step_count; n++)
    count += plan->step[n].kind == TT_STEP_RECV_REDUCE || (plan->step[n].flags & TT_STEP_ONTO) != 0;
  return count;
}

static void add_cost(cost *sum, const tt_plan *plan, double ranks) {
  double lanes = plan->lane_count, steps = plan->step_count;
  sum->bytes += steps * STEP_BYTES + plan->reader_count * READER_BYTES; /* values and streams */
  sum->bytes += 2 * lanes * steps * sizeof(uint32_t);                   /* clocks */
  sum->bytes += combining_steps(plan) * ranks / 8;                      /* sets of ranks */
  sum->work += (steps + plan->wait_count) * lanes;
}

static tutti_status check_size(const tt_plan_set *set) {
  double blocks = 0, cells = 0, ranks = (double)set->claim.rank_count;
  cost sum = {0, 0};
  for (int64_t r = 0; r < set->plan_count; r++) {
    const tt_plan *plan = set->plan[r];
    blocks = plan->block_count > blocks ? plan->block_count : blocks;
    cells = plan->tmp_count > cells ? plan->tmp_count : cells;
    add_cost(&sum, plan, ranks);
  }
  sum.bytes += ((double)TT_SPACE_TMP * blocks + cells) * PLACE_BYTES;
  sum.work += ranks * blocks;
  if (sum.bytes > BYTES_MOST)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "too large to prove: it would take %.0f GiB of memory; the limit is %.0f",
                   sum.bytes / GIB, BYTES_MOST / GIB);
  if (sum.work > WORK_MOST)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "too large to prove: %.0f ranks, %.0f blocks", ranks, blocks);
  return TUTTI_OK;
}

static tutti_status find_meaning(const tt_plan_claim *claim, tt_question *question, tt_meaning *meaning) {
  *question = (tt_question){.collective = claim->collective,
                            .rank_count = claim->rank_count,
                            .block_count = claim->block_count,
                            .root = claim->root < 0 ? 0 : claim->root,
                            .in_place = claim->in_place,
                            .ordered = claim->ordered,
                            .reproducible = claim->reproducible,
                            .edge_count = claim->edge_count,
                            .from = claim->from,
                            .to = claim->to};
  tutti_status status = tt_verify_meaning(question, meaning);
  if (status == TUTTI_OK && meaning->root != question->root)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s has no root, but the claim names rank %" PRId64, claim->collective,
                   claim->root);
  return status;
}

tutti_status tt_verify_claim(const tt_plan_set *set) {
  tt_question question;
  tt_meaning meaning;
  tutti_status status = find_meaning(&set->claim, &question, &meaning);
  if (status == TUTTI_OK)
    status = check_size(set);
  return status == TUTTI_OK ? tt_verify(&meaning, (const tt_plan *const *)set->plan) : status;
}
