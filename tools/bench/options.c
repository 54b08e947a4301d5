/* tools/bench/options.c - the command line of `tutti bench`. */
#include "options.h"
#include "help.h"
#include "say.h"

#include "bench/cores.h"
#include "bench/layout.h"
#include "dtype/dtype.h"
#include "lower/lower.h"
#include "tools/shared/shared.h"

#include <ctype.h>
#include <getopt.h> /* optind */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- rows ---- */

static int add_size(bench_row_options *rows, int64_t bytes) {
  if (rows->size_count == BENCH_SIZES)
    return bench_fail("--sizes: more than %d sizes", BENCH_SIZES);
  rows->size[rows->size_count++] = bytes;
  return 0;
}

/* "8", or "8..64M": powers of 4 times the first, and the last. */
static int add_sizes(bench_row_options *rows, char *text) {
  int64_t first, last;
  char *dots = strstr(text, "..");
  if (dots)
    *dots = '\0';
  if (tt_parse_bytes(text, &first) != TUTTI_OK || tt_parse_bytes(dots ? dots + 2 : text, &last) != TUTTI_OK)
    return bench_fail("--sizes: %s", tutti_last_error());
  if (first < 1 || last < first)
    return bench_fail("--sizes: %s..%s is not a range of sizes >= 1", text, dots ? dots + 2 : text);
  for (int64_t bytes = first; bytes<last; bytes = bytes> last / 4 ? last : 4 * bytes)
    if (add_size(rows, bytes) != 0)
      return -1;
  return add_size(rows, last);
}

static int take_sizes(void *to, const char *list) {
  bench_row_options *rows = &((bench_options *)to)->rows;
  char copy[1024], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", list);
  rows->size_count = 0;
  for (char *text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest))
    if (add_sizes(rows, text) != 0)
      return -1;
  return rows->size_count > 0 ? 0 : bench_fail("--sizes: no size in '%s'", list);
}

static int take_params(void *to, const char *text) {
  bench_row_options *rows = &((bench_options *)to)->rows;
  size_t preset_count = 0;
  const tt_preset *preset = tt_preset_table(&preset_count);
  tt_params parsed;
  bool all = strcmp(text, "all") == 0, search = strcmp(text, BENCH_SEARCH) == 0;
  rows->search = rows->search || search;
  if (!all && !search && *text && tt_params_parse(text, &parsed) != TUTTI_OK)
    return bench_fail("--params: %s", tutti_last_error());
  size_t added = all ? preset_count : 1;
  if ((size_t)rows->params_count + added > BENCH_PARAMS)
    return bench_fail("--params: more than %d parameter texts", BENCH_PARAMS);
  rows->params_all = rows->params_all || all;
  for (size_t i = 0; i < added; i++)
    rows->params[rows->params_count++] = all ? preset[i].name : text;
  return 0;
}

static int take_limit(void *to, const char *text) {
  bench_row_options *rows = &((bench_options *)to)->rows;
  return tool_read_number(text, 1, INT32_MAX, &rows->limit) ? 0
                                                            : bench_fail("--limit: '%s' is not a number from 1", text);
}

static int add_collective(bench_row_options *rows, const char *name) {
  bool all = strcmp(name, "all") == 0;
  tt_collective one = tt_compose_find(name);
  if (!all && one == TT_COLLECTIVE_COUNT) {
    bench_fail("unknown collective '%s'", name);
    if (!bench_is_quiet())
      bench_help_print_collectives(stderr);
    return -1;
  }
  for (int c = all ? 0 : (int)one; c <= (all ? TT_COLLECTIVE_COUNT - 1 : (int)one); c++) {
    if (rows->collective_count == TT_COLLECTIVE_COUNT)
      return bench_fail("a collective is given twice");
    rows->collective[rows->collective_count++] = (tt_collective)c;
  }
  return 0;
}

/* ---- calls ---- */

static int take_type(void *to, const char *name) {
  tutti_type type = tt_dtype_find(name);
  ((bench_options *)to)->call.type = type;
  if (type < TUTTI_TYPE_COUNT)
    return 0;
  bench_fail("--type: unknown type '%s'", name);
  bench_help_print_types(stderr);
  return -1;
}

static int take_op(void *to, const char *name) {
  tutti_op op = tt_dtype_find_op(name);
  ((bench_options *)to)->call.op = op;
  if (op < TUTTI_OP_COUNT)
    return 0;
  bench_fail("--op: unknown operator '%s'", name);
  bench_help_print_ops(stderr);
  return -1;
}

static int take_mode(void *to, const char *text) {
  bench_mode *mode = &((bench_options *)to)->call.mode;
  *mode = strcmp(text, "persistent") == 0 ? BENCH_PERSISTENT : BENCH_BLOCKING;
  if (*mode == BENCH_BLOCKING && strcmp(text, "blocking") != 0)
    return bench_fail("--mode: '%s' is neither blocking nor persistent", text);
  return 0;
}

