/* tools/plan/options.c - the command line of `tutti plan`. */
#include "plan.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MOST (1 << 20)
#define RANKS_ALL_MOST (1 << 16) /* with all presets, some of which have as many steps */
#define SIZE_MOST ((int64_t)1 << 40)

static void print_collectives(FILE *out) {
  for (int c = 0, width = 13; c < TT_COLLECTIVE_COUNT; c++) {
    const char *name = tt_compose_info((tt_collective)c).name;
    bool breaks = width + (int)strlen(name) > 100;
    width = (breaks ? 2 : width) + (int)strlen(name) + 2;
    fprintf(out, "%s%s%s", c ? "," : "", breaks ? "\n  " : c ? " " : "", name);
  }
  fputc('\n', out);
}

static void print_help(void) {
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  fputs(
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
      "collectives: ",
      stdout);
  print_collectives(stdout);
  puts("\npresets:");
  for (size_t n = 0; n < count; n++)
    printf("  %-18s %s\n  %18s %s\n", preset[n].name, preset[n].text, "", preset[n].help);
}

static int fail(const char *format, ...) TT_PRINTF(1, 2);
static int fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fputs("tutti plan: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return -1;
}

static int read_number(const char *name, const char *text, int64_t least, int64_t *number) {
  char *rest;
  errno = 0;
  long long value = strtoll(text, &rest, 10);
  if (rest == text || *rest || errno || value < least || value > INT32_MAX)
    return fail("%s %s: expected a number from %lld to %d", name, text, (long long)least, INT32_MAX);
  *number = value;
  return 0;
}

enum {
  NODES = 256,
  GROUPS,
  PARAMS,
  ROOT,
  GRAPH,
  IN_PLACE,
  ORDERED,
  NO_PUBLISH,
  PUBLISH,
  COMPOSITION,
  TEXT,
  RANK,
  SVG,
  DOT,
  SIZES,
  ALPHA,
  BETA,
  GAMMA,
  MODEL,
  MEASURE,
  ALLOC,
  BY_RANK,
  HELP
};

static const struct option table[] = {
    {"nodes", required_argument, NULL, NODES},
    {"groups", required_argument, NULL, GROUPS},
    {"params", required_argument, NULL, PARAMS},
    {"root", required_argument, NULL, ROOT},
    {"graph", required_argument, NULL, GRAPH},
    {"in-place", no_argument, NULL, IN_PLACE},
    {"ordered", no_argument, NULL, ORDERED},
    {"no-publish", no_argument, NULL, NO_PUBLISH},
    {"publish", no_argument, NULL, PUBLISH}, /* as it is anyway */
    {"text", no_argument, NULL, TEXT},
    {"composition", no_argument, NULL, COMPOSITION},
    {"rank", required_argument, NULL, RANK},
    {"svg", required_argument, NULL, SVG},
    {"dot", required_argument, NULL, DOT},
    {"sizes", required_argument, NULL, SIZES},
    {"alpha", required_argument, NULL, ALPHA},
    {"beta", required_argument, NULL, BETA},
    {"gamma", required_argument, NULL, GAMMA},
    {"model", required_argument, NULL, MODEL},
    {"measure", no_argument, NULL, MEASURE},
    {"alloc", no_argument, NULL, ALLOC},
    {"by-rank", no_argument, NULL, BY_RANK},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static int read_sizes(const char *text, plan_options *options) {
  char *copy = strdup(text), *rest = NULL;
  options->size_count = 0;
  options->models = true;
  int result = copy ? 0 : fail("no memory");
  for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word && result == 0; word = strtok_r(NULL, ",", &rest)) {
    int64_t bytes;
    if (options->size_count == PLAN_SIZES)
      result = fail("--sizes %s: more than %d sizes", text, PLAN_SIZES);
    else if (tt_parse_bytes(word, &bytes) != TUTTI_OK || bytes < 1 || bytes > SIZE_MOST)
      result = fail("--sizes %s: '%s' is not a size from 1 to 1024G, such as 8, 64K, 1M or 2G", text, word);
    else
      options->size[options->size_count++] = bytes;
  }
  free(copy);
  return result == 0 && options->size_count == 0 ? fail("--sizes: no size is given") : result;
}

/* Later ones change what earlier ones say. */
static int add_model(plan_options *options, const char *name, const char *value) {
  size_t used = strlen(options->model);
  int length = snprintf(options->model + used, PLAN_MODEL - used, "%s%s%s", used ? ";" : "", name, value);
  options->models = true;
  return (size_t)length < PLAN_MODEL - used ? 0 : fail("the model is longer than %d characters", PLAN_MODEL - 1);
}

static int take_model(int option, plan_options *options) {
  switch (option) {
  case SIZES:
    return read_sizes(optarg, options);
  case ALPHA:
    return add_model(options, "alpha=", optarg);
  case BETA:
    return add_model(options, "beta=", optarg);
  case GAMMA:
    return add_model(options, "gamma=", optarg);
  case MODEL:
    return add_model(options, "", optarg);
  default:
    options->measure = options->models = true;
    return 0;
  }
}

