/* tools/bench_options.c - the command line of `tutti bench`, and the tables of collectives and libraries that it names.
 */
#include "bench.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"

const bench_collective_info bench_collectives[BENCH_COLLECTIVE_COUNT] = {
    [BENCH_ALLREDUCE] = {"allreduce", false}, [BENCH_BROADCAST] = {"broadcast", false},
    [BENCH_ALLGATHER] = {"allgather", true},  [BENCH_REDUCE_SCATTER] = {"reduce-scatter", true},
    [BENCH_BARRIER] = {"barrier", false},
};

static const bench_launcher launchers[] = {
    {.name = "tutti", .arguments = "run", .yielding = "", .rank_variable = "TUTTI_RANK"},
    {.name = "openmpi",
     .program = {"mpirun.openmpi"},
     .arguments = "--allow-run-as-root --bind-to none",
     .yielding = "--oversubscribe --mca mpi_yield_when_idle 1",
     .worker = "peer-openmpi",
     .rank_variable = "OMPI_COMM_WORLD_RANK"},
    {.name = "mpich",
     .program = {"mpiexec.mpich", "mpiexec.hydra"},
     .arguments = "-bind-to none",
     .yielding = "-genv BENCH_YIELD 1",
     .worker = "peer-mpich",
     .rank_variable = "PMI_RANK"},
};

static const char help[] =
    "usage: tutti bench COLLECTIVE... [options]\n"
    "\n"
    "Measures collectives (allreduce, broadcast, allgather, reduce-scatter, barrier; all) and checks their results.\n"
    "\n"
    "  -n N               ranks (default: one a core, at least 2)\n"
    "  --sizes LIST       bytes of the whole vector: 8,64K,1M or 8..64M in powers of 4 (default 8..64M)\n"
    "  --params TEXT      a preset, a parameter text, or `all` presets; may be repeated (default: the profile's "
    "choice)\n"
    "  --against LIST     compare with openmpi, mpich\n"
    "  --library NAME     measure this instead of tutti\n"
    "  --mode MODE        blocking (default) or persistent calls of tutti\n"
    "  --alloc            buffers from tutti_alloc\n"
    "  --seconds S        time for a point, about (default 1)\n"
    "  --no-check         do not compare results\n"
    "  --json FILE        write the rows to FILE too\n";

const bench_launcher *bench_launcher_find(const char *name) {
  for (size_t i = 0; i < TT_COUNT(launchers); i++)
    if (strcmp(launchers[i].name, name) == 0)
      return &launchers[i];
  return NULL;
}

static int64_t default_rank_count(void) {
  cpu_set_t set;
  int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 2;
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
    return bench_fail("--sizes: %s..%s is no range of sizes >= 1", text, dots ? dots + 2 : text);
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
  bool all = strcmp(text, "all") == 0;
  size_t added = all ? preset_count : 1;
  if ((size_t)options->params_count + added > BENCH_PARAMS)
    return bench_fail("--params: more than %d", BENCH_PARAMS);
  options->params_all = options->params_all || all;
  for (size_t i = 0; i < added; i++)
    options->params[options->params_count++] = all ? preset[i].name : text;
  return 0;
}

static int add_library(bench_options *options, const char *name) {
  const bench_launcher *launcher = bench_launcher_find(name);
  if (!launcher)
    return bench_fail("there is no library '%s'; there are tutti, openmpi and mpich", name);
  for (int i = 0; i < options->library_count; i++)
    if (options->library[i] == launcher)
      return bench_fail("library '%s' is named twice", name);
  options->library[options->library_count++] = launcher;
  return 0;
}

static int add_peers(bench_options *options, const char *list) {
  char copy[256], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", list);
  for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    if (add_library(options, name) != 0)
      return -1;
  return 0;
}

static int add_collective(bench_options *options, const char *name) {
  bool all = strcmp(name, "all") == 0, found = false;
  for (int c = 0; c < BENCH_COLLECTIVE_COUNT; c++) {
    if (!all && strcmp(bench_collectives[c].name, name) != 0)
      continue;
    found = true;
    if (options->collective_count == BENCH_COLLECTIVE_COUNT)
      return bench_fail("a collective is named twice");
    options->collective[options->collective_count++] = (bench_collective)c;
  }
  return found ? 0
               : bench_fail("there is no collective '%s'; there are allreduce, broadcast, allgather, reduce-scatter, "
                            "barrier and all",
                            name);
}

static int parse_rank_count(bench_options *options, const char *text) {
  char *end;
  long long count = strtoll(text, &end, 10);
  if (*end != '\0' || end == text || count < 1 || count > 4096)
    return bench_fail("-n: '%s' is no number of ranks from 1 to 4096", text);
  options->rank_count = count;
  return 0;
}

static int parse_seconds(bench_options *options, const char *text) {
  char *end;
  double seconds = strtod(text, &end);
  if (*end != '\0' || end == text || !(seconds >= 0 && seconds <= 3600))
    return bench_fail("--seconds: '%s' is no time from 0 to 3600", text);
  options->seconds = seconds;
  return 0;
}

static int parse_mode(bench_options *options, const char *text) {
  options->mode = strcmp(text, "persistent") == 0 ? BENCH_PERSISTENT : BENCH_BLOCKING;
  if (options->mode == BENCH_BLOCKING && strcmp(text, "blocking") != 0)
    return bench_fail("--mode: '%s' is neither blocking nor persistent", text);
  return 0;
}

enum { SIZES = 256, PARAMS, AGAINST, LIBRARY, MODE, ALLOC, SECONDS, CHECK, NO_CHECK, JSON };

static const struct option long_options[] = {
    {"sizes", required_argument, NULL, SIZES},
    {"params", required_argument, NULL, PARAMS},
    {"against", required_argument, NULL, AGAINST},
    {"library", required_argument, NULL, LIBRARY},
    {"mode", required_argument, NULL, MODE},
    {"alloc", no_argument, NULL, ALLOC},
    {"seconds", required_argument, NULL, SECONDS},
    {"check", no_argument, NULL, CHECK},
    {"no-check", no_argument, NULL, NO_CHECK},
    {"json", required_argument, NULL, JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

typedef struct library_names {
  const char *measured, *against;
} library_names;

static int parse_option(bench_options *options, library_names *names, int which, const char *value) {
  switch (which) {
  case 'n':
    return parse_rank_count(options, value);
  case SIZES:
    return parse_sizes(options, value);
  case PARAMS:
    return add_params(options, value);
  case AGAINST:
    names->against = value;
    return 0;
  case LIBRARY:
    names->measured = value;
    return 0;
  case MODE:
    return parse_mode(options, value);
  case ALLOC:
    options->shared_memory = true;
    return 0;
  case SECONDS:
    return parse_seconds(options, value);
  case CHECK:
  case NO_CHECK:
    options->check = which == CHECK;
    return 0;
  case JSON:
    options->json = value;
    return 0;
  case 'h':
    fputs(help, stdout);
    return 1;
  default:
    return bench_fail("see `tutti bench --help`");
  }
}

int bench_options_parse(int argc, char **argv, bench_options *options) {
  char default_sizes[] = "8..64M";
  library_names names = {"tutti", ""};
  *options = (bench_options){.rank_count = default_rank_count(), .seconds = 1, .check = true};
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
  return add_library(options, names.measured) == 0 && add_peers(options, names.against) == 0 ? 0 : -1;
}
