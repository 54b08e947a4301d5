/* tools/bench/options.c - the command line of `tutti bench`. */
#include "bench.h"

#include "bench/cores.h"
#include "bench/layout.h"
#include "dtype/dtype.h"
#include "lower/lower.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char help[] =
    "usage: tutti bench COLLECTIVE... [options]\n"
    "\n"
    "Measures collectives and checks their results; `all` means every collective. It starts ranks on this machine. If\n"
    "a launcher starts it, as in `mpirun -n 16 tutti bench allreduce`, each process is a rank of the job.\n"
    "\n"
    "  -n N               ranks (default: one a core, at least 2)\n"
    "  --sizes LIST       bytes of the whole vector: 8,64K,1M or 8..64M in powers of 4 (default 8..64M)\n"
    "  --per-pair         sizes are bytes of one block instead, such as one rank has for another\n"
    "  --type TYPE        type of the elements (default float32)\n"
    "  --op OPERATOR      operator of reductions (default sum)\n"
    "  --params TEXT      a preset, a parameter text, or `all` presets; may be repeated (default: the profile's\n"
    "                     choice)\n"
    "  --against LIST     compare with openmpi, mpich; openmpi+tutti, mpich+tutti run their programs under\n"
    "                     tutti mpirun\n"
    "  --against LIBRARY:NAME=ARGUMENTS   compare with the library once more, with these launcher arguments, such as\n"
    "                     'openmpi:han=--mca coll_han_priority 100'; may be repeated\n"
    "  --launch COMMAND   start the ranks of every library with this launcher, such as 'mpirun -n 16 --hostfile h' or\n"
    "                     'srun -n 16': a job of each library in turn; their times are pairs\n"
    "  --launch-openmpi COMMAND, --launch-mpich COMMAND   another launcher for that library, with the same placement\n"
    "  --rounds N         number of jobs of each library (default 9)\n"
    "  --rate RATE        bits a second of each NIC, such as 100M or 25G (default: from the system)\n"
    "  --nics             also count the bytes that pass the NICs\n"
    "  --levels           show where the time of tutti's calls goes: moving and waiting at each level of the machine\n"
    "  --reproducible     also measure the same parameters with `reproducible`, to show what it costs\n"
    "  --library NAME     measure this instead of tutti\n"
    "  --mode MODE        blocking (default) or persistent calls of tutti\n"
    "  --overlap          measure how much of a non-blocking call a computation hides\n"
    "  --apart            put a barrier, which is not timed, before each call: no rank runs ahead to the next call\n"
    "  --sparse           all-to-allv and -w: each rank sends to two others only\n"
    "  --alloc            use buffers of tutti_alloc\n"
    "  --cores N          use only the first N cores and leave the others for progress threads\n"
    "  --delay PERCENT    lengthen each call by PERCENT of its time, to see whether a comparison would notice\n"
    "  --seconds S        approximate time for a point (default 1); 0: a single round\n"
    "  --no-check         do not compare results\n"
    "  --json FILE        also write the rows to FILE\n";

/* ---- what may be named ---- */

static const char *collective_name(int number) { return tt_compose_info((tt_collective)number).name; }
static const char *type_name(int number) { return tutti_type_name((tutti_type)number); }
static const char *op_name(int number) { return tutti_op_name((tutti_op)number); }

/* "\ntypes: float32, float64, ..." in lines of at most 100 letters or so. */
static void print_names(FILE *to, const char *what, const char *(*name)(int number), int count) {
  int column = fprintf(to, "\n%s:", what);
  for (int n = 0; n < count; n++) {
    if (column > 90)
      column = fprintf(to, "\n   ");
    column += fprintf(to, " %s%s", name(n), n + 1 < count ? "," : "\n");
  }
}

static void print_help(void) {
  fputs(help, stdout);
  print_names(stdout, "collectives", collective_name, TT_COLLECTIVE_COUNT);
  print_names(stdout, "types", type_name, TUTTI_TYPE_COUNT);
  print_names(stdout, "operators", op_name, TUTTI_OP_COUNT);
}

static int64_t default_rank_count(void) {
  int core[1024], cores = bench_cores(core, (int)TT_COUNT(core));
  return cores < 2 ? 2 : cores;
}

static int add_size(bench_options *options, int64_t bytes) {
  if (options->size_count == BENCH_SIZES)
    return bench_fail("--sizes: more than %d sizes", BENCH_SIZES);
  options->size[options->size_count++] = bytes;
  return 0;
}

