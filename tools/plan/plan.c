/* tools/plan/plan.c - `tutti plan`: compiles a collective as the library would, and shows what came out. */
#include "plan.h"
#include "json.h"
#include "measure.h"
#include "picture.h"
#include "ranking.h"
#include "report.h"

#include "tools/shared/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MOST 64 /* of more, a report looks at a sample */

/* Prints what tt_plan_print and its like have made. */
static tutti_status put_text(char *text) {
  if (!text)
    return TUTTI_ERR_MEMORY;
  fputs(text, stdout);
  free(text);
  return TUTTI_OK;
}

static tutti_status print_rank(const plan_work *work, int64_t rank) {
  tt_plan *plan;
  tutti_status status = tt_lower_rank(work->lowering, rank, &plan);
  if (status != TUTTI_OK)
    return status;
  status = put_text(tt_plan_print(plan));
  tt_plan_destroy(plan);
  return status;
}

static tutti_status print_claim(const plan_work *work) {
  const tt_problem *problem = &work->options->problem;
  tt_collective_info info = tt_compose_info(problem->collective);
  tt_graph graph = info.has_graph ? *problem->graph : (tt_graph){.rank_count = 0};
  tt_plan_claim claim = {.rank_count = problem->rank_count,
                         .block_count = work->composition.block_count,
                         .root = info.has_root ? problem->root : -1,
                         .in_place = problem->in_place,
                         .ordered = problem->ordered,
                         .reproducible = work->params.reproducible,
                         .edge_count = graph.edge_count,
                         .from = graph.from,
                         .to = graph.to};
  snprintf(claim.collective, sizeof claim.collective, "%s", info.name);
  return put_text(tt_plan_claim_print(&claim));
}

/* One rank's plan, or those of all ranks and what they claim to do. */
static tutti_status print_text(const plan_work *work) {
  if (work->options->text_rank >= 0)
    return print_rank(work, work->options->text_rank);
  tutti_status status = print_claim(work);
  for (int64_t r = 0; r < work->composition.rank_count && status == TUTTI_OK && !ferror(stdout); r++)
    status = print_rank(work, r);
  return status;
}

static tutti_status show(plan_work *work) {
  const plan_options *options = work->options;
  if (options->only.composition) {
    char *text = tt_ir_print(&work->composition, &work->arena);
    fputs(text ? text : "", stdout);
    return TUTTI_OK;
  }
  if (options->only.text || options->text_rank >= 0)
    return print_text(work);
  tutti_status status = plan_work_lower(work, options->models ? PLAN_SIMULATED : RANKS_MOST);
  bool to_stdout = (options->picture.svg && !strcmp(options->picture.svg, "-")) ||
                   (options->picture.dot && !strcmp(options->picture.dot, "-"));
  if (status == TUTTI_OK && options->only.json)
    status = plan_json_print(work);
  else if (status == TUTTI_OK && !to_stdout)
    status = plan_report_print(work);
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

static tutti_status show_one(const plan_options *options) {
  plan_work work;
  tutti_status status = plan_work_open(options, options->params, &work);
  if (status == TUTTI_OK)
    status = show(&work);
  if (status != TUTTI_OK)
    tool_fail("plan", -1, "%s", tutti_last_error());
  if (status == TUTTI_ERR_PLAN)
    print_names(&work);
  plan_work_close(&work);
  return status;
}

/* Before all rates that the user gives come those of this machine. */
static tutti_status measure(plan_options *options) {
  char measured[PLAN_MODEL], given[PLAN_MODEL];
  tutti_status status = plan_measure(measured);
  if (status != TUTTI_OK)
    return status;
  fprintf(stderr, "measured between two ranks of this machine: %s\n", measured);
  memcpy(given, options->model, sizeof given);
  int length = snprintf(options->model, PLAN_MODEL, "%s;%s", measured, given);
  return length < PLAN_MODEL ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "the model is too long");
}

static tutti_status show_all(const plan_options *options) {
  tutti_status status = plan_ranking_print(options);
  if (status != TUTTI_OK)
    tool_fail("plan", -1, "%s", tutti_last_error());
  return status;
}

int tt_tool_plan(int argc, char **argv) {
  plan_options options;
  int parsed = plan_options_parse(argc, argv, &options);
  int code = parsed < 0 ? TOOL_MISUSED : EXIT_SUCCESS;
  if (parsed == 0 && options.measure && measure(&options) != TUTTI_OK) {
    code = tool_fail("plan", EXIT_FAILURE, "%s", tutti_last_error());
  } else if (parsed == 0) {
    bool all = strcmp(options.params, "all") == 0;
    code = (all ? show_all(&options) : show_one(&options)) == TUTTI_OK ? EXIT_SUCCESS : EXIT_FAILURE;
  }
  plan_options_finish(&options);
  return code;
}
