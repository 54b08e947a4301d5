/* tools/explain/options.c - the command line of `tutti explain`. Ranks, nodes and the model are told as to
 * `tutti plan`. */
#include "options.h"

#include "dtype/dtype.h"

#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: tutti explain COLLECTIVE LENGTH -n N [options]\n"
    "\n"
    "Says which parameters a call runs with, and who has decided that (docs/tuning.md): the program, TUTTI_PARAMS, "
    "wisdom\n"
    "or the profile, with file and line; what the others would have chosen; and all that the call could run with, by\n"
    "predicted time. It asks the functions that the call itself asks, with the environment of this process. LENGTH is\n"
    "the bytes of the whole vector, as in `tutti tune`: 8, 64K, 1M. Blocking, started and persistent calls run alike.\n"
    "\n"
    "  -n N               number of ranks (not needed if --groups gives it)\n"
    "  --nodes N          place the ranks on N nodes, in rank order (default: as TUTTI_GROUPS or TUTTI_NODES says)\n"
    "  --groups MAP       place each rank on a node: 4x8, 7,8,3,1 (sizes), cyclic:4, or 0,0,1,0: (the map itself)\n"
    "  --nics N           network cards of a node (default: as many as this machine uses)\n"
    "  --cores N          cores of a node (default: as many as this machine has)\n"
    "  --type TYPE        of the elements (default float32)\n"
    "  --op OP            that combines them (default sum)\n"
    "  --ordered          an operator of the program, which does not commute\n"
    "  --root R           root, for collectives that have one\n"
    "  --graph GRAPH      for neighbor collectives: 4x4, a periodic grid; or a file with a line for each edge: 0 1\n"
    "  --in-place         in and out are the same memory\n"
    "  --set TEXT         the program has called tutti_comm_set_params with it\n"
    "  --brief            only who decides\n"
    "  --all              all candidates, and the texts that are none and why (default: the best 20)\n"
    "  --json             for programs\n"
    "\n"
    "Times are predicted by the model of `tutti plan` (--alpha, --beta, --gamma, --model); they decide nothing.\n";

#define FAIL(...) tool_fail("explain", TOOL_WRONG, __VA_ARGS__)

/* ---- options with a value that is looked at ---- */

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

/* The collective, then the length. */
static int take_word(void *to, const char *word) {
  explain_options *options = to;
  if (!options->plan.collective)
    return plan_take_collective(to, word);
  if (options->length >= 0)
    return FAIL("'%s': the collective and the length are there already", word);
  if (tt_parse_bytes(word, &options->length) == TUTTI_OK && options->length <= PLAN_BYTES_MOST)
    return 0;
  return FAIL("'%s' is not a length up to 1024G, such as 8, 64K or 1M", word);
}

static int take_type(void *to, const char *name) {
  explain_options *options = to;
  options->type = tt_dtype_find(name);
  return options->type < TUTTI_TYPE_COUNT ? 0 : FAIL("--type %s: there is no such type; see docs/types.md", name);
}

static int take_op(void *to, const char *name) {
  explain_options *options = to;
  options->op = tt_dtype_find_op(name);
  return options->op < TUTTI_OP_COUNT ? 0 : FAIL("--op %s: there is no such operator; see docs/types.md", name);
}

static int take_nics(void *to, const char *text) {
  explain_options *options = to;
  return plan_read_number(&options->plan, "--nics", text, 0, &options->nics);
}

static int take_cores(void *to, const char *text) {
  explain_options *options = to;
  return plan_read_number(&options->plan, "--cores", text, 1, &options->cores);
}

#define AT(member) offsetof(explain_options, member)

static const tool_option rows[] = {
    PLAN_SUBJECT_ROWS,
    {NULL, 1, TOOL_TAKE, 0, take_word},
    {"nics", 0, TOOL_TAKE, 0, take_nics},
    {"cores", 0, TOOL_TAKE, 0, take_cores},
    {"type", 0, TOOL_TAKE, 0, take_type},
    {"op", 0, TOOL_TAKE, 0, take_op},
    {"set", 0, TOOL_TEXT, AT(set), NULL},
    {"brief", 0, TOOL_SET, AT(brief), NULL},
    {"all", 0, TOOL_SET, AT(all), NULL},
    {"json", 0, TOOL_SET, AT(json), NULL},
    {"help", 'h', TOOL_DO, 0, take_help},
};

/* ---- what goes together ---- */

/* Where the command line places no ranks, variables do, as in a job. */
static void take_places(explain_options *options) {
  const tt_options *set = tt_options_get();
  plan_options *plan = &options->plan;
  options->apart = plan->map || plan->node_count > 1 || *set->nodes;
  if (!plan->map && !plan->node_count && (*set->groups || *set->nodes))
    plan->map = *set->groups ? set->groups : set->nodes;
}

static int check(explain_options *options) {
  take_places(options);
  if (plan_subject_check(&options->plan) != 0)
    return TOOL_WRONG;
  tt_collective_info info = tt_compose_info(options->plan.problem.collective);
  bool barrier = options->plan.problem.collective == TT_BARRIER;
  if (barrier && options->length >= 0)
    return FAIL("a barrier has no length");
  if (!barrier && options->length < 0)
    return FAIL("the length is missing, such as 64K");
  if (options->plan.problem.ordered && !info.reduces)
    return FAIL("--ordered: %s has no operator", info.name);
  if (info.reduces && !tutti_op_fits(options->op, options->type))
    return FAIL("--op %s does not combine %s; see docs/types.md", tt_dtype_op(options->op)->name,
                tt_dtype_type(options->type)->name);
  return TOOL_GO_ON;
}

void explain_options_finish(explain_options *options) { plan_options_finish(&options->plan); }

int explain_options_parse(int argc, char **argv, explain_options *options) {
  *options = (explain_options){.length = -1, .nics = -1, .type = TUTTI_FLOAT32, .op = TUTTI_SUM};
  plan_subject_init("explain", &options->plan);
  options->plan.as_job = true;
  int result = tool_options_read(argc, argv, "-", rows, TT_COUNT(rows), options);
  if (result == TOOL_UNKNOWN)
    return FAIL("see tutti explain --help");
  return result == TOOL_GO_ON ? check(options) : result;
}
