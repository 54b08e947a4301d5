/* verify/bits.c - runs plans, lists and orders once, on trees of operands, and compares what stands in out at the end:
 * equal trees have equal bits.
 *
 *     plans    -> lists    where a list is not the plan itself
 *     lists    -> orders   where cells are admitted: sends first, then each rank's order
 *
 * A Kahn network gives the same values in every schedule, so one run of each is enough. */
#include "verify/bound.h"

typedef struct run {
  const tt_proof *proof;
  const tt_machine *machine;
  tt_forest *forest;
  uint32_t *held; /* tree at each location; TT_NONE: none yet */
  uint32_t *sent; /* of each send */
} run;

static uint32_t held(run *on, uint32_t step, tt_ref ref, uint32_t location) {
  uint32_t rank = tt_verify_rank_of(on->proof, step);
  if (on->held[location] == TT_NONE && tt_verify_holds_input(on->proof, rank, ref))
    on->held[location] = tt_forest_leaf(on->forest, rank, ref.index);
  return on->held[location];
}

static void take(run *on, uint32_t step, uint32_t tree, bool combines, uint32_t own) {
  const tt_step *at = on->proof->step[step];
  bool turned = at->flags & TT_STEP_LEFT;
  if (combines)
    tree = tt_forest_combined(on->forest, turned ? tree : own, turned ? own : tree);
  if (at->finish > 1)
    tree = tt_forest_finished(on->forest, tree, at->finish);
  on->held[on->machine->dst_at[step]] = tree;
}

static void do_step(run *on, uint32_t step) {
  const tt_step *at = on->proof->step[step];
  uint32_t src = at->kind == TT_STEP_RECV ? TT_NONE : held(on, step, at->src, on->machine->src_at[step]);
  bool onto = at->flags & TT_STEP_ONTO;
  if (at->kind == TT_STEP_SEND)
    on->sent[step] = src;
  else if (at->kind == TT_STEP_COPY)
    take(on, step, src, onto, onto ? held(on, step, at->dst, on->machine->dst_at[step]) : TT_NONE);
  else
    take(on, step, on->sent[on->proof->send_of[step]], at->kind == TT_STEP_RECV_REDUCE, src);
}

static bool begin(run *on, const tt_proof *proof, const tt_machine *machine, tt_forest *forest, tt_arena *arena) {
  size_t steps = proof->step_count;
  *on = (run){.proof = proof, .machine = machine, .forest = forest};
  on->held = tt_arena_alloc(arena, 2 * steps, sizeof *on->held);
  on->sent = tt_arena_alloc(arena, steps, sizeof *on->sent);
  for (size_t n = 0; n < 2 * steps && on->held; n++)
    on->held[n] = TT_NONE;
  return !arena->failed;
}

static void run_all(run *on) {
  for (uint32_t n = 0; n < on->proof->step_count; n++)
    do_step(on, on->proof->order[n]);
}

/* ---- cells ---- */

/* All sends first, then each rank's order. */
static void run_orders(run *on, const tt_bound_proof *proof) {
  for (uint32_t step = 0; step < on->proof->step_count; step++)
    if (on->proof->step[step]->kind == TT_STEP_SEND)
      do_step(on, step);
  for (uint32_t rank = 0; rank < on->proof->rank_count; rank++)
    for (uint32_t n = 0; n < proof->bound[rank]->order_count; n++)
      do_step(on, proof->first_step[rank] + proof->bound[rank]->order[n]);
}

/* Cells are filled before all else: what goes there must be what was there at the start. */
static tutti_status check_put(const tt_bound_proof *proof, run *lists) {
  for (uint32_t step = 0; step < proof->lists.step_count; step++) {
    const tt_step *at = proof->lists.step[step];
    uint32_t rank = tt_verify_rank_of(&proof->lists, step);
    if (at->kind != TT_STEP_SEND || !(proof->step[step]->media & TT_MEDIA(TT_MEDIUM_CELL)))
      continue;
    if (!tt_verify_holds_input(&proof->lists, rank, at->src) ||
        lists->sent[step] != tt_forest_leaf(lists->forest, rank, at->src.index))
      return tt_verify_fail(&proof->lists, step, "it goes by cell, but the rank did not have it at the start");
  }
  return TUTTI_OK;
}

/* Each step's result: what stands at its place at the end. */
static tutti_status compare_orders(const tt_bound_proof *proof, const run *lists, const run *orders) {
  for (uint32_t step = 0; step < proof->lists.step_count; step++) {
    const tt_step *at = proof->lists.step[step];
    bool is_result = at->kind != TT_STEP_SEND && at->dst.space == TT_SPACE_OUT;
    uint32_t location = is_result ? proof->machine.dst_at[step] : TT_NONE;
    if (is_result && lists->held[location] != orders->held[location])
      return tt_verify_fail(&proof->lists, step, "walked in the order of cells, its place gets another result");
  }
  return TUTTI_OK;
}

