/* bench/plans.c - what compiling one rank's plan costs: processor time, and memory that the plan keeps.
 *
 * First every collective and form at 512 nodes of 8 ranks, over hierarchical parameters; 10 ms and 8 MiB each are the
 * aim. Then growth with the number of nodes, 8 ranks each; a second at 65,536 ranks is the aim. A time is composition,
 * levels and one rank's plan together, the best of a few tries; the rank lies in the middle of the job.
 *
 *     bench_plans [NODES]    most nodes of the growth, default 8192 (65,536 ranks) */
#include "compose/compose.h"
#include "lower/lower.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PER_NODE = 8, NODES = 512, TRIES = 3 };

static const char *const params_texts[] = {
    "[node:chain/core:star]",
    "[node:2-nomial,xor/core:star]",
    "[node:chain/core:star] stripe=8",
    "[node:2-nomial,xor/core:star] stripe=8",
};

typedef struct cost {
  double ms;
  size_t bytes;
  uint32_t steps;
} cost;

static double cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static tutti_status compile(const tt_problem *problem, const char *form, const tt_topo *topo, const tt_params *params,
                            cost *one) {
  tt_composition composition;
  tt_lowering *lowering = NULL;
  tt_plan *plan = NULL;
  double began = cpu_ms();
  tutti_status status = tt_compose(problem, form, &composition);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&composition, topo, params, &lowering);
  if (status == TUTTI_OK)
    status = tt_lower_rank(lowering, problem->rank_count / 2 + 1, &plan);
  if (status == TUTTI_OK)
    *one = (cost){cpu_ms() - began, tt_plan_bytes(plan), plan->step_count};
  tt_plan_destroy(plan);
  tt_lowering_destroy(lowering);
  return status;
}

/* The best of the tries; exits where the parameters make no plan. */
static cost measure(tt_collective collective, const char *form, const tt_topo *topo, const char *text) {
  tt_problem problem = {.collective = collective, .rank_count = topo->rank_count};
  cost best = {0}, one = {0};
  tt_params params;
  tutti_status status = tt_params_parse(text, &params);
  for (int n = 0; n < TRIES && status == TUTTI_OK; n++) {
    status = compile(&problem, form, topo, &params, &one);
    best = n == 0 || one.ms < best.ms ? one : best;
  }
  if (status != TUTTI_OK) {
    fprintf(stderr, "bench_plans: %s\n", tutti_last_error());
    exit(1);
  }
  return best;
}

/* Nodes of 8 ranks, in rank order; ranks of a node may publish to each other. */
static tt_topo *make_topo(tt_arena *arena, int64_t nodes) {
  int64_t ranks = nodes * PER_NODE, *map = tt_arena_alloc(arena, (size_t)ranks, sizeof *map);
  tt_topo *topo = tt_topo_flat(arena, ranks);
  for (int64_t r = 0; map && r < ranks; r++)
    map[r] = r / PER_NODE;
  if (arena->failed || tt_topo_add(topo, arena, "node", map) != TUTTI_OK) {
    fprintf(stderr, "bench_plans: no memory for %" PRId64 " nodes\n", nodes);
    exit(1);
  }
  topo->level[topo->level_count - 1].publish = true;
  return topo;
}

static void print_forms(const tt_topo *topo, const char *text) {
  printf("\n%s, %d nodes of %d ranks\n", text, NODES, PER_NODE);
  printf("  %-16s %-26s %10s %10s %10s\n", "collective", "form", "ms", "KiB", "steps");
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count; f++) {
      cost one = measure((tt_collective)c, info.form[f], topo, text);
      printf("  %-16s %-26s %10.2f %10zu %10u\n", info.name, info.form[f], one.ms, one.bytes / 1024, one.steps);
      fflush(stdout);
    }
  }
}

/* Of the form that takes longest. */
static cost measure_forms(tt_collective collective, const tt_topo *topo, const char *text) {
  tt_collective_info info = tt_compose_info(collective);
  cost worst = {0};
  for (int f = 0; f < info.form_count; f++) {
    cost one = measure(collective, info.form[f], topo, text);
    worst = one.ms > worst.ms ? one : worst;
  }
  return worst;
}

static void print_nodes(const char *text, int64_t nodes) {
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = make_topo(&arena, nodes);
  printf("  %9" PRId64, topo->rank_count);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    cost one = measure_forms((tt_collective)c, topo, text);
    printf(" %9.2f %8zu", one.ms, one.bytes / 1024);
    fflush(stdout);
  }
  putchar('\n');
  tt_arena_finish(&arena);
}

/* Eight nodes, four times as many, ..., at last `most`. */
static void print_growth(const char *text, int64_t most) {
  printf("\n%s, growth: ms and KiB of each collective's slowest form\n  %9s", text, "ranks");
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    printf(" %18s", tt_compose_info((tt_collective)c).name);
  putchar('\n');
  for (int64_t nodes = 8; nodes < most; nodes *= 4)
    print_nodes(text, nodes);
  print_nodes(text, most);
}

int main(int argc, char **argv) {
  int64_t most = argc > 1 ? strtoll(argv[1], NULL, 10) : 8192;
  if (most < 1 || most > INT32_MAX / PER_NODE) {
    fprintf(stderr, "usage: bench_plans [NODES]\n");
    return 2;
  }
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = make_topo(&arena, NODES);
  for (size_t n = 0; n < TT_COUNT(params_texts); n++)
    print_forms(topo, params_texts[n]);
  for (size_t n = 0; n < TT_COUNT(params_texts); n++)
    print_growth(params_texts[n], most);
  tt_arena_finish(&arena);
  return 0;
}
