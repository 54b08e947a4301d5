/* verify/proof.c - numbers the steps and lanes of all ranks through, and says in error texts where a step is. */
#include "verify/proof.h"

#include <assert.h>
#include <stdio.h>

static const char *const kind_name[TT_STEP_KIND_COUNT] = {"send", "recv", "reduce", "copy"};

const tt_plan *tt_verify_plan_of(const tt_proof *proof, uint32_t step) {
  return proof->plan[tt_verify_rank_of(proof, step)];
}

uint32_t tt_verify_rank_of(const tt_proof *proof, uint32_t step) {
  assert(step < proof->step_count);
  return proof->lane[proof->lane_of[step]].rank;
}

uint32_t tt_verify_wait_step(const tt_proof *proof, uint32_t step, const tt_wait *wait) {
  assert(wait->lane < tt_verify_plan_of(proof, step)->lane_count);
  return proof->lane[proof->first_lane[tt_verify_rank_of(proof, step)] + wait->lane].first_step + wait->step;
}

uint32_t tt_verify_before(const tt_proof *proof, uint32_t step, uint32_t *edge, bool *whole) {
  if ((*edge)++ == 0) {
    *whole = true;
    if (step > proof->lane[proof->lane_of[step]].first_step)
      return step - 1;
    (*edge)++;
  }
  const tt_step *at = proof->step[step];
  uint32_t number = *edge - 2;
  if (number >= at->wait_count)
    return TT_NONE;
  const tt_wait *wait = &tt_verify_plan_of(proof, step)->wait[at->wait_first + number];
  *whole = wait->whole;
  return tt_verify_wait_step(proof, step, wait);
}

static void put_peer(const tt_step *step, char text[static 16]) {
  text[0] = '\0';
  if (step->kind != TT_STEP_COPY)
    snprintf(text, 16, step->peer < 0 ? "->* " : "%s%d ", step->kind == TT_STEP_SEND ? "->" : "<-", step->peer);
}

void tt_verify_place(const tt_proof *proof, uint32_t step, char text[static 128]) {
  uint32_t number = proof->lane_of[step];
  const tt_proof_lane *lane = &proof->lane[number];
  char peer[16];
  put_peer(proof->step[step], peer);
  snprintf(text, 128, "rank %u lane %u step %u (%s %sb%u)", lane->rank, number - proof->first_lane[lane->rank],
           step - lane->first_step, kind_name[proof->step[step]->kind], peer, proof->step[step]->block);
}

tt_member_text tt_verify_member(const tt_proof *proof, uint32_t member) {
  tt_member_text made;
  bool sum = member >= proof->rank_count;
  snprintf(made.text, sizeof made.text, "%s %u", sum ? "sum" : "rank", sum ? member - proof->rank_count : member);
  return made;
}

tutti_status tt_verify_fail(const tt_proof *proof, uint32_t step, const char *format, ...) {
  char place[128] = "all ranks", reason[768];
  if (step != TT_NONE)
    tt_verify_place(proof, step, place);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  return tt_fail(TUTTI_ERR_PLAN, "%s: %s: %s", proof->meaning->name, place, reason);
}

static bool count_all(tt_proof *proof) {
  uint64_t lanes = 0, steps = 0;
  for (uint32_t rank = 0; rank < proof->rank_count; rank++) {
    lanes += proof->plan[rank]->lane_count;
    steps += proof->plan[rank]->step_count;
  }
  proof->lane_count = (uint32_t)lanes;
  proof->step_count = (uint32_t)steps;
  return lanes < TT_NONE && steps < TT_NONE / 4;
}

static void add_lane(tt_proof *proof, uint32_t rank, const tt_lane *lane, uint32_t number, uint32_t first_step) {
  proof->lane[number] = (tt_proof_lane){lane, rank, first_step};
  for (uint32_t n = 0; n < lane->step_count; n++) {
    proof->step[first_step + n] = &proof->plan[rank]->step[lane->first_step + n];
    proof->lane_of[first_step + n] = number;
  }
}

static void add_all(tt_proof *proof) {
  uint32_t lane = 0, step = 0;
  for (uint32_t rank = 0; rank < proof->rank_count; rank++) {
    const tt_plan *plan = proof->plan[rank];
    proof->first_lane[rank] = lane;
    for (uint32_t n = 0; n < plan->lane_count; n++) {
      add_lane(proof, rank, &plan->lane[n], lane++, step);
      step += plan->lane[n].step_count;
    }
  }
  assert(lane == proof->lane_count && step == proof->step_count);
  proof->first_lane[proof->rank_count] = lane;
}

tutti_status tt_verify_index(tt_proof *proof) {
  if (!count_all(proof))
    return tt_verify_fail(proof, TT_NONE, "too many steps");
  proof->lane = tt_arena_alloc(&proof->arena, proof->lane_count, sizeof *proof->lane);
  proof->first_lane = tt_arena_alloc(&proof->arena, proof->rank_count + 1u, sizeof *proof->first_lane);
  proof->step = tt_arena_alloc(&proof->arena, proof->step_count, sizeof *proof->step);
  proof->lane_of = tt_arena_alloc(&proof->arena, proof->step_count, sizeof *proof->lane_of);
  if (proof->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->step_count);
  add_all(proof);
  return TUTTI_OK;
}
