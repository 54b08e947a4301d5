/* tools/plan/options.c - the command line of `tutti plan`. */
#include "options.h"

#include "lower/lower.h"
#include "tools/shared/shared.h"
#include "topo/topo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_ALL_MOST (1 << 16) /* with all presets, some of which have as many steps */

static const char help[] =
    "usage: tutti plan COLLECTIVE -n N [options]\n"
    "\n"
    "Compiles a collective and prints its composition, its levels, and what each rank sends.\n"
    "\n"
    "  -n N               number of ranks (not needed if --groups gives it)\n"
    "  --nodes N          place the ranks on N nodes, in rank order\n"
    "  --groups MAP       place each rank on a node: 4x8, 7,8,3,1 (sizes), cyclic:4, or 0,0,1,0: (the map itself)\n"
    "  --switches N       put the nodes on N switches, in their order; 8,64: 64 of them, and 8 above those\n"
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
    "  --json             print parameters, counts, and the times of --sizes, for programs\n"
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
    "  --also CALL        make this call at the same time, on another communicator: 'broadcast size=1M root=3 at=5us\n"
    "                     params=binomial'; can be given several times\n"
    "\n"
    "A model also names single links and ranks: node.0.1:load=50% (others take half of link 1 of node 0),\n"
    "node.*.1:beta=0.2 (a slower second NIC), rank.3:load=50% (of its core), rank.3:late=5us.\n"
    "\n"
    "collectives: ";

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
  plan_print_collectives(stdout);
  puts("\nshapes, as trees over labels from 0, the root:");
  print_shapes();
  puts("\npresets:");
  for (size_t n = 0; n < count; n++)
    printf("  %-18s %s\n  %18s %s\n", preset[n].name, preset[n].text, "", preset[n].help);
}

#define FAIL(...) tool_fail("plan", TOOL_WRONG, __VA_ARGS__)

/* ---- options with a value that is looked at ---- */

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  print_help();
  return TOOL_HELPED;
}

static int take_rank(void *to, const char *text) {
  plan_options *options = to;
  return plan_read_number(options, "--rank", text, 0, &options->text_rank);
}

/* Each of a list of numbers splits the next one. */
static int take_switches(void *to, const char *text) {
  plan_options *options = to;
  options->switches.levels = 0;
  for (const char *at = text, *before = NULL; at != before;) {
    char word[16] = "";
    size_t length = strcspn(at, ",");
    memcpy(word, at, length < sizeof word ? length : sizeof word - 1);
    if (options->switches.levels == PLAN_SWITCHES)
      return FAIL("--switches %s: more than %d levels", text, PLAN_SWITCHES);
    if (plan_read_number(options, "--switches", word, 1, &options->switches.count[options->switches.levels++]) != 0)
      return TOOL_WRONG;
    before = at + length;
    at = before + (*before == ',');
  }
  return 0;
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
    else if (tt_parse_bytes(word, &bytes) != TUTTI_OK || bytes < 1 || bytes > PLAN_BYTES_MOST)
      result = FAIL("--sizes %s: '%s' is not a size from 1 to 1024G, such as 8, 64K, 1M or 2G", text, word);
    else
      options->size[options->size_count++] = bytes;
  }
  free(copy);
  return result == 0 && options->size_count == 0 ? FAIL("--sizes: no size is given") : result;
}

static int take_measure(void *to, const char *value) {
  plan_options *options = to;
  (void)value;
  options->measure = options->models = true;
  return 0;
}

#define AT(member) offsetof(plan_options, member)

static const tool_option rows[] = {
    PLAN_SUBJECT_ROWS,
    {NULL, 1, TOOL_TAKE, 0, plan_take_collective},
    {"params", 0, TOOL_TEXT, AT(params), NULL},
    {"switches", 0, TOOL_TAKE, 0, take_switches},
    {"text", 0, TOOL_SET, AT(only.text), NULL},
    {"composition", 0, TOOL_SET, AT(only.composition), NULL},
    {"json", 0, TOOL_SET, AT(only.json), NULL},
    {"rank", 0, TOOL_TAKE, 0, take_rank},
    {"svg", 0, TOOL_TEXT, AT(picture.svg), NULL},
    {"dot", 0, TOOL_TEXT, AT(picture.dot), NULL},
    {"sizes", 0, TOOL_TAKE, 0, take_sizes},
    {"measure", 0, TOOL_DO, 0, take_measure},
    {"also", 0, TOOL_TAKE, 0, plan_take_also},
    {"alloc", 0, TOOL_SET, AT(alloc), NULL},
    {"by-rank", 0, TOOL_SET, AT(by_rank), NULL},
    {"help", 'h', TOOL_DO, 0, take_help},
};

