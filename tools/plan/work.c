/* tools/plan/work.c - from a request to plans and their modelled cost, as the library would compile them.
 *
 * Nothing runs: a composition, a topology from the command line and parameters give each rank's plan (lower/lower.h);
 * all ranks' plans and rates give a time (sim/sim.h). Of many ranks only those are compiled that stand for all, or else
 * a sample. */
#include "work.h"

#include "place.h"

#include <inttypes.h>
#include <stdio.h>

#define SAMPLE 16
#define STEPS_MOST 8000000 /* of all compiled plans; more takes too long to wait for */
#define PACKETS_MOST 16000000

/* ---- plans ---- */

static tutti_status make_model(plan_work *work) {
  tt_sim_model_init(&work->model, work->topo);
  return tt_sim_model_parse(work->options->model, &work->model);
}

tutti_status plan_work_open(const plan_options *options, const char *params, plan_work *work) {
  *work = (plan_work){.options = options};
  tt_arena_init(&work->arena);
  tutti_status status = plan_place(options, &work->arena, &work->topo);
  if (status == TUTTI_OK)
    status = make_model(work);
  if (status == TUTTI_OK)
    status = tt_params_parse(params, &work->params);
  if (status == TUTTI_OK)
    status = tt_task_compose(&work->options->problem, &work->params, work->topo, &work->arena, &work->composition);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&work->composition, work->topo, &work->params, &work->lowering);
  return status;
}

/* How many ranks to compile, from the steps of rank 0's plan. */
static int64_t sample_size(const plan_work *work, int64_t most_ranks) {
  int64_t ranks = work->composition.rank_count, steps = work->plan[0]->step_count + 1;
  if (ranks <= most_ranks && ranks * steps <= STEPS_MOST)
    return ranks;
  int64_t few = STEPS_MOST / 4 / steps;
  return few < 2 ? 2 : few < SAMPLE ? few : SAMPLE;
}

static void drop_plans(plan_work *work) {
  for (int64_t n = 0; n < work->plan_count; n++)
    tt_plan_destroy(work->plan[n]);
  work->plan_count = 0;
}

/* Those that stand for all, in place of rank 0's alone. */
static tutti_status lower_large(plan_work *work) {
  int64_t steps = work->plan[0]->step_count;
  tutti_status status = plan_large_find(work->lowering, &work->model, steps, STEPS_MOST, &work->large);
  if (status != TUTTI_OK || !work->large.found)
    return status;
  tt_plan **plan = tt_arena_alloc(&work->arena, (size_t)work->large.plans.unit_size, sizeof(tt_plan *));
  if (!plan)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " plans", work->large.plans.unit_size);
  drop_plans(work);
  work->plan = plan;
  return plan_large_lower(work->lowering, &work->large, plan, &work->plan_count);
}

/* Ranks 0 .. ranks - 1, or evenly spaced ones. */
static tutti_status lower_some(plan_work *work, int64_t count) {
  int64_t ranks = work->composition.rank_count;
  tutti_status status = TUTTI_OK;
  for (int64_t n = 1; n < count && n < ranks && status == TUTTI_OK; n++) {
    int64_t rank = ranks > count ? n * (ranks - 1) / (count - 1) : n;
    status = tt_lower_rank(work->lowering, rank, &work->plan[n]);
    work->plan_count += status == TUTTI_OK;
  }
  return status;
}

tutti_status plan_work_lower(plan_work *work, int64_t most_ranks) {
  int64_t ranks = work->composition.rank_count, room = ranks < most_ranks ? ranks : most_ranks;
  tt_plan **plan = work->plan = tt_arena_alloc(&work->arena, (size_t)(room < SAMPLE ? SAMPLE : room), sizeof *plan);
  if (!plan)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " plans", room);
  tutti_status status = tt_lower_rank(work->lowering, 0, &plan[0]);
  work->plan_count = status == TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  int64_t count = sample_size(work, most_ranks);
  if (count < ranks && work->options->models)
    status = lower_large(work);
  if (status != TUTTI_OK || work->large.found)
    return status;
  if (work->plan != plan) { /* they did not stand for all after all */
    drop_plans(work);
    work->plan = plan;
    status = tt_lower_rank(work->lowering, 0, &plan[0]);
    work->plan_count = status == TUTTI_OK;
  }
  return status == TUTTI_OK ? lower_some(work, count) : status;
}

bool plan_work_is_whole(const plan_work *work) { return work->plan_count == work->composition.rank_count; }

void plan_work_close(plan_work *work) {
  drop_plans(work);
  tt_lowering_destroy(work->lowering);
  tt_arena_finish(&work->arena);
}

/* ---- what n is ---- */

int64_t plan_unit_blocks(const plan_work *work) {
  return tt_ir_vector_blocks(&work->composition) * (work->plan_count > 0 ? work->plan[0]->part_count : 1);
}

const char *plan_unit_text(const plan_work *work) {
  switch (work->composition.layout[TT_IN]) {
  case TT_LAYOUT_ROW:
    return "what one rank has for all";
  case TT_LAYOUT_TOUCHED:
    return "what goes over one edge";
  default:
    return "the whole vector";
  }
}

void plan_unit_format(const plan_work *work, int64_t blocks, char text[static 32]) {
  snprintf(text, 32, "%.4g", (double)blocks / (double)plan_unit_blocks(work));
}

/* ---- cost ---- */

static int64_t copies(const tt_plan *plan) {
  int64_t count = 0;
  for (uint32_t n = 0; n < plan->step_count; n++)
    count += plan->step[n].kind == TT_STEP_COPY;
  return count;
}

/* About how many packets there are: every block sent is as many as it has slices, of which none exceeds a slot. Copies,
 * where they are more, go slice by slice, too. */
