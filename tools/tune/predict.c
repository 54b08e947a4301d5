/* tools/tune/predict.c - parameters -> all ranks' plans, bound as the library binds them -> their time (sim/sim.h).
 *
 * Ranks begin a call when they are through with the one before, so a few calls are simulated one behind the other;
 * where there is a root, each has its own. */
#include "predict.h"

#include "bench/layout.h"
#include "call/call.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CALLS_MOST 4
#define BATCH_NS 200000 /* of cell.c */

typedef struct prediction {
  const tutti_comm *comm;
  const tt_sim_rates *rates;
  const tt_task *task;
  tt_params params;
  tt_sim_model model;
  double *rank_ps; /* when each is through with the calls so far */
  int64_t *core;   /* of each rank */
  tt_arena arena;
} prediction;

/* ---- one call ---- */

typedef struct plans { /* of all ranks */
  tt_plan **plan;
  tt_bound_plan **bound;
  tt_arena arena;
} plans;

static tt_run run_of(const prediction *of, const tt_composition *composition) {
  const tutti_comm *comm = of->comm;
  bool square = composition->layout[TT_IN] == TT_LAYOUT_ROW;
  int64_t elements = of->task->bytes / (int64_t)sizeof(float);
  size_t least = comm->ops->refer_least ? comm->ops->refer_least(comm->transport) : 0;
  tt_run run = {.in_own = composition->layout[TT_IN] == TT_LAYOUT_OWN,
                .out_own = composition->layout[TT_OUT] == TT_LAYOUT_OWN,
                .single_copy = of->params.single_copy,
                .refer_least = least < INT64_MAX ? (int64_t)least : 0,
                .moves_only = !tt_compose_info(of->task->problem.collective).reduces,
                .blocks = {.kind = square ? TT_TABLE_SQUARE : TT_TABLE_SPLIT,
                           .block_count = composition->block_count,
                           .total = elements,
                           .each = square ? elements / comm->size : 0},
                .type = TUTTI_FLOAT32,
                .op = TUTTI_SUM};
  tt_medium_apply(comm->context->medium, &run);
  return run;
}

static tutti_status bind_rank(const prediction *of, const tt_lowering *lowering, const tt_run *run, int64_t rank,
                              plans *all) {
  const tutti_comm *comm = of->comm;
  tutti_status status = tt_lower_rank(lowering, rank, &all->plan[rank]);
  if (status != TUTTI_OK)
    return status;
  tt_class class = comm->agree.board && !comm->apart ? tt_medium_class(comm->context->medium, all->plan[rank], run)
                                                     : TT_CLASS_STREAMS;
  tt_bind_facts facts = tt_bound_facts(comm, class, false);
  return tt_bind(all->plan[rank], &facts, &all->bound[rank]);
}

static tutti_status simulate(prediction *of, const tt_composition *composition, const tt_run *run, const plans *all) {
  bool square = composition->layout[TT_IN] == TT_LAYOUT_ROW;
  tt_sim_bound bound = {.plan = (const tt_bound_plan *const *)all->bound,
                        .rates = of->rates,
                        .machine = of->comm->team->machine,
                        .single_copy = run->single_copy,
                        .read_least = run->refer_least > 0 ? run->refer_least : -1,
                        .past_bytes = tt_options_get()->bytes.nontemporal,
                        .start_ps = of->rank_ps,
                        .core = of->core};
  tt_sim_lengths lengths = {.total_bytes = of->task->bytes * (square ? of->comm->size : 1)};
  tt_sim_result result;
  tutti_status status = tt_sim_run_bound(&of->model, &bound, &lengths, &result);
  if (status == TUTTI_OK)
    for (int64_t r = 0; r < of->comm->size; r++)
      of->rank_ps[r] = fmax(of->rank_ps[r], result.rank_ps[r]) + 1000 * of->rates->call_ns;
  tt_sim_finish(&result);
  return status;
}

static tutti_status compile(const prediction *of, const tt_composition *composition, const tt_run *run, plans *all) {
  tt_lowering *lowering = NULL;
  tutti_status status = tt_lowering_create(composition, of->comm->topo, &of->params, &lowering);
  for (int64_t r = 0; r < of->comm->size && status == TUTTI_OK; r++)
    status = bind_rank(of, lowering, run, r, all);
  tt_lowering_destroy(lowering);
  return status;
}