static int take_option(int option, plan_options *options) {
  switch (option) {
  case 'n':
    return read_number("-n", optarg, 1, &options->problem.rank_count);
  case NODES:
    return read_number("--nodes", optarg, 1, &options->node_count);
  case ROOT:
    return read_number("--root", optarg, 0, &options->problem.root);
  case RANK:
    return read_number("--rank", optarg, 0, &options->text_rank);
  case GROUPS:
    options->map = optarg;
    return 0;
  case PARAMS:
    options->params = optarg;
    return 0;
  case SVG:
    options->svg = optarg;
    return 0;
  case DOT:
    options->dot = optarg;
    return 0;
  case IN_PLACE:
    options->problem.in_place = true;
    return 0;
  case PUBLISH:
  case NO_PUBLISH:
    options->publish = option == PUBLISH;
    return 0;
  case COMPOSITION:
    options->composition = true;
    return 0;
  case ALLOC:
    options->alloc = true;
    return 0;
  case BY_RANK:
    options->by_rank = true;
    return 0;
  case TEXT:
    options->text = true;
    return 0;
  case GRAPH:
    options->graph_text = optarg;
    return 0;
  case ORDERED:
    options->problem.ordered = true;
    return 0;
  case SIZES:
  case ALPHA:
  case BETA:
  case GAMMA:
  case MODEL:
  case MEASURE:
    return take_model(option, options);
  case HELP:
    print_help();
    return 1;
  default:
    return fail("see tutti plan --help");
  }
}

static int read_graph(plan_options *options) {
  tt_problem *problem = &options->problem;
  bool needed = tt_compose_info(problem->collective).has_graph;
  const char *name = tt_compose_info(problem->collective).name;
  if (needed != (options->graph_text != NULL))
    return needed ? fail("%s needs --graph 4x4, or --graph with a file of edges", name)
                  : fail("--graph: %s does not use a graph", name);
  if (!needed)
    return 0;
  if (plan_graph_read(options->graph_text, problem->rank_count, &options->arena, &options->graph) != TUTTI_OK)
    return fail("%s", tutti_last_error());
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
             ? fail("--groups '%s' does not give the number of ranks; add -n N", options->map)
             : fail("--groups '%s' is not a group map; write 4x8, 7,8,3,1, cyclic:4 or 0,0,1,1:", options->map);
}

static int check_ranks(plan_options *options) {
  tt_problem *problem = &options->problem;
  if (count_map(options) != 0 || read_graph(options) != 0)
    return -1;
  if (problem->rank_count < 1)
    return fail("the number of ranks is missing; add -n N");
  if ((options->alloc || options->by_rank) && (options->size_count == 0 || strcmp(options->params, "all") == 0))
    return fail("%s needs --sizes and a single preset", options->alloc ? "--alloc" : "--by-rank");
  if (problem->rank_count > RANKS_MOST)
    return fail("-n %lld: the limit is %d ranks", (long long)problem->rank_count, RANKS_MOST);
  if (problem->rank_count > RANKS_ALL_MOST && strcmp(options->params, "all") == 0)
    return fail("--params all: the limit is %d ranks", RANKS_ALL_MOST);
  if ((options->text || options->text_rank >= 0) && strcmp(options->params, "all") == 0)
    return fail("--params all: name one preset to print plans as text");
  if (options->map && options->node_count)
    return fail("--nodes and --groups both place ranks; give only one of them");
  if (options->node_count > problem->rank_count)
    return fail("--nodes %lld exceeds the %lld ranks", (long long)options->node_count, (long long)problem->rank_count);
  if (problem->root >= problem->rank_count)
    return fail("--root %lld is not a rank below %lld", (long long)problem->root, (long long)problem->rank_count);
  if (options->text_rank >= problem->rank_count)
    return fail("--rank %lld is not a rank below %lld", (long long)options->text_rank, (long long)problem->rank_count);
  if (problem->root && !tt_compose_info(problem->collective).has_root)
    return fail("--root: %s has no root", tt_compose_info(problem->collective).name);
  return 0;
}

void plan_options_finish(plan_options *options) { tt_arena_finish(&options->arena); }

int plan_options_parse(int argc, char **argv, plan_options *options) {
  *options = (plan_options){.params = "", .text_rank = -1, .publish = true};
  tt_arena_init(&options->arena);
  const char *collective = NULL;
  optind = 0; /* argv[0] is the subcommand's own */
  for (int option; (option = getopt_long(argc, argv, "-n:h", table, NULL)) != -1;) {
    if (option == 1 && collective)
      return fail("one collective at a time: '%s' or '%s'?", collective, optarg);
    if (option == 1)
      collective = optarg;
    else if (option == 'h')
      return print_help(), 1;
    int result = option == 1 ? 0 : take_option(option, options);
    if (result != 0)
      return result;
  }
  options->problem.collective = collective ? tt_compose_find(collective) : TT_COLLECTIVE_COUNT;
  if (options->problem.collective == TT_COLLECTIVE_COUNT) {
    fail(collective ? "unknown collective '%s'" : "the collective is missing", collective);
    fputs("collectives: ", stderr);
    print_collectives(stderr);
    return -1;
  }
  return check_ranks(options);
}