/* ---- what goes together ---- */

static bool is_stdout(const char *path) { return path && strcmp(path, "-") == 0; }

static int check_pictures(const plan_options *options) {
  const char *svg = options->picture.svg, *dot = options->picture.dot;
  const char *beside = options->only.composition         ? "--composition"
                       : options->only.text              ? "--text"
                       : options->text_rank >= 0         ? "--rank"
                       : !strcmp(options->params, "all") ? "--params all"
                                                         : NULL;
  if ((svg || dot) && beside)
    return FAIL("%s draws nothing with %s", svg ? "--svg" : "--dot", beside);
  if (options->only.json + is_stdout(svg) + is_stdout(dot) > 1)
    return FAIL("%s and a picture cannot both go to standard output; name a file for the picture",
                options->only.json ? "--json" : "a graph");
  return 0;
}

/* Each is all of the output. */
static int check_only(const plan_options *options) {
  const char *text = options->text_rank >= 0 ? "--rank" : options->only.text ? "--text" : NULL;
  if (options->only.json + options->only.composition + (text != NULL) > 1)
    return FAIL("only one of --json, --composition and %s can be printed", text ? text : "--text");
  return 0;
}

static int check_parts(const plan_options *options) {
  bool all = strcmp(options->params, "all") == 0;
  if ((options->alloc || options->by_rank) && (options->size_count == 0 || all))
    return FAIL("%s needs --sizes and a single preset", options->alloc ? "--alloc" : "--by-rank");
  if (options->problem.rank_count > RANKS_ALL_MOST && all)
    return FAIL("--params all: the limit is %d ranks", RANKS_ALL_MOST);
  if ((options->only.text || options->text_rank >= 0) && all)
    return FAIL("--params all: name one preset to print plans as text");
  if (options->only.json && (all || options->measure || options->also.count > 0))
    return FAIL("--json is of one preset, without --measure and --also");
  return check_only(options) == 0 ? check_pictures(options) : TOOL_WRONG;
}

static int check_switches(const plan_options *options) {
  if (options->switches.levels > 0 && options->node_count == 0)
    return FAIL("--switches needs --nodes");
  for (int n = 0; n < options->switches.levels; n++) {
    bool last = n + 1 == options->switches.levels;
    int64_t below = last ? options->node_count : options->switches.count[n + 1];
    if (options->switches.count[n] > below)
      return FAIL("--switches: %" PRId64 " switches exceed the %" PRId64 " %s below them", options->switches.count[n],
                  below, last ? "nodes" : "switches");
  }
  return 0;
}

static int check_all(plan_options *options) {
  int result = plan_subject_check(options);
  options->models = options->models || options->only.json || strcmp(options->params, "all") == 0;
  if (result == 0)
    result = check_switches(options);
  if (result == 0)
    result = plan_also_check(options);
  if (result == 0)
    result = check_parts(options);
  if (result == 0 && options->text_rank >= options->problem.rank_count)
    return FAIL("--rank %" PRId64 " is not a rank below %" PRId64, options->text_rank, options->problem.rank_count);
  return result;
}

void plan_options_finish(plan_options *options) { tt_arena_finish(&options->arena); }

int plan_options_parse(int argc, char **argv, plan_options *options) {
  plan_subject_init("plan", options);
  options->text_rank = -1;
  int result = tool_options_read(argc, argv, "-", rows, TT_COUNT(rows), options);
  if (result == TOOL_UNKNOWN)
    return FAIL("see tutti plan --help");
  return result == TOOL_GO_ON ? check_all(options) : result;
}
