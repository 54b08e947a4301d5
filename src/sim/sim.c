/* sim/sim.c - from plans to times: the machine of one simulation, made, run and summed up. */
#include "sim/machine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void sum_up(tt_sim_machine *machine) {
  tt_sim_result *result = machine->result;
  for (uint32_t n = 0; n < machine->call_count * machine->rank_count; n++) {
    double *call_ps = &result->call_ps[n / machine->rank_count];
    *call_ps = fmax(*call_ps, result->rank_ps[n]);
    result->time_ps = fmax(result->time_ps, *call_ps);
  }
}

/* Of the only call, where there is one: bound: NULL: plans are not; symmetry: NULL: there are plans of all ranks. */
typedef struct special {
  const tt_sim_bound *bound;
  const tt_symmetry *symmetry;
} special;

static tutti_status run_calls(const tt_sim_model *model, const tt_sim_call *call, int call_count, special of,
                              bool spans, tt_sim_result *result) {
  size_t ranks = (size_t)call->plan[0]->rank_count, calls = (size_t)call_count;
  *result = (tt_sim_result){.rounds = call->plan[0]->time_count};
  tt_arena_init(&result->arena);
  result->rank_ps = tt_arena_alloc(&result->arena, calls * ranks, sizeof *result->rank_ps);
  result->call_ps = tt_arena_alloc(&result->arena, calls, sizeof *result->call_ps);
  if (result->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to simulate %zu ranks", ranks);
  tt_sim_machine machine = {.model = model,
                            .ranks = {.symmetry = of.symmetry},
                            .call_count = (uint32_t)call_count,
                            .spans = {.wanted = spans},
                            .awake = {.first = TT_NONE},
                            .ready = {.first = TT_NONE},
                            .result = result};
  tt_arena_init(&machine.arena);
  tutti_status status = tt_sim_network(&machine, call);
  if (status == TUTTI_OK && of.bound)
    status = tt_sim_ends_make(&machine, of.bound);
  if (status == TUTTI_OK)
    status = tt_sim_go(&machine);
  if (status == TUTTI_OK)
    sum_up(&machine);
  tt_sim_symmetry_count(&machine);
  free(machine.clock.event);
  tt_arena_finish(&machine.arena);
  return status;
}

tutti_status tt_sim_run_calls(const tt_sim_model *model, const tt_sim_call *call, int call_count, bool spans,
                              tt_sim_result *result) {
  return run_calls(model, call, call_count, (special){NULL, NULL}, spans, result);
}

tutti_status tt_sim_run(const tt_sim_model *model, const tt_plan *const *plan, const tt_sim_lengths *lengths,
                        bool spans, tt_sim_result *result) {
  return run_calls(model, &(tt_sim_call){.plan = plan, .lengths = *lengths}, 1, (special){NULL, NULL}, spans, result);
}

tutti_status tt_sim_run_symmetric(const tt_sim_model *model, const tt_symmetry *symmetry, const tt_plan *const *plan,
                                  const tt_sim_lengths *lengths, tt_sim_result *result) {
  const tt_sim_call call = {.plan = plan, .lengths = *lengths};
  return run_calls(model, &call, 1, (special){.symmetry = symmetry}, false, result);
}

tutti_status tt_sim_run_bound(const tt_sim_model *model, const tt_sim_bound *bound, const tt_sim_lengths *lengths,
                              tt_sim_result *result) {
  int64_t ranks = bound->plan[0]->list->rank_count;
  const tt_plan **list = calloc((size_t)ranks, sizeof(const tt_plan *));
  for (int64_t r = 0; list && r < ranks; r++)
    list[r] = bound->plan[r]->list;
  *result = (tt_sim_result){.rounds = 0};
  tutti_status status = list ? run_calls(model, &(tt_sim_call){.plan = list, .lengths = *lengths}, 1,
                                         (special){.bound = bound}, false, result)
                             : tt_fail(TUTTI_ERR_MEMORY, "no memory to simulate %" PRId64 " ranks", ranks);
  free(list);
  return status;
}

void tt_sim_finish(tt_sim_result *result) {
  free(result->span);
  tt_arena_finish(&result->arena);
  result->span = NULL;
}