/* "8", or "8..64M": powers of 4 times the first, and the last. */
static int add_sizes(bench_options *options, char *text) {
  int64_t first, last;
  char *dots = strstr(text, "..");
  if (dots)
    *dots = '\0';
  if (tt_parse_bytes(text, &first) != TUTTI_OK || tt_parse_bytes(dots ? dots + 2 : text, &last) != TUTTI_OK)
    return bench_fail("--sizes: %s", tutti_last_error());
  if (first < 1 || last < first)
    return bench_fail("--sizes: %s..%s is not a range of sizes >= 1", text, dots ? dots + 2 : text);
  for (int64_t bytes = first; bytes<last; bytes = bytes> last / 4 ? last : 4 * bytes)
    if (add_size(options, bytes) != 0)
      return -1;
  return add_size(options, last);
}

static int parse_sizes(bench_options *options, const char *list) {
  char copy[1024], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", list);
  options->size_count = 0;
  for (char *text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest))
    if (add_sizes(options, text) != 0)
      return -1;
  return options->size_count > 0 ? 0 : bench_fail("--sizes: no size in '%s'", list);
}

static int add_params(bench_options *options, const char *text) {
  size_t preset_count = 0;
  const tt_preset *preset = tt_preset_table(&preset_count);
  tt_params parsed;
  bool all = strcmp(text, "all") == 0;
  if (!all && *text && tt_params_parse(text, &parsed) != TUTTI_OK)
    return bench_fail("--params: %s", tutti_last_error());
  size_t added = all ? preset_count : 1;
  if ((size_t)options->params_count + added > BENCH_PARAMS)
    return bench_fail("--params: more than %d parameter texts", BENCH_PARAMS);
  options->params_all = options->params_all || all;
  for (size_t i = 0; i < added; i++)
    options->params[options->params_count++] = all ? preset[i].name : text;
  return 0;
}

static int add_collective(bench_options *options, const char *name) {
  bool all = strcmp(name, "all") == 0;
  tt_collective one = tt_compose_find(name);
  if (!all && one == TT_COLLECTIVE_COUNT) {
    bench_fail("unknown collective '%s'", name);
    if (!bench_is_quiet())
      print_names(stderr, "collectives", collective_name, TT_COLLECTIVE_COUNT);
    return -1;
  }
  for (int c = all ? 0 : (int)one; c <= (all ? TT_COLLECTIVE_COUNT - 1 : (int)one); c++) {
    if (options->collective_count == TT_COLLECTIVE_COUNT)
      return bench_fail("a collective is given twice");
    options->collective[options->collective_count++] = (tt_collective)c;
  }
  return 0;
}

static int parse_type(bench_options *options, const char *name) {
  options->type = tt_dtype_find(name);
  if (options->type < TUTTI_TYPE_COUNT)
    return 0;
  bench_fail("--type: unknown type '%s'", name);
  print_names(stderr, "types", type_name, TUTTI_TYPE_COUNT);
  return -1;
}

static int parse_op(bench_options *options, const char *name) {
  options->op = tt_dtype_find_op(name);
  if (options->op < TUTTI_OP_COUNT)
    return 0;
  bench_fail("--op: unknown operator '%s'", name);
  print_names(stderr, "operators", op_name, TUTTI_OP_COUNT);
  return -1;
}

/* The operator must fit where it is used. */
static int check_arithmetic(const bench_options *options) {
  for (int c = 0; c < options->collective_count; c++)
    if (bench_forms[options->collective[c]].sum != BENCH_NO_SUM && !tutti_op_fits(options->op, options->type))
      return bench_fail("%s: --op %s does not combine elements of --type %s",
                        collective_name((int)options->collective[c]), tutti_op_name(options->op),
                        tutti_type_name(options->type));
  return 0;
}

static int parse_rank_count(bench_options *options, const char *text) {
  char *end;
  long long count = strtoll(text, &end, 10);
  if (*end != '\0' || end == text || count < 1 || count > 4096)
    return bench_fail("-n: '%s' is not a number from 1 to 4096", text);
  options->rank_count = count;
  options->ranks_given = true;
  return 0;
}

