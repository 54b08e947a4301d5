/* tools/plan/subject.c - the part of a command line that says which collective, on which ranks, on what machine. */
#include "graph.h"
#include "options.h"

#include "topo/topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FAIL(...) tool_fail(options->command, TOOL_WRONG, __VA_ARGS__)

void plan_print_collectives(FILE *out) {
  for (int c = 0, width = 13; c < TT_COLLECTIVE_COUNT; c++) {
    const char *name = tt_compose_info((tt_collective)c).name;
    bool breaks = width + (int)strlen(name) > 100;
    width = (breaks ? 2 : width) + (int)strlen(name) + 2;
    fprintf(out, "%s%s%s", c ? "," : "", breaks ? "\n  " : c ? " " : "", name);
  }
  fputc('\n', out);
}

int plan_read_number(const plan_options *options, const char *name, const char *text, int64_t least, int64_t *number) {
  bool right = tool_read_number(text, least, INT32_MAX, number);
  return right ? 0 : FAIL("%s %s: expected a number from %" PRId64 " to %d", name, text, least, INT32_MAX);
}

/* ---- options with a value that is looked at ---- */

int plan_take_collective(void *to, const char *name) {
  plan_options *options = to;
  if (options->collective)
    return FAIL("one collective at a time: '%s' or '%s'?", options->collective, name);
  options->collective = name;
  return 0;
}

int plan_take_ranks(void *to, const char *text) {
  plan_options *options = to;
  return plan_read_number(options, "-n", text, 1, &options->problem.rank_count);
}

int plan_take_nodes(void *to, const char *text) {
  plan_options *options = to;
  return plan_read_number(options, "--nodes", text, 1, &options->node_count);
}

int plan_take_root(void *to, const char *text) {
  plan_options *options = to;
  return plan_read_number(options, "--root", text, 0, &options->problem.root);
}

/* Later ones change what earlier ones say. */
static int add_model(plan_options *options, const char *name, const char *value) {
  size_t used = strlen(options->model);
  int length = snprintf(options->model + used, PLAN_MODEL - used, "%s%s%s", used ? ";" : "", name, value);
  options->models = true;
  return (size_t)length < PLAN_MODEL - used ? 0 : FAIL("the model is longer than %d characters", PLAN_MODEL - 1);
}

int plan_take_alpha(void *options, const char *time) { return add_model(options, "alpha=", time); }
int plan_take_beta(void *options, const char *rate) { return add_model(options, "beta=", rate); }
int plan_take_gamma(void *options, const char *rate) { return add_model(options, "gamma=", rate); }
int plan_take_model(void *options, const char *text) { return add_model(options, "", text); }

/* ---- what goes together ---- */

static int read_graph(plan_options *options) {
  tt_problem *problem = &options->problem;
  bool needed = tt_compose_info(problem->collective).has_graph;
  const char *name = tt_compose_info(problem->collective).name;
  if (needed != (options->graph_text != NULL))
    return needed ? FAIL("%s needs --graph 4x4, or --graph with a file of edges", name)
                  : FAIL("--graph: %s does not use a graph", name);
  if (!needed)
    return 0;
  if (plan_graph_read(options->graph_text, problem->rank_count, &options->arena, &options->graph) != TUTTI_OK)
    return FAIL("%s", tutti_last_error());
  problem->graph = &options->graph;
  problem->rank_count = options->graph.rank_count;
  return 0;
}

/* Where -n does not say it, and the map may. */
static int count_map(plan_options *options) {
  tt_problem *problem = &options->problem;
  if (problem->rank_count != 0 || !options->map || options->graph_text)
    return 0;
  problem->rank_count = tt_topo_map_size(options->map);
  if (problem->rank_count > 0)
    return 0;
  return strncmp(options->map, "cyclic:", 7) == 0
             ? FAIL("--groups '%s' does not give the number of ranks; add -n N", options->map)
             : FAIL("--groups '%s' is not a group map; write 4x8, 7,8,3,1, cyclic:4 or 0,0,1,1:", options->map);
}

static int check_places(const plan_options *options) {
  const tt_problem *problem = &options->problem;
  if (options->map && options->node_count)
    return FAIL("--nodes and --groups both place ranks; give only one of them");
  if (options->node_count > problem->rank_count)
    return FAIL("--nodes %" PRId64 " exceeds the %" PRId64 " ranks", options->node_count, problem->rank_count);
  if (problem->root >= problem->rank_count)
    return FAIL("--root %" PRId64 " is not a rank below %" PRId64, problem->root, problem->rank_count);
  if (problem->root && !tt_compose_info(problem->collective).has_root)
    return FAIL("--root: %s has no root", tt_compose_info(problem->collective).name);
  return 0;
}

static int find_collective(plan_options *options) {
  options->problem.collective = options->collective ? tt_compose_find(options->collective) : TT_COLLECTIVE_COUNT;
  if (options->problem.collective != TT_COLLECTIVE_COUNT)
    return 0;
  FAIL(options->collective ? "unknown collective '%s'" : "the collective is missing", options->collective);
  fputs("collectives: ", stderr);
  plan_print_collectives(stderr);
  return TOOL_WRONG;
}

int plan_subject_check(plan_options *options) {
  tt_problem *problem = &options->problem;
  if (find_collective(options) != 0 || count_map(options) != 0)
    return TOOL_WRONG;
  if (problem->rank_count > PLAN_RANKS_MOST)
    return FAIL("-n %" PRId64 ": the limit is %d ranks", problem->rank_count, PLAN_RANKS_MOST);
  if (read_graph(options) != 0)
    return TOOL_WRONG;
  if (problem->rank_count < 1)
    return FAIL("the number of ranks is missing; add -n N");
  return check_places(options);
}

void plan_subject_init(const char *command, plan_options *options) {
  *options = (plan_options){.command = command, .params = "", .publish = true};
  tt_arena_init(&options->arena);
}