static double packets(const plan_work *work, double total_bytes) {
  double sent = 0, copied = 0, slice = (double)work->plan[0]->slice_bytes, slot = (double)work->model.slot_bytes;
  if (slot > 0 && (slice <= 0 || slot < slice))
    slice = slot;
  for (int64_t n = 0; n < work->plan_count; n++) {
    sent += (double)tt_plan_sent(work->plan[n], -1).blocks;
    copied += (double)copies(work->plan[n]);
  }
  double slices = slice > 0 ? total_bytes / (double)work->plan[0]->block_count / slice : 0;
  return (sent > copied ? sent : copied) * (slices > 1 ? slices : 1);
}

int plan_sizes(const plan_options *options, const int64_t **size) {
  static const int64_t usual[] = {8, 64 << 10, 16 << 20};
  bool asked = options->size_count > 0;
  *size = asked ? options->size : usual;
  return options->problem.collective == TT_BARRIER ? 1 : asked ? options->size_count : (int)TT_COUNT(usual);
}

static tt_sim_call call_of(const plan_work *work, int64_t bytes, double start_ns) {
  if (work->options->problem.collective == TT_BARRIER)
    bytes = 1; /* its token is an element, and not cut */
  int64_t units = (int64_t)work->plan[0]->block_count / plan_unit_blocks(work);
  return (tt_sim_call){
      .plan = (const tt_plan *const *)work->plan, .lengths = {.total_bytes = bytes * units}, .start_ns = start_ns};
}

/* Whether that can be simulated: all ranks, or, of the only call, those that stand for them. */
static tutti_status check_size(const plan_work *work, const tt_sim_call *call) {
  double count = packets(work, (double)call->lengths.total_bytes);
  bool stand_in = work->large.found && work->options->also.count == 0;
  if (work->large.found)
    count *= (double)tt_symmetry_unit_total(&work->large.machine);
  if (work->large.found && !stand_in)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "too many ranks to simulate several calls at once");
  if (!plan_work_is_whole(work) && !stand_in)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "too many ranks to simulate all of them, and none stand for others: %s",
                   work->large.why);
  return count > PACKETS_MOST ? tt_fail(TUTTI_ERR_UNSUPPORTED, "too many packets to simulate: %.0f; the limit is %d",
                                        count, PACKETS_MOST)
                              : TUTTI_OK;
}

/* Closed afterwards in any case. */
static tutti_status open_also(const plan_work *work, const plan_also *also, plan_options *options, plan_work *beside) {
  *options = *work->options;
  options->problem = also->problem;
  tutti_status status = plan_work_open(options, also->params, beside);
  return status == TUTTI_OK ? plan_work_lower(beside, PLAN_SIMULATED) : status;
}

static tutti_status simulate(const plan_work *work, const tt_sim_call *call, double time_ns[static 1 + PLAN_ALSO]) {
  tt_sim_result result;
  int count = 1 + work->options->also.count;
  tutti_status status =
      work->large.found ? tt_sim_run_symmetric(&work->model, &work->large.machine, call->plan, &call->lengths, &result)
                        : tt_sim_run_calls(&work->model, call, count, false, &result);
  for (int n = 0; n < count && status == TUTTI_OK; n++)
    time_ns[n] = result.call_ps[n] / 1000;
  tt_sim_finish(&result);
  return status;
}

tutti_status plan_work_times(const plan_work *work, int64_t bytes, double time_ns[static 1 + PLAN_ALSO]) {
  tt_sim_call call[1 + PLAN_ALSO];
  plan_options options[PLAN_ALSO];
  plan_work beside[PLAN_ALSO];
  int opened = 0;
  call[0] = call_of(work, bytes, 0);
  tutti_status status = check_size(work, &call[0]);
  while (status == TUTTI_OK && opened < work->options->also.count) {
    const plan_also *also = &work->options->also.call[opened];
    status = open_also(work, also, &options[opened], &beside[opened]);
    opened++;
    if (status != TUTTI_OK)
      break;
    call[opened] = call_of(&beside[opened - 1], also->bytes ? also->bytes : bytes, also->at_ns);
    status = check_size(&beside[opened - 1], &call[opened]);
  }
  if (status == TUTTI_OK)
    status = simulate(work, call, time_ns);
  while (opened > 0)
    plan_work_close(&beside[--opened]);
  return status;
}

tutti_status plan_work_cost(const plan_work *work, int64_t bytes, double *time_ns) {
  double all_ns[1 + PLAN_ALSO];
  tutti_status status = plan_work_times(work, bytes, all_ns);
  if (status == TUTTI_OK)
    *time_ns = all_ns[0];
  return status;
}

/* ---- counts ---- */

static tt_plan_counts received(const tt_plan *plan) {
  tt_plan_counts counts = {0, 0};
  for (uint32_t n = 0; n < plan->step_count; n++) {
    const tt_step *step = &plan->step[n];
    bool receives = step->kind == TT_STEP_RECV || step->kind == TT_STEP_RECV_REDUCE;
    counts.blocks += receives;
    counts.messages += receives && (step->flags & TT_STEP_LAST) != 0;
  }
  return counts;
}

static void raise_to(tt_plan_counts *most, tt_plan_counts other) {
  most->messages = other.messages > most->messages ? other.messages : most->messages;
  most->blocks = other.blocks > most->blocks ? other.blocks : most->blocks;
}

tt_plan_counts plan_busiest(const plan_work *work) {
  tt_plan_counts most = {0, 0};
  for (int64_t n = 0; n < work->plan_count; n++) {
    raise_to(&most, tt_plan_sent(work->plan[n], -1));
    raise_to(&most, received(work->plan[n]));
  }
  return most;
}
