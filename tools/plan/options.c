/* tools/plan/options.c - the command line of `tutti plan`. */
#include "options.h"
#include "graph.h"

#include "lower/lower.h"
#include "tools/shared/shared.h"
#include "topo/topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MOST (1 << 20)
#define RANKS_ALL_MOST (1 << 16) /* with all presets, some of which have as many steps */
#define SIZE_MOST ((int64_t)1 << 40)

static const char help[] =
    "usage: tutti plan COLLECTIVE -n N [options]\n"
    "\n"
    "Compiles a collective and prints its composition, its levels, and what each rank sends.\n"
    "\n"
    "  -n N               number of ranks (not needed if --groups gives it)\n"
    "  --nodes N          place the ranks on N nodes, in rank order\n"
    "  --groups MAP       place each rank on a node: 4x8, 7,8,3,1 (sizes), cyclic:4, or 0,0,1,0: (the map itself)\n"
    "  --params TEXT      parameters or a preset (docs/plan.md), default [core:star]; all: a row for each preset\n"
    "  --root R           root, for collectives that have one\n"
    "  --graph GRAPH      for neighbor collectives: 4x4, a periodic grid; or a file with a line for each edge: 0 1\n"
    "  --in-place         in and out are the same memory\n"
    "  --ordered          the operator does not commute\n"
    "  --no-publish       give streams one reader each, also inside a node, where shared memory allows more\n"
    "  --alloc            with --sizes: use buffers of tutti_alloc\n"
    "  --by-rank          with --sizes: show the media of each rank\n"
    "  --composition      print only the composition\n"
    "  --text             print only the claim and the plans of all ranks, for tutti verify --plan\n"
    "  --rank R           print only rank R's plan\n"
    "  --svg FILE         write a picture: rounds across, ranks down (- is standard output)\n"
    "  --dot FILE         write the dependency graph of all steps\n"
    "\n"
    "--sizes shows the media of each message (docs/plan.md) and modelled times. `--params all` and the options of "
    "the\n"
    "model show times too:\n"
    "\n"
    "  --sizes LIST       bytes: 8,64K,16M\n"
    "  --alpha TIME       time of a message between two ranks, at all levels: 500ns, 2us\n"
    "  --beta RATE        ns a byte\n"
    "  --gamma RATE       ns a byte combined\n"
    "  --model TEXT       the whole model: core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.1,links=1;gamma=0.05\n"
    "  --measure          measure alpha, beta and gamma between two ranks of this machine\n"
    "\n"
    "collectives: ";

static void print_collectives(FILE *out) {
  for (int c = 0, width = 13; c < TT_COLLECTIVE_COUNT; c++) {
    const char *name = tt_compose_info((tt_collective)c).name;
    bool breaks = width + (int)strlen(name) > 100;
    width = (breaks ? 2 : width) + (int)strlen(name) + 2;
    fprintf(out, "%s%s%s", c ? "," : "", breaks ? "\n  " : c ? " " : "", name);
  }
  fputc('\n', out);
}

static void print_shapes(void) {
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    printf("  %s%-*s %s\n", info->k_most ? "K-" : "", info->k_most ? 16 : 18, info->name, info->tree);
  }
}

static void print_help(void) {
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  fputs(help, stdout);
  print_collectives(stdout);
  puts("\nshapes, as trees over labels from 0, the root:");
  print_shapes();
  puts("\npresets:");
  for (size_t n = 0; n < count; n++)
    printf("  %-18s %s\n  %18s %s\n", preset[n].name, preset[n].text, "", preset[n].help);
}

#define FAIL(...) tool_fail("plan", TOOL_WRONG, __VA_ARGS__)

static int read_number(const char *name, const char *text, int64_t least, int64_t *number) {
  bool right = tool_read_number(text, least, INT32_MAX, number);
  return right ? 0 : FAIL("%s %s: expected a number from %" PRId64 " to %d", name, text, least, INT32_MAX);
}

/* ---- options with a value that is looked at ---- */

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  print_help();
  return TOOL_HELPED;
}

static int take_collective(void *to, const char *name) {
  plan_options *options = to;
  if (options->collective)
    return FAIL("one collective at a time: '%s' or '%s'?", options->collective, name);
  options->collective = name;
  return 0;
}

static int take_ranks(void *to, const char *text) {
  plan_options *options = to;
  return read_number("-n", text, 1, &options->problem.rank_count);
}

static int take_nodes(void *to, const char *text) {
  plan_options *options = to;
  return read_number("--nodes", text, 1, &options->node_count);
}

static int take_root(void *to, const char *text) {
  plan_options *options = to;
  return read_number("--root", text, 0, &options->problem.root);
}

static int take_rank(void *to, const char *text) {
  plan_options *options = to;
  return read_number("--rank", text, 0, &options->text_rank);
}

static int take_sizes(void *to, const char *text) {
  plan_options *options = to;
  char *copy = strdup(text), *rest = NULL;
  options->size_count = 0;
  options->models = true;
  int result = copy ? 0 : FAIL("no memory");
  for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word && result == 0; word = strtok_r(NULL, ",", &rest)) {
    int64_t bytes;
    if (options->size_count == PLAN_SIZES)
      result = FAIL("--sizes %s: more than %d sizes", text, PLAN_SIZES);
    else if (tt_parse_bytes(word, &bytes) != TUTTI_OK || bytes < 1 || bytes > SIZE_MOST)
      result = FAIL("--sizes %s: '%s' is not a size from 1 to 1024G, such as 8, 64K, 1M or 2G", text, word);
    else
      options->size[options->size_count++] = bytes;
  }
  free(copy);
  return result == 0 && options->size_count == 0 ? FAIL("--sizes: no size is given") : result;
}