static int parse_rounds(bench_options *options, const char *text) {
  char *end;
  long long count = strtoll(text, &end, 10);
  if (*end != '\0' || end == text || count < 1 || count > BENCH_ROUNDS_MAX)
    return bench_fail("--rounds: '%s' is not a number from 1 to %d", text, BENCH_ROUNDS_MAX);
  options->round_count = count;
  return 0;
}

/* "100M", "2.5G", also "100mbit": powers of 1000, as NICs count. */
static int parse_rate(bench_options *options, const char *text) {
  static const char units[] = "kmgt";
  char *end;
  double rate = strtod(text, &end);
  const char *unit = end != text && *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
  if (unit)
    rate *= pow(1000, (double)(unit - units + 1));
  end += unit != NULL;
  if (end == text || (*end != '\0' && strcasecmp(end, "bit") != 0) || !(rate >= 1 && rate < 1e15))
    return bench_fail("--rate: '%s' is not a rate such as 100M or 25G (bits a second)", text);
  options->rate = (int64_t)rate;
  return 0;
}

static int parse_launch(bench_options *options, int which, const char *text) {
  if (text[strspn(text, " ")] == '\0')
    return bench_fail("--launch: '%s' is not a launcher such as 'mpirun -n 8'", text);
  options->launch[which] = text;
  options->launched = true;
  return 0;
}

static int parse_cores(bench_options *options, const char *text) {
  char *end;
  long cores = strtol(text, &end, 10);
  if (*end != '\0' || end == text || cores < 1 || cores > 1024)
    return bench_fail("--cores: '%s' is not a number from 1 to 1024", text);
  options->core_count = (int)cores;
  return 0;
}

static int parse_seconds(bench_options *options, const char *text) {
  char *end;
  double seconds = strtod(text, &end);
  if (*end != '\0' || end == text || !(seconds >= 0 && seconds <= 3600))
    return bench_fail("--seconds: '%s' is not a number from 0 to 3600", text);
  options->seconds = seconds;
  return 0;
}

static int parse_delay(bench_options *options, const char *text) {
  char *end;
  double percent = strtod(text, &end);
  if (*end != '\0' || end == text || !(percent > 0 && percent <= 1000))
    return bench_fail("--delay: '%s' is not a percentage above 0, up to 1000", text);
  options->delay = percent / 100;
  return 0;
}

static int check_delay(const bench_options *options) {
  if (options->delay > 0 && (options->launched || options->overlap))
    return bench_fail("--delay does not work with %s", options->launched ? "--launch" : "--overlap");
  return 0;
}

static int parse_mode(bench_options *options, const char *text) {
  options->mode = strcmp(text, "persistent") == 0 ? BENCH_PERSISTENT : BENCH_BLOCKING;
  if (options->mode == BENCH_BLOCKING && strcmp(text, "blocking") != 0)
    return bench_fail("--mode: '%s' is neither blocking nor persistent", text);
  return 0;
}

enum {
  SIZES = 256,
  PER_PAIR,
  TYPE,
  OP,
  PARAMS,
  AGAINST,
  REPRODUCIBLE,
  LAUNCH,
  LAUNCH_OPENMPI,
  LAUNCH_MPICH,
  ROUNDS,
  RATE,
  NICS,
  LEVELS,
  LIBRARY,
  MODE,
  OVERLAP,
  APART,
  SPARSE,
  ALLOC,
  CORES,
  DELAY,
  SECONDS,
  CHECK,
  NO_CHECK,
  JSON
};

