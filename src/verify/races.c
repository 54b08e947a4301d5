/* verify/races.c - freedom from races within each rank, by vector clocks (Fidge, Mattern 1988).
 *
 * A step has two rows of one number for each lane of its rank:
 *
 *   whole   so many steps of that lane are complete before the first slice of this step begins
 *   slice   of so many steps of that lane, slice s is complete before slice s of this step begins, for every s
 *
 * The step before in the lane, or one waited for as a whole, brings its slice row and itself into both; one waited for
 * by slices brings row into row, and itself into `slice`. Chains of waits by slices keep the block (plan/check.c), so
 * slice s of both ends is the same part of the same block. Only lanes and waits count: that a message happens to come
 * later is no order here. */
#include "verify/races.h"

#include <assert.h>

#define READS 2 /* places that one step reads at most: a copy that combines, its own and the other */

static uint32_t lanes_of(const tt_proof *proof, uint32_t rank) {
  return proof->first_lane[rank + 1] - proof->first_lane[rank];
}

/* The whole row of a step; its slice row stands behind it. */
static uint32_t *rows_of(const tt_races *races, uint32_t step) {
  uint32_t rank = tt_verify_rank_of(races->proof, step);
  size_t row = 2 * (size_t)lanes_of(races->proof, rank);
  return races->clock + races->first_clock[rank] + (step - races->first_step[rank]) * row;
}

tutti_status tt_verify_races_init(tt_races *races, tt_proof *proof) {
  *races = (tt_races){.proof = proof};
  races->first_clock = tt_arena_alloc(&proof->arena, proof->rank_count, sizeof *races->first_clock);
  races->first_step = tt_arena_alloc(&proof->arena, proof->rank_count, sizeof *races->first_step);
  races->reader = tt_arena_alloc(&proof->arena, READS * (size_t)proof->step_count, sizeof *races->reader);
  size_t total = 0;
  uint32_t step = 0;
  for (uint32_t rank = 0; rank < proof->rank_count && !proof->arena.failed; rank++) {
    races->first_clock[rank] = total;
    races->first_step[rank] = step;
    step += proof->plan[rank]->step_count;
    total += 2 * (size_t)lanes_of(proof, rank) * proof->plan[rank]->step_count;
  }
  races->clock = tt_arena_alloc(&proof->arena, total, sizeof *races->clock);
  return proof->arena.failed ? tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu clocks", total) : TUTTI_OK;
}

static void raise(uint32_t *row, const uint32_t *by, uint32_t count) {
  for (uint32_t n = 0; n < count; n++)
    row[n] = by[n] > row[n] ? by[n] : row[n];
}

static void raise_one(uint32_t *number, uint32_t by) { *number = by > *number ? by : *number; }

static void tick_after(const tt_races *races, uint32_t *rows, uint32_t before, bool whole) {
  const tt_proof *proof = races->proof;
  uint32_t number = proof->lane_of[before], first = proof->first_lane[proof->lane[number].rank];
  uint32_t lane = number - first, count = before - proof->lane[number].first_step + 1;
  uint32_t lanes = lanes_of(proof, proof->lane[number].rank);
  const uint32_t *of = rows_of(races, before);
  raise(rows, whole ? of + lanes : of, lanes);
  raise(rows + lanes, of + lanes, lanes);
  raise_one(&rows[lanes + lane], count);
  if (whole)
    raise_one(&rows[lane], count);
}

void tt_verify_tick(tt_races *races, uint32_t step) {
  uint32_t *rows = rows_of(races, step);
  uint32_t edge = 0, before;
  bool whole;
  while ((before = tt_verify_before(races->proof, step, &edge, &whole)) != TT_NONE)
    tick_after(races, rows, before, whole);
}

bool tt_verify_ordered(const tt_races *races, uint32_t earlier, uint32_t step) {
  const tt_proof *proof = races->proof;
  uint32_t number = proof->lane_of[earlier], rank = proof->lane[number].rank;
  const uint32_t *slice_row = rows_of(races, step) + lanes_of(proof, rank);
  return earlier == step || slice_row[number - proof->first_lane[rank]] > earlier - proof->lane[number].first_step;
}

static tutti_status race(const tt_races *races, uint32_t step, uint32_t earlier, const char *what) {
  char place[128];
  tt_verify_place(races->proof, earlier, place);
  return tt_verify_fail(races->proof, step, "race: it %s without waiting: %s", what, place);
}

tutti_status tt_verify_read(tt_races *races, uint32_t step, tt_accesses *accesses) {
  if (accesses->writer != TT_NONE && !tt_verify_ordered(races, accesses->writer, step))
    return race(races, step, accesses->writer, "reads what another step writes");
  uint32_t lane = races->proof->lane_of[step], at = accesses->reader;
  while (at != TT_NONE && races->proof->lane_of[races->reader[at].step] != lane)
    at = races->reader[at].next;
  if (at != TT_NONE) { /* whoever is after this step is after the earlier one of the same lane */
    races->reader[at].step = step;
    return TUTTI_OK;
  }
  assert(races->reader_count < READS * (size_t)races->proof->step_count);
  races->reader[races->reader_count] = (struct tt_reader){step, accesses->reader};
  accesses->reader = races->reader_count++;
  return TUTTI_OK;
}

tutti_status tt_verify_write(tt_races *races, uint32_t step, tt_accesses *accesses) {
  for (uint32_t at = accesses->reader; at != TT_NONE; at = races->reader[at].next)
    if (!tt_verify_ordered(races, races->reader[at].step, step))
      return race(races, step, races->reader[at].step, "writes what another step reads");
  if (accesses->writer != TT_NONE && !tt_verify_ordered(races, accesses->writer, step))
    return race(races, step, accesses->writer, "writes what another step writes");
  *accesses = (tt_accesses){step, TT_NONE};
  return TUTTI_OK;
}