static void finish(const prediction *of, plans *all) {
  for (int64_t r = 0; r < of->comm->size; r++) {
    if (all->bound)
      tt_bound_plan_destroy(all->bound[r]);
    if (all->plan)
      tt_plan_destroy(all->plan[r]);
  }
  tt_arena_finish(&all->arena);
}

/* The root's `in` is its `out`. */
static bool keeps(tt_collective collective) {
  const bench_form form = bench_form_of(collective);
  return form.from_root && form.cut == BENCH_WHOLE;
}

static tutti_status add_call(prediction *of, int64_t root) {
  size_t ranks = (size_t)of->comm->size;
  tt_problem problem = of->task->problem;
  tt_composition composition;
  plans all;
  tt_arena_init(&all.arena);
  all.plan = tt_arena_alloc(&all.arena, ranks, sizeof *all.plan);
  all.bound = tt_arena_alloc(&all.arena, ranks, sizeof *all.bound);
  problem.root = root;
  problem.in_place = keeps(of->task->problem.collective);
  tutti_status status = all.arena.failed
                            ? tt_fail(TUTTI_ERR_MEMORY, "no memory for a prediction")
                            : tt_task_compose(&problem, &of->params, of->comm->topo, &all.arena, &composition);
  tt_run run;
  if (status == TUTTI_OK) {
    run = run_of(of, &composition);
    status = compile(of, &composition, &run, &all);
  }
  if (status == TUTTI_OK)
    status = simulate(of, &composition, &run, &all);
  finish(of, &all);
  return status;
}

/* ---- several ---- */

static double last_ns(const prediction *of) {
  double last_ps = 0;
  for (int64_t r = 0; r < of->comm->size; r++)
    last_ps = fmax(last_ps, of->rank_ps[r]);
  return last_ps / 1000;
}

/* The first of a batch takes longer or shorter than the others. */
static tutti_status predict(prediction *of, double *call_ns) {
  const bench_form form = bench_form_of(of->task->problem.collective);
  bool rooted = form.from_root || form.to_root;
  tutti_status status = add_call(of, 0);
  double first_ns = last_ns(of), calls = fmax(1, ceil(BATCH_NS / first_ns));
  int more = calls == 1 ? 0 : !rooted ? 1 : of->comm->size < CALLS_MOST ? (int)of->comm->size : CALLS_MOST;
  for (int n = 1; n <= more && status == TUTTI_OK; n++)
    status = add_call(of, rooted ? n % of->comm->size : 0);
  double next_ns = more > 0 ? (last_ns(of) - first_ns) / more : 0;
  *call_ns = (first_ns + (calls - 1) * next_ns) / calls;
  return status;
}

/* Where ranks run now, as far as they have said. */
static void find_cores(prediction *of) {
  const tutti_comm *comm = of->comm;
  tt_board *const *board = comm->context->made.control->agree.board;
  for (int64_t r = 0; r < comm->size && of->rates->cores > 0; r++) {
    tt_board *at = board ? board[comm->job_rank[r]] : NULL;
    uint32_t core = at ? atomic_load_explicit(&at->core, memory_order_relaxed) : 0;
    of->core[r] = (core > 0 ? core - 1 : r) % of->rates->cores;
  }
}

static int between_count(const tutti_comm *comm) {
  int count = 0;
  for (int n = 0; comm->apart && n + 1 < comm->topo->level_count; n++)
    if (strcmp(comm->topo->level[n].name, "node") == 0)
      count = n + 1;
  return count;
}

tutti_status tune_predict(const tutti_comm *comm, const tt_sim_rates *rates, const tt_task *task, const char *params,
                          double *call_ns) {
  prediction of = {.comm = comm, .rates = rates, .task = task};
  tt_arena_init(&of.arena);
  of.core = tt_arena_alloc(&of.arena, (size_t)comm->size, sizeof *of.core);
  of.rank_ps = tt_arena_alloc(&of.arena, (size_t)comm->size, sizeof *of.rank_ps);
  tutti_status status = of.rank_ps && of.core ? tt_params_parse(params, &of.params)
                                              : tt_fail(TUTTI_ERR_MEMORY, "no memory for a prediction");
  if (status == TUTTI_OK) {
    find_cores(&of);
    tt_sim_model_init(&of.model, comm->topo);
    tt_sim_rates_set(rates, between_count(comm), &of.model);
    of.model.slot_bytes = task->slot_bytes;
    of.model.slot_count = tt_options_get()->slot_count;
    status = predict(&of, call_ns);
  }
  tt_arena_finish(&of.arena);
  return status;
}