static const struct option long_options[] = {
    {"sizes", required_argument, NULL, SIZES},
    {"per-pair", no_argument, NULL, PER_PAIR},
    {"type", required_argument, NULL, TYPE},
    {"op", required_argument, NULL, OP},
    {"params", required_argument, NULL, PARAMS},
    {"against", required_argument, NULL, AGAINST},
    {"launch", required_argument, NULL, LAUNCH},
    {"launch-openmpi", required_argument, NULL, LAUNCH_OPENMPI},
    {"launch-mpich", required_argument, NULL, LAUNCH_MPICH},
    {"rounds", required_argument, NULL, ROUNDS},
    {"rate", required_argument, NULL, RATE},
    {"nics", no_argument, NULL, NICS},
    {"levels", no_argument, NULL, LEVELS},
    {"reproducible", no_argument, NULL, REPRODUCIBLE},
    {"library", required_argument, NULL, LIBRARY},
    {"mode", required_argument, NULL, MODE},
    {"overlap", no_argument, NULL, OVERLAP},
    {"apart", no_argument, NULL, APART},
    {"sparse", no_argument, NULL, SPARSE},
    {"alloc", no_argument, NULL, ALLOC},
    {"cores", required_argument, NULL, CORES},
    {"delay", required_argument, NULL, DELAY},
    {"seconds", required_argument, NULL, SECONDS},
    {"check", no_argument, NULL, CHECK},
    {"no-check", no_argument, NULL, NO_CHECK},
    {"json", required_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

typedef struct library_names {
  const char *measured, *against[BENCH_GROUPS];
  int against_count;
  bool reproducible;
} library_names;

/* Options without a value: each sets one thing. */
static bool set_flag(bench_options *options, library_names *names, int which) {
  bool *const flags[] = {
      [PER_PAIR - SIZES] = &options->per_pair,   [REPRODUCIBLE - SIZES] = &names->reproducible,
      [NICS - SIZES] = &options->nics,           [OVERLAP - SIZES] = &options->overlap,
      [SPARSE - SIZES] = &options->sparse,       [APART - SIZES] = &options->apart,
      [ALLOC - SIZES] = &options->shared_memory, [CHECK - SIZES] = &options->check,
      [NO_CHECK - SIZES] = &options->check,      [LEVELS - SIZES] = &options->levels,
  };
  if (which < SIZES || (size_t)(which - SIZES) >= TT_COUNT(flags) || !flags[which - SIZES])
    return false;
  *flags[which - SIZES] = which != NO_CHECK;
  return true;
}

static int parse_option(bench_options *options, library_names *names, int which, const char *value) {
  if (set_flag(options, names, which))
    return 0;
  switch (which) {
  case 'n':
    return parse_rank_count(options, value);
  case SIZES:
    return parse_sizes(options, value);
  case TYPE:
    return parse_type(options, value);
  case OP:
    return parse_op(options, value);
  case PARAMS:
    return add_params(options, value);
  case AGAINST:
    if (names->against_count == BENCH_GROUPS)
      return bench_fail("--against: given more than %d times", BENCH_GROUPS);
    names->against[names->against_count++] = value;
    return 0;
  case LAUNCH:
    return parse_launch(options, BENCH_LAUNCH, value);
  case LAUNCH_OPENMPI:
    return parse_launch(options, BENCH_LAUNCH_OPENMPI, value);
  case LAUNCH_MPICH:
    return parse_launch(options, BENCH_LAUNCH_MPICH, value);
  case ROUNDS:
    return parse_rounds(options, value);
  case RATE:
    return parse_rate(options, value);
  case LIBRARY:
    names->measured = value;
    return 0;
  case MODE:
    return parse_mode(options, value);
  case CORES:
    return parse_cores(options, value);
  case DELAY:
    return parse_delay(options, value);
  case SECONDS:
    return parse_seconds(options, value);
  case JSON:
    options->json = value;
    return 0;
  case 'h':
    print_help();
    return 1;
  default:
    return bench_fail("see `tutti bench --help`");
  }
}

static int add_libraries(bench_options *options, const library_names *names) {
  if (bench_libraries_add(options, names->measured) != 0)
    return -1;
  for (int i = 0; i < names->against_count; i++)
    if (bench_libraries_add(options, names->against[i]) != 0)
      return -1;
  if (names->reproducible && bench_libraries_add(options, "reproducible") != 0)
    return -1;
  return bench_libraries_check(options);
}

int bench_options_parse(int argc, char **argv, bench_options *options) {
  char default_sizes[] = "8..64M";
  library_names names = {.measured = "tutti"};
  *options = (bench_options){.rank_count = default_rank_count(), .seconds = 1, .check = true, .round_count = 9};
  add_sizes(options, default_sizes);
  optind = 0;
  for (int which, result; (which = getopt_long(argc, argv, "hn:", long_options, NULL)) != -1;)
    if ((result = parse_option(options, &names, which, optarg)) != 0)
      return result;
  for (int i = optind; i < argc; i++)
    if (add_collective(options, argv[i]) != 0)
      return -1;
  if (options->collective_count == 0)
    return bench_fail("no collective; see `tutti bench --help`");
  if (options->params_count == 0)
    options->params[options->params_count++] = "";
  return check_arithmetic(options) == 0 && check_delay(options) == 0 ? add_libraries(options, &names) : -1;
}