/* false: the text is no number. */
static bool read_real(const char *text, double *number) {
  char *end;
  *number = strtod(text, &end);
  return *end == '\0' && end != text;
}

static int take_delay(void *to, const char *text) {
  double percent;
  if (!read_real(text, &percent) || !(percent > 0 && percent <= 1000))
    return bench_fail("--delay: '%s' is not a percentage above 0, up to 1000", text);
  ((bench_options *)to)->call.delay = percent / 100;
  return 0;
}

static int take_seconds(void *to, const char *text) {
  double *seconds = &((bench_options *)to)->seconds;
  if (read_real(text, seconds) && *seconds >= 0 && *seconds <= 3600)
    return 0;
  return bench_fail("--seconds: '%s' is not a number from 0 to 3600", text);
}

/* ---- ranks ---- */

static int take_ranks(void *to, const char *text) {
  bench_rank_options *ranks = &((bench_options *)to)->ranks;
  ranks->given = true;
  return tool_read_number(text, 1, 4096, &ranks->count) ? 0
                                                        : bench_fail("-n: '%s' is not a number from 1 to 4096", text);
}

static int take_cores(void *to, const char *text) {
  int64_t cores;
  if (!tool_read_number(text, 1, 1024, &cores))
    return bench_fail("--cores: '%s' is not a number from 1 to 1024", text);
  ((bench_options *)to)->ranks.core_count = (int)cores;
  return 0;
}

/* ---- libraries, and launchers of the user's ---- */

static int take_against(void *to, const char *text) {
  bench_library_options *library = &((bench_options *)to)->library;
  if (library->against_count == BENCH_GROUPS)
    return bench_fail("--against: given more than %d times", BENCH_GROUPS);
  library->against[library->against_count++] = text;
  return 0;
}

static int add_launch(bench_launch_options *launch, int which, const char *text) {
  if (text[strspn(text, " ")] == '\0')
    return bench_fail("--launch: '%s' is not a launcher such as 'mpirun -n 8'", text);
  launch->command[which] = text;
  launch->given = true;
  return 0;
}

static int take_launch(void *to, const char *text) {
  return add_launch(&((bench_options *)to)->launch, BENCH_LAUNCH, text);
}

static int take_launch_openmpi(void *to, const char *text) {
  return add_launch(&((bench_options *)to)->launch, BENCH_LAUNCH_OPENMPI, text);
}

static int take_launch_mpich(void *to, const char *text) {
  return add_launch(&((bench_options *)to)->launch, BENCH_LAUNCH_MPICH, text);
}

static int take_rounds(void *to, const char *text) {
  bool right = tool_read_number(text, 1, BENCH_ROUNDS_MAX, &((bench_options *)to)->launch.round_count);
  return right ? 0 : bench_fail("--rounds: '%s' is not a number from 1 to %d", text, BENCH_ROUNDS_MAX);
}

/* "100M", "2.5G", also "100mbit": powers of 1000, as NICs count. */
static int take_rate(void *to, const char *text) {
  static const char units[] = "kmgt";
  char *end;
  double rate = strtod(text, &end);
  const char *unit = end != text && *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
  if (unit)
    rate *= pow(1000, (double)(unit - units + 1));
  end += unit != NULL;
  if (end == text || (*end != '\0' && strcasecmp(end, "bit") != 0) || !(rate >= 1 && rate < 1e15))
    return bench_fail("--rate: '%s' is not a rate such as 100M or 25G (bits a second)", text);
  ((bench_options *)to)->launch.rate = (int64_t)rate;
  return 0;
}

/* ---- the table ---- */

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  bench_help_print();
  return TOOL_HELPED;
}

#define AT(member) offsetof(bench_options, member)

