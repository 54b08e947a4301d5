/* bench/simulated/map.c - ring and recursive halving between nodes, stars inside, on clusters of many sizes, by sim.
 *
 *     simulated_map COLLECTIVE NODES PER_NODE NICS BYTES [BYTES ...]    BYTES RING_US HALVING_US, for each length
 *
 * Plans are compiled for the ranks that stand for all others, and these are simulated (sim/symmetry.c): so the numbers
 * of nodes and of their ranks are powers of two, and lengths are multiples of the number of ranks. */
#include "support/plans.h"

#include "sim/sim.h"

#include <stdio.h>
#include <string.h>

enum { LENGTHS_MOST = 64 };

typedef struct shape {
  tt_collective collective;
  int64_t nodes, per_node, nics;
  int64_t bytes[LENGTHS_MOST];
  int length_count;
} shape;

static tutti_status begin(const shape *of, const char *params, plans *all, tt_sim_model *model) {
  char text[160];
  tt_problem problem = {.collective = of->collective, .rank_count = of->nodes * of->per_node};
  tutti_status status = plans_begin(all, problem.rank_count, NULL, false);
  int64_t *group_of = tt_arena_alloc(&all->arena, (size_t)problem.rank_count, sizeof *group_of);
  for (int64_t r = 0; r < problem.rank_count; r++)
    group_of[r] = r / of->per_node;
  if (status == TUTTI_OK)
    status = tt_topo_add(all->topo, &all->arena, "node", group_of);
  if (status == TUTTI_OK)
    status = tt_params_parse(params, &all->params);
  if (status == TUTTI_OK)
    status = plans_compose(&problem, NULL, all);
  tt_sim_model_init(model, all->topo);
  snprintf(text, sizeof text, "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=%d;gamma=0.05", (int)of->nics);
  return status == TUTTI_OK ? tt_sim_model_parse(text, model) : status;
}

/* Plans of the ranks that others' plans are images of. */
static tutti_status lower(const tt_lowering *lowering, const tt_symmetry *symmetry, plans *all) {
  tutti_status status = TUTTI_OK;
  all->plan = tt_arena_alloc(&all->arena, (size_t)symmetry->unit_size, sizeof(tt_plan *));
  while (status == TUTTI_OK && all->count < symmetry->unit_size) {
    status = tt_lower_rank(lowering, symmetry->line[all->count], &all->plan[all->count]);
    all->count += status == TUTTI_OK;
  }
  return status;
}

static tutti_status simulate(const shape *of, const tt_lowering *lowering, const tt_sim_model *model, plans *all,
                             double *time_us) {
  tt_symmetry ranks, machine;
  tutti_status status = tt_lowering_symmetry(lowering, &ranks);
  if (status == TUTTI_OK)
    status = tt_sim_symmetry(model, &ranks, &machine);
  if (status == TUTTI_OK)
    status = lower(lowering, &ranks, all);
  for (int n = 0; n < of->length_count && status == TUTTI_OK; n++) {
    tt_sim_result result;
    tt_sim_lengths lengths = {.total_bytes = of->bytes[n]};
    status = tt_sim_run_symmetric(model, &machine, (const tt_plan *const *)all->plan, &lengths, &result);
    time_us[n] = result.time_ps / 1e6;
    tt_sim_finish(&result);
  }
  return status;
}

static tutti_status times_of(const shape *of, const char *params, double *time_us) {
  plans all;
  tt_sim_model model;
  tt_lowering *lowering = NULL;
  tutti_status status = begin(of, params, &all, &model);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&all.composition, all.topo, &all.params, &lowering);
  if (status == TUTTI_OK)
    status = simulate(of, lowering, &model, &all, time_us);
  tt_lowering_destroy(lowering);
  plans_close(&all);
  return status;
}

int main(int argc, char **argv) {
  double ring_us[LENGTHS_MOST], halving_us[LENGTHS_MOST];
  if (argc < 6)
    return fprintf(stderr, "usage: simulated_map COLLECTIVE NODES PER_NODE NICS BYTES [BYTES ...]\n"), 2;
  shape of = {tt_compose_find(argv[1]), atoll(argv[2]), atoll(argv[3]), atoll(argv[4]), {0}, 0};
  if (of.collective == TT_COLLECTIVE_COUNT)
    return fprintf(stderr, "simulated_map: there is no collective '%s'\n", argv[1]), 2;
  for (int n = 5; n < argc && of.length_count < LENGTHS_MOST; n++)
    of.bytes[of.length_count++] = atoll(argv[n]);
  tutti_status status = times_of(&of, "two-level-ring", ring_us);
  if (status == TUTTI_OK)
    status = times_of(&of, "two-level-halving", halving_us);
  if (status != TUTTI_OK)
    return fprintf(stderr, "simulated_map: %s\n", tutti_last_error()), 1;
  for (int n = 0; n < of.length_count; n++)
    printf("%d %.3f %.3f\n", (int)of.bytes[n], ring_us[n], halving_us[n]);
  return 0;
}