/* Later ones change what earlier ones say. */
static int add_model(plan_options *options, const char *name, const char *value) {
  size_t used = strlen(options->model);
  int length = snprintf(options->model + used, PLAN_MODEL - used, "%s%s%s", used ? ";" : "", name, value);
  options->models = true;
  return (size_t)length < PLAN_MODEL - used ? 0 : FAIL("the model is longer than %d characters", PLAN_MODEL - 1);
}

static int take_alpha(void *options, const char *time) { return add_model(options, "alpha=", time); }
static int take_beta(void *options, const char *rate) { return add_model(options, "beta=", rate); }
static int take_gamma(void *options, const char *rate) { return add_model(options, "gamma=", rate); }
static int take_model(void *options, const char *text) { return add_model(options, "", text); }

static int take_measure(void *to, const char *value) {
  plan_options *options = to;
  (void)value;
  options->measure = options->models = true;
  return 0;
}

#define AT(member) offsetof(plan_options, member)

static const tool_option rows[] = {
    {NULL, 1, TOOL_TAKE, 0, take_collective},
    {NULL, 'n', TOOL_TAKE, 0, take_ranks},
    {"nodes", 0, TOOL_TAKE, 0, take_nodes},
    {"groups", 0, TOOL_TEXT, AT(map), NULL},
    {"params", 0, TOOL_TEXT, AT(params), NULL},
    {"root", 0, TOOL_TAKE, 0, take_root},
    {"graph", 0, TOOL_TEXT, AT(graph_text), NULL},
    {"in-place", 0, TOOL_SET, AT(problem.in_place), NULL},
    {"ordered", 0, TOOL_SET, AT(problem.ordered), NULL},
    {"no-publish", 0, TOOL_CLEAR, AT(publish), NULL},
    {"publish", 0, TOOL_SET, AT(publish), NULL}, /* as it is anyway */
    {"text", 0, TOOL_SET, AT(text), NULL},
    {"composition", 0, TOOL_SET, AT(composition), NULL},
    {"rank", 0, TOOL_TAKE, 0, take_rank},
    {"svg", 0, TOOL_TEXT, AT(svg), NULL},
    {"dot", 0, TOOL_TEXT, AT(dot), NULL},
    {"sizes", 0, TOOL_TAKE, 0, take_sizes},
    {"alpha", 0, TOOL_TAKE, 0, take_alpha},
    {"beta", 0, TOOL_TAKE, 0, take_beta},
    {"gamma", 0, TOOL_TAKE, 0, take_gamma},
    {"model", 0, TOOL_TAKE, 0, take_model},
    {"measure", 0, TOOL_DO, 0, take_measure},
    {"alloc", 0, TOOL_SET, AT(alloc), NULL},
    {"by-rank", 0, TOOL_SET, AT(by_rank), NULL},
    {"help", 'h', TOOL_DO, 0, take_help},
};

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

static int check_parts(const plan_options *options) {
  bool all = strcmp(options->params, "all") == 0;
  if ((options->alloc || options->by_rank) && (options->size_count == 0 || all))
    return FAIL("%s needs --sizes and a single preset", options->alloc ? "--alloc" : "--by-rank");
  if (options->problem.rank_count > RANKS_MOST)
    return FAIL("-n %" PRId64 ": the limit is %d ranks", options->problem.rank_count, RANKS_MOST);
  if (options->problem.rank_count > RANKS_ALL_MOST && all)
    return FAIL("--params all: the limit is %d ranks", RANKS_ALL_MOST);
  if ((options->text || options->text_rank >= 0) && all)
    return FAIL("--params all: name one preset to print plans as text");
  return 0;
}

static int check_ranks(plan_options *options) {
  tt_problem *problem = &options->problem;
  if (count_map(options) != 0 || read_graph(options) != 0)
    return TOOL_WRONG;
  if (problem->rank_count < 1)
    return FAIL("the number of ranks is missing; add -n N");
  if (check_parts(options) != 0)
    return TOOL_WRONG;
  if (options->map && options->node_count)
    return FAIL("--nodes and --groups both place ranks; give only one of them");
  if (options->node_count > problem->rank_count)
    return FAIL("--nodes %" PRId64 " exceeds the %" PRId64 " ranks", options->node_count, problem->rank_count);
  if (problem->root >= problem->rank_count)
    return FAIL("--root %" PRId64 " is not a rank below %" PRId64, problem->root, problem->rank_count);
  if (options->text_rank >= problem->rank_count)
    return FAIL("--rank %" PRId64 " is not a rank below %" PRId64, options->text_rank, problem->rank_count);
  if (problem->root && !tt_compose_info(problem->collective).has_root)
    return FAIL("--root: %s has no root", tt_compose_info(problem->collective).name);
  return 0;
}

void plan_options_finish(plan_options *options) { tt_arena_finish(&options->arena); }

int plan_options_parse(int argc, char **argv, plan_options *options) {
  *options = (plan_options){.params = "", .text_rank = -1, .publish = true};
  tt_arena_init(&options->arena);
  int result = tool_options_read(argc, argv, "-", rows, TT_COUNT(rows), options);
  if (result == TOOL_UNKNOWN)
    return FAIL("see tutti plan --help");
  if (result != TOOL_GO_ON)
    return result;
  options->problem.collective = options->collective ? tt_compose_find(options->collective) : TT_COLLECTIVE_COUNT;
  if (options->problem.collective == TT_COLLECTIVE_COUNT) {
    FAIL(options->collective ? "unknown collective '%s'" : "the collective is missing", options->collective);
    fputs("collectives: ", stderr);
    print_collectives(stderr);
    return TOOL_WRONG;
  }
  return check_ranks(options);
}
