/* tools/plan.c - `tutti plan`: compiles a collective as the library would, and shows what came out.
 *
 * Nothing runs: a composition, a topology from the command line and parameters give each rank's plan (lower/lower.h).
 * Of many ranks only a sample is compiled. */
#include "plan.h"
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 64 /* more: a sample */
#define SAMPLE 16

/* ---- work ---- */

/* Node of each rank: `node_count` runs of ranks, the first ones longer by one where it does not divide. */
static void even_nodes(int64_t rank_count, int64_t node_count, int64_t *map) {
  int64_t rest = rank_count % node_count, size = rank_count / node_count;
  for (int64_t r = 0; r < rank_count; r++)
    map[r] = r < rest * (size + 1) ? r / (size + 1) : rest + (r - rest * (size + 1)) / size;
}

static tutti_status make_topo(plan_work *work) {
  const plan_options *options = work->options;
  int64_t ranks = options->problem.rank_count;
  int64_t *map = tt_arena_alloc(&work->arena, (size_t)ranks, sizeof *map);
  work->topo = tt_topo_flat(&work->arena, ranks);
  if (work->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %lld ranks", (long long)ranks);
  work->topo->level[0].publish = options->publish;
  tutti_status status = options->map ? tt_topo_parse_map(options->map, ranks, map) : TUTTI_OK;
  if (options->node_count)
    even_nodes(ranks, options->node_count, map);
  if (status == TUTTI_OK && (options->map || options->node_count))
    status = tt_topo_add(work->topo, &work->arena, "node", map);
  return status;
}

tutti_status plan_work_open(const plan_options *options, const char *params, plan_work *work) {
  *work = (plan_work){.options = options};
  tt_arena_init(&work->arena);
  tutti_status status = make_topo(work);
  if (status == TUTTI_OK)
    status = tt_params_parse(params, &work->params);
  if (status == TUTTI_OK)
    status = tt_compose(&options->problem, work->params.form, &work->composition);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&work->composition, work->topo, &work->params, &work->lowering);
  return status;
}

tutti_status plan_work_lower(plan_work *work) {
  int64_t ranks = work->options->problem.rank_count, count = ranks > RANKS ? SAMPLE : ranks;
  work->plan = tt_arena_alloc(&work->arena, (size_t)count, sizeof *work->plan);
  if (!work->plan)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %lld plans", (long long)count);
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < count && status == TUTTI_OK; n++) {
    int64_t rank = ranks > count ? n * (ranks - 1) / (count - 1) : n;
    status = tt_lower_rank(work->lowering, rank, &work->plan[n]);
    work->plan_count += status == TUTTI_OK;
  }
  return status;
}

void plan_work_close(plan_work *work) {
  for (int64_t n = 0; n < work->plan_count; n++)
    tt_plan_destroy(work->plan[n]);
  tt_lowering_destroy(work->lowering);
  tt_arena_finish(&work->arena);
}

/* ---- what is asked for ---- */

static tutti_status print_text(const plan_work *work) {
  tt_plan *plan;
  tutti_status status = tt_lower_rank(work->lowering, work->options->text_rank, &plan);
  if (status != TUTTI_OK)
    return status;
  char *text = tt_plan_print(plan);
  if (text)
    fputs(text, stdout);
  else
    status = TUTTI_ERR_MEMORY;
  free(text);
  tt_plan_destroy(plan);
  return status;
}

static tutti_status show(plan_work *work) {
  const plan_options *options = work->options;
  if (options->composition) {
    char *text = tt_ir_print(&work->composition, &work->arena);
    fputs(text ? text : "", stdout);
    return TUTTI_OK;
  }
  if (options->text_rank >= 0)
    return print_text(work);
  tutti_status status = plan_work_lower(work);
  bool to_stdout = (options->svg && !strcmp(options->svg, "-")) || (options->dot && !strcmp(options->dot, "-"));
  if (status == TUTTI_OK && !to_stdout)
    plan_report_print(work);
  return status == TUTTI_OK ? plan_picture_write(work) : status;
}

/* What there is, where the error may be about a name. */
static void print_names(const plan_work *work) {
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  fputs("  presets:", stderr);
  for (size_t n = 0; n < count; n++)
    fprintf(stderr, " %s", preset[n].name);
  fputs("\n  levels here:", stderr);
  for (int n = 0; n < work->topo->level_count; n++)
    fprintf(stderr, " %s", work->topo->level[n].name);
  fprintf(stderr, "%s\n", work->topo->level_count == 1 ? " (--nodes or --groups adds node)" : "");
}

int tt_tool_plan(int argc, char **argv) {
  plan_options options;
  plan_work work;
  int parsed = plan_options_parse(argc, argv, &options);
  if (parsed != 0)
    return parsed > 0 ? EXIT_SUCCESS : 2;
  if (strcmp(options.params, "all") == 0)
    return plan_presets_print(&options) == TUTTI_OK ? EXIT_SUCCESS : EXIT_FAILURE;
  tutti_status status = plan_work_open(&options, options.params, &work);
  if (status == TUTTI_OK)
    status = show(&work);
  if (status != TUTTI_OK)
    fprintf(stderr, "tutti plan: %s\n", tutti_last_error());
  if (status == TUTTI_ERR_PLAN)
    print_names(&work);
  plan_work_close(&work);
  return status == TUTTI_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