static const tool_option table[] = {
    {NULL, 'n', TOOL_TAKE, 0, take_ranks},
    {"sizes", 0, TOOL_TAKE, 0, take_sizes},
    {"per-pair", 0, TOOL_SET, AT(rows.per_pair), NULL},
    {"type", 0, TOOL_TAKE, 0, take_type},
    {"op", 0, TOOL_TAKE, 0, take_op},
    {"params", 0, TOOL_TAKE, 0, take_params},
    {"limit", 0, TOOL_TAKE, 0, take_limit},
    {"against", 0, TOOL_TAKE, 0, take_against},
    {"launch", 0, TOOL_TAKE, 0, take_launch},
    {"launch-openmpi", 0, TOOL_TAKE, 0, take_launch_openmpi},
    {"launch-mpich", 0, TOOL_TAKE, 0, take_launch_mpich},
    {"rounds", 0, TOOL_TAKE, 0, take_rounds},
    {"rate", 0, TOOL_TAKE, 0, take_rate},
    {"nics", 0, TOOL_SET, AT(launch.nics), NULL},
    {"levels", 0, TOOL_SET, AT(levels), NULL},
    {"reproducible", 0, TOOL_SET, AT(library.reproducible), NULL},
    {"library", 0, TOOL_TEXT, AT(library.measured), NULL},
    {"mode", 0, TOOL_TAKE, 0, take_mode},
    {"overlap", 0, TOOL_SET, AT(call.overlap), NULL},
    {"apart", 0, TOOL_SET, AT(call.apart), NULL},
    {"sparse", 0, TOOL_SET, AT(call.sparse), NULL},
    {"alloc", 0, TOOL_SET, AT(call.alloc), NULL},
    {"cores", 0, TOOL_TAKE, 0, take_cores},
    {"delay", 0, TOOL_TAKE, 0, take_delay},
    {"seconds", 0, TOOL_TAKE, 0, take_seconds},
    {"check", 0, TOOL_SET, AT(call.check), NULL},
    {"no-check", 0, TOOL_CLEAR, AT(call.check), NULL},
    {"json", 0, TOOL_TEXT, AT(json), NULL},
    {"help", 'h', TOOL_DO, 0, take_help},
};

/* ---- what goes together ---- */

/* The operator must fit where it is used. */
static int check_arithmetic(const bench_options *options) {
  const bench_call_options *call = &options->call;
  for (int c = 0; c < options->rows.collective_count; c++)
    if (bench_form_of(options->rows.collective[c]).sums && !tutti_op_fits(call->op, call->type))
      return bench_fail("%s: --op %s does not combine elements of --type %s",
                        tt_compose_info(options->rows.collective[c]).name, tutti_op_name(call->op),
                        tutti_type_name(call->type));
  return 0;
}

static int check_call(const bench_options *options) {
  if (options->call.delay > 0 && (options->launch.given || options->call.overlap))
    return bench_fail("--delay does not work with %s", options->launch.given ? "--launch" : "--overlap");
  if (options->call.mode == BENCH_PERSISTENT && options->call.overlap)
    return bench_fail("--mode persistent does not work with --overlap, whose calls are started and waited for");
  return 0;
}

/* What a search cannot be combined with: it measures tutti's plans alone, and prints a table of its own. */
static const char *beside_search(const bench_options *options) {
  const bench_library_options *library = &options->library;
  return options->rows.params_count > 1            ? "another --params"
         : library->against_count > 0              ? "--against"
         : options->launch.given                   ? "--launch; start it as 'mpirun -n 16 tutti bench'"
         : strcmp(library->measured, "tutti") != 0 ? "--library"
         : library->reproducible                   ? "--reproducible"
         : options->call.overlap                   ? "--overlap"
         : options->call.delay > 0                 ? "--delay"
         : options->levels                         ? "--levels"
         : options->launch.nics                    ? "--nics"
         : options->ranks.core_count > 0           ? "--cores"
         : options->json                           ? "--json"
                                                   : NULL;
}

static int check_search(const bench_options *options) {
  const char *beside = options->rows.search ? beside_search(options) : NULL;
  if (beside)
    return bench_fail("--params search does not work with %s", beside);
  if (options->rows.limit > 0 && !options->rows.search)
    return bench_fail("--limit %d: it is for --params search", (int)options->rows.limit);
  for (int c = 0; c < options->rows.collective_count && options->rows.search; c++)
    if (tt_compose_info(options->rows.collective[c]).has_graph)
      return bench_fail("--params search: %s has a graph, for which nothing is searched",
                        tt_compose_info(options->rows.collective[c]).name);
  return 0;
}

static int64_t default_rank_count(void) {
  int core[1024], cores = bench_cores(core, (int)TT_COUNT(core));
  return cores < 2 ? 2 : cores;
}

int bench_options_parse(int argc, char **argv, bench_options *options) {
  char default_sizes[] = "8..64M";
  *options = (bench_options){.call.check = true,
                             .library.measured = "tutti",
                             .launch.round_count = 9,
                             .ranks.count = default_rank_count(),
                             .seconds = 1};
  add_sizes(&options->rows, default_sizes);
  int result = tool_options_read(argc, argv, "", table, TT_COUNT(table), options);
  if (result == TOOL_UNKNOWN)
    return bench_fail("see `tutti bench --help`");
  if (result != TOOL_GO_ON)
    return result;
  for (int i = optind; i < argc; i++)
    if (add_collective(&options->rows, argv[i]) != 0)
      return TOOL_WRONG;
  if (options->rows.collective_count == 0)
    return bench_fail("no collective; see `tutti bench --help`");
  if (options->rows.params_count == 0)
    options->rows.params[options->rows.params_count++] = "";
  bool right = check_arithmetic(options) == 0 && check_call(options) == 0 && check_search(options) == 0;
  return right ? TOOL_GO_ON : TOOL_WRONG;
}
