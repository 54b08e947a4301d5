/* tools/plan_options.c - the command line of `tutti plan`. */
#include "plan.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_collectives(FILE *out) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    fprintf(out, "%s%s", c ? ", " : "", tt_compose_info((tt_collective)c).name);
  fputc('\n', out);
}

static void print_help(void) {
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  fputs("usage: tutti plan COLLECTIVE -n N [options]\n\n"
        "Compiles a collective and prints what it is made of, its levels, and what each rank sends.\n\n"
        "  -n N               ranks (not needed where --groups says it)\n"
        "  --nodes N          the ranks lie on N nodes, in rank order\n"
        "  --groups MAP       which node each rank lies on: 4x8, 7,8,3,1 (sizes), cyclic:4, or 0,0,1,0: (the map "
        "itself)\n"
        "  --params TEXT      parameters or a preset (docs/plan.md); all: a row for each preset; default [core:star]\n"
        "  --root R           of a broadcast\n"
        "  --in-place         in and out are the same memory\n"
        "  --publish          streams inside a node may have several readers, as in shared memory\n"
        "  --composition      print the composition only\n"
        "  --text             print rank 0's plan only, as text\n"
        "  --rank R           print rank R's plan only\n"
        "  --svg FILE         write a picture: rounds across, ranks down (- is standard output)\n"
        "  --dot FILE         write the dependency graph of all steps\n\ncollectives: ",
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
    return fail("%s %s: a number from %lld to %d is needed", name, text, (long long)least, INT32_MAX);
  *number = value;
  return 0;
}

enum { NODES = 256, GROUPS, PARAMS, ROOT, IN_PLACE, PUBLISH, COMPOSITION, TEXT, RANK, SVG, DOT, HELP };

static const struct option table[] = {
    {"nodes", required_argument, NULL, NODES},
    {"groups", required_argument, NULL, GROUPS},
    {"params", required_argument, NULL, PARAMS},
    {"root", required_argument, NULL, ROOT},
    {"in-place", no_argument, NULL, IN_PLACE},
    {"publish", no_argument, NULL, PUBLISH},
    {"text", no_argument, NULL, TEXT},
    {"composition", no_argument, NULL, COMPOSITION},
    {"rank", required_argument, NULL, RANK},
    {"svg", required_argument, NULL, SVG},
    {"dot", required_argument, NULL, DOT},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

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
    options->publish = true;
    return 0;
  case COMPOSITION:
    options->composition = true;
    return 0;
  case TEXT:
    options->text_rank = options->text_rank < 0 ? 0 : options->text_rank;
    return 0;
  case HELP:
    print_help();
    return 1;
  default:
    return fail("see tutti plan --help");
  }
}

static int check_ranks(plan_options *options) {
  tt_problem *problem = &options->problem;
  int64_t mapped = options->map ? tt_topo_map_size(options->map) : 0;
  if (problem->rank_count == 0)
    problem->rank_count = mapped;
  if (problem->rank_count < 1 || problem->rank_count > INT32_MAX)
    return fail("how many ranks? Give -n N");
  if (options->map && options->node_count)
    return fail("--nodes and --groups both say which ranks lie together; give one of them");
  if (options->node_count > problem->rank_count)
    return fail("--nodes %lld is more than the %lld ranks", (long long)options->node_count,
                (long long)problem->rank_count);
  if (problem->root >= problem->rank_count)
    return fail("--root %lld is no rank below %lld", (long long)problem->root, (long long)problem->rank_count);
  if (options->text_rank >= problem->rank_count)
    return fail("--rank %lld is no rank below %lld", (long long)options->text_rank, (long long)problem->rank_count);
  if (problem->root && !tt_compose_info(problem->collective).has_root)
    return fail("--root: %s has no root", tt_compose_info(problem->collective).name);
  return 0;
}

int plan_options_parse(int argc, char **argv, plan_options *options) {
  *options = (plan_options){.params = "", .text_rank = -1};
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
    fail(collective ? "there is no collective '%s'" : "which collective?", collective);
    fputs("collectives: ", stderr);
    print_collectives(stderr);
    return -1;
  }
  return check_ranks(options);
}