static tutti_status check_orders(const tt_bound_proof *proof, run *lists, tt_arena *arena) {
  run orders;
  if (proof->bound[0]->blocks == TT_CLASS_STREAMS)
    return TUTTI_OK;
  tutti_status status = check_put(proof, lists);
  if (status != TUTTI_OK)
    return status;
  if (!begin(&orders, &proof->lists, &proof->machine, lists->forest, arena))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->lists.step_count);
  run_orders(&orders, proof);
  return compare_orders(proof, lists, &orders);
}

/* ---- plans and lists ---- */

static bool same_lists(const tt_bound_proof *proof) {
  for (uint32_t rank = 0; rank < proof->lists.rank_count; rank++)
    if (proof->bound[rank]->list != proof->plan[rank])
      return false;
  return true;
}

static uint32_t rank_begin(const tt_proof *proof, uint32_t rank) {
  uint32_t lane = proof->first_lane[rank];
  return lane < proof->lane_count ? proof->lane[lane].first_step : proof->step_count;
}

/* The rank's results, by block; also forgets them: those of its steps become TT_NONE. */
static void list_results(const run *on, uint32_t rank, uint32_t *result, bool forget) {
  for (uint32_t step = rank_begin(on->proof, rank); step < rank_begin(on->proof, rank + 1); step++) {
    const tt_step *at = on->proof->step[step];
    if (at->kind != TT_STEP_SEND && at->dst.space == TT_SPACE_OUT)
      result[at->dst.index] = forget ? TT_NONE : on->held[on->machine->dst_at[step]];
  }
}

static tutti_status compare_rank(const tt_bound_proof *proof, const run *plans, const run *lists, uint32_t rank,
                                 uint32_t *result) {
  tutti_status status = TUTTI_OK;
  list_results(plans, rank, result, false);
  for (uint32_t step = proof->first_step[rank]; step < proof->first_step[rank + 1] && status == TUTTI_OK; step++) {
    const tt_step *at = proof->lists.step[step];
    if (at->kind != TT_STEP_SEND && at->dst.space == TT_SPACE_OUT &&
        lists->held[proof->machine.dst_at[step]] != result[at->dst.index])
      status =
          tt_verify_fail(&proof->lists, step, "its place gets other operands than in the plan, or in another order");
  }
  list_results(plans, rank, result, true);
  return status;
}

static tutti_status prove_plans(const tt_bound_proof *proof, tt_proof *plans, tt_machine *machine) {
  static tutti_status (*const part[])(tt_proof *) = {tt_verify_agree, tt_verify_index, tt_verify_messages,
                                                     tt_verify_match, tt_verify_order};
  tutti_status status = TUTTI_OK;
  *plans = (tt_proof){.meaning = proof->lists.meaning, .plan = proof->plan, .rank_count = proof->lists.rank_count};
  plans->block_count = proof->plan[0]->block_count;
  plans->part_count = proof->plan[0]->part_count;
  tt_arena_init(&plans->arena);
  for (size_t n = 0; n < TT_COUNT(part) && status == TUTTI_OK; n++)
    status = part[n](plans);
  return status == TUTTI_OK ? tt_verify_machine_init(machine, plans) : status;
}

static tutti_status compare_plans(const tt_bound_proof *proof, const tt_proof *plans, const tt_machine *machine,
                                  run *lists, tt_arena *arena) {
  run on;
  uint32_t blocks = plans->block_count, *result = tt_arena_alloc(arena, blocks, sizeof *result);
  tutti_status status = TUTTI_OK;
  if (!begin(&on, plans, machine, lists->forest, arena))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", plans->step_count);
  for (uint32_t n = 0; n < blocks; n++)
    result[n] = TT_NONE;
  run_all(&on);
  for (uint32_t rank = 0; rank < plans->rank_count && status == TUTTI_OK; rank++)
    status = compare_rank(proof, &on, lists, rank, result);
  return status;
}

static uint64_t trees_most(const tt_bound_proof *proof) {
  uint64_t most = 16;
  for (uint32_t rank = 0; rank < proof->lists.rank_count; rank++)
    most += 5 * ((uint64_t)proof->plan[rank]->step_count + proof->bound[rank]->list->step_count);
  return most;
}

static tutti_status check_all(tt_bound_proof *proof, tt_forest *forest, tt_arena *arena) {
  run lists;
  tt_proof plans = {0};
  tt_machine machine;
  if (!begin(&lists, &proof->lists, &proof->machine, forest, arena))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->lists.step_count);
  run_all(&lists);
  tutti_status status = same_lists(proof) ? TUTTI_OK : prove_plans(proof, &plans, &machine);
  if (status == TUTTI_OK && plans.plan)
    status = compare_plans(proof, &plans, &machine, &lists, arena);
  tt_arena_finish(&plans.arena);
  return status == TUTTI_OK ? check_orders(proof, &lists, arena) : status;
}

tutti_status tt_verify_bits(tt_bound_proof *proof) {
  tt_arena arena;
  tt_forest forest;
  tt_arena_init(&arena);
  tutti_status status = tt_forest_init(&forest, &arena, trees_most(proof))
                            ? check_all(proof, &forest, &arena)
                            : tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->lists.step_count);
  tt_arena_finish(&arena);
  return status;
}
