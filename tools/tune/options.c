/* tools/tune/options.c - the arguments of `tutti tune`. */
#include "options.h"

#include "tools/shared/shared.h"

#include <getopt.h> /* optind */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tutti tune [COLLECTIVE...] [options]\n"
    "\n"
    "Measures which parameters are fastest on this machine, and writes them to a file that later jobs use: the wisdom "
    "of\n"
    "this machine, by default below ~/.cache/tutti (TUTTI_WISDOM names another file). It starts ranks on this machine. "
    "If\n"
    "a launcher starts it, as in `mpirun -n 16 tutti tune`, each process is a rank of the job. What has been measured "
    "is\n"
    "kept when it is interrupted, and is not measured again.\n"
    "\n"
    "  -n N               ranks (default: one a core, at least 2)\n"
    "  --ranks LIST       sizes of communicators, such as 2,4,8 (default: powers of two, and all ranks; on several\n"
    "                     machines all ranks)\n"
    "  --sizes LIST       bytes of the whole vector (default 8,64,512,4K,32K,256K,2M,16M)\n"
    "  --budget TIME      approximate time for everything, such as 90s (default 600s)\n"
    "  --again            also measure what the file has already\n"
    "  --busy             also keep what was measured while other programs used the processors\n"
    "\n"
    "  --fit              measure the machine's rates instead, from messages and copies alone, in some seconds; later\n"
    "                     runs leave out what is far too slow by them\n"
    "  --check            with --fit: also measure how well they predict collectives; default sizes 16K .. 16M\n"
    "\n"
    "  --learn            measure nothing, but learn from what was measured who decides about other lengths and "
    "ranks:\n"
    "                     a classifier, the nearest that was measured, the model (after --fit) or the rules; and "
    "write\n"
    "                     it beside the wisdom. --ranks, --sizes: also those, as the model predicts them\n"
    "\n"
    "  --regret FILE      change nothing, but measure how far what runs now is from the best of the space, and add\n"
    "                     a line of JSON to FILE for each task; without -n in a job for each of --ranks (default\n"
    "                     2,3,4,8); default sizes 24,192,1536,12K,96K,768K,6M, budget 2400s for each job\n"
    "  --profile FILE     with --regret: also what this profile would choose; may be repeated\n"
    "  --wisdom FILE      with --regret: also what this wisdom would choose, from any machine; may be repeated\n"
    "\n"
    "With --mpi it measures where that MPI's own collectives are faster than tutti with its wisdom; MPI programs on "
    "tutti\n"
    "then use them there. Do it after `tutti tune` alone. All ranks are on this machine.\n"
    "\n"
    "  --mpi NAME         openmpi or mpich\n"
    "  --launch WORDS     further arguments of the MPI's launcher, such as '--oversubscribe --allow-run-as-root'\n"
    "\n"
    "  --export LIBRARY FILE\n"
    "                     measure nothing, but write the nearest that another library has to what this machine's "
    "wisdom\n"
    "                     says as its rules (- is standard output). LIBRARY is openmpi, mpich or ucc\n";

static int fail(const char *format, const char *value, const char *why) {
  return tool_fail("tune", TOOL_WRONG, format, value, why);
}

/* Calls `take` with every word between commas, up to `most` of them. */
static int take_list(const char *text, int most, void *user, int (*take)(void *user, int number, const char *word)) {
  char copy[512], *rest = NULL;
  int count = 0;
  if ((size_t)snprintf(copy, sizeof copy, "%s", text) >= sizeof copy)
    return -1;
  for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest), count++)
    if (count == most || take(user, count, word) != 0)
      return -1;
  return count > 0 ? count : -1;
}

static int take_rank(void *user, int number, const char *word) {
  tune_options *options = user;
  return tool_read_number(word, 1, INT32_MAX, &options->ranks[number]) ? 0 : -1;
}

static int take_size(void *user, int number, const char *word) {
  tune_options *options = user;
  return tt_parse_bytes(word, &options->size[number]) == TUTTI_OK && options->size[number] <= INT64_MAX / 64 ? 0 : -1;
}

static int take_ranks(void *user, const char *value) {
  tune_options *options = user;
  options->rank_kinds = take_list(value, TUNE_RANKS, options, take_rank);
  return options->rank_kinds > 0 ? 0 : fail("--ranks %s: %s", value, "numbers from 1 with commas are needed");
}

static int take_sizes(void *user, const char *value) {
  tune_options *options = user;
  options->size_count = take_list(value, TUNE_SIZES, options, take_size);
  return options->size_count > 0 ? 0 : fail("--sizes %s: %s", value, "sizes such as 8,64K,1M are needed");
}

#define BUDGET_MOST_NS (INT64_C(366) * 24 * 3600 * 1000000000)

static int take_count(void *user, const char *value) {
  tune_options *options = user;
  return tool_read_number(value, 1, 4096, &options->rank_count)
             ? 0
             : fail("-n %s: %s", value, "a number from 1 to 4096 is needed");
}

static int take_budget(void *user, const char *value) {
  tune_options *options = user;
  if (tt_parse_time(value, &options->budget_ns) == TUTTI_OK && options->budget_ns > 0 &&
      options->budget_ns <= BUDGET_MOST_NS)
    return 0;
  return fail("--budget %s: %s", value, "a time such as 90s is needed, of at most a year");
}

static int take_named(tune_options *options, const char *kind, const char *file) {
  if (options->named_count == TUNE_NAMED)
    return fail("--%s %s: no more files can be compared", kind, file);
  options->named[options->named_count++] = (tune_named){kind, file};
  return 0;
}

static int take_profile(void *user, const char *value) { return take_named(user, "profile", value); }

static int take_wisdom(void *user, const char *value) { return take_named(user, "wisdom", value); }

static int take_mpi(void *user, const char *value) {
  tune_options *options = user;
  options->mpi = value;
  return strcmp(value, "openmpi") == 0 || strcmp(value, "mpich") == 0
             ? 0
             : fail("--mpi %s: %s", value, "it is neither openmpi nor mpich");
}

static int take_help(void *user, const char *value) {
  (void)user;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

static const tool_option rows[] = {
    {NULL, 'n', TOOL_TAKE, 0, take_count},
    {"ranks", 0, TOOL_TAKE, 0, take_ranks},
    {"sizes", 0, TOOL_TAKE, 0, take_sizes},
    {"budget", 0, TOOL_TAKE, 0, take_budget},
    {"fit", 0, TOOL_SET, offsetof(tune_options, fit), NULL},
    {"check", 0, TOOL_SET, offsetof(tune_options, check), NULL},
    {"learn", 0, TOOL_SET, offsetof(tune_options, learn), NULL},
    {"again", 0, TOOL_SET, offsetof(tune_options, again), NULL},
    {"busy", 0, TOOL_SET, offsetof(tune_options, busy), NULL},
    {"regret", 0, TOOL_TEXT, offsetof(tune_options, regret), NULL},
    {"profile", 0, TOOL_TAKE, 0, take_profile},
    {"wisdom", 0, TOOL_TAKE, 0, take_wisdom},
    {"mpi", 0, TOOL_TAKE, 0, take_mpi},
    {"launch", 0, TOOL_TEXT, offsetof(tune_options, launch), NULL},
    {"export", 0, TOOL_TEXT, offsetof(tune_options, library), NULL},
    {"help", 0, TOOL_DO, 0, take_help},
};

/* All ranks know the lengths of its blocks: what a choice by length can be made for. Those with lists of lengths are
 * tuned as those without, but in an MPI their ways may differ. */
static bool is_tuned(const tune_options *options, tt_collective collective) {
  tt_collective_info info = tt_compose_info(collective);
  bool even = tt_compose_side(collective, TT_IN).length == TT_BY_COUNT &&
              tt_compose_side(collective, TT_OUT).length == TT_BY_COUNT;
  return info.lengths == TT_LENGTHS_ALL && !info.has_graph && (even || options->mpi);
}

static int take_collective(tune_options *options, const char *name) {
  tt_collective collective = tt_compose_find(name);
  if (collective == TT_COLLECTIVE_COUNT)
    return fail("%s: %s", name, "there is no such collective; see tutti bench --help");
  if (!is_tuned(options, collective))
    return fail("%s: %s", name, "its blocks have lengths of their own, so nothing can be chosen by length");
  options->collective[options->collective_count++] = collective;
  return 0;
}

static void add_all(tune_options *options) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    if (is_tuned(options, (tt_collective)c))
      options->collective[options->collective_count++] = (tt_collective)c;
}

static const int64_t tuned_sizes[] = {8, 64, 512, 4096, 32 << 10, 256 << 10, 2 << 20, 16 << 20};
/* As far from two of those as may be. */
static const int64_t held_out_sizes[] = {24, 192, 1536, 12 << 10, 96 << 10, 768 << 10, 6 << 20};

static const int64_t checked_sizes[] = {16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20};

static void set_sizes(tune_options *options) {
  bool regret = options->regret != NULL;
  options->size_count = TT_COUNT(checked_sizes);
  memcpy(options->size, checked_sizes, sizeof checked_sizes);
  if (options->fit)
    return;
  options->size_count = regret ? TT_COUNT(held_out_sizes) : TT_COUNT(tuned_sizes);
  memcpy(options->size, regret ? held_out_sizes : tuned_sizes, (size_t)options->size_count * sizeof *options->size);
}

/* What it is to do is one thing. */
static const char *beside_mpi(const tune_options *options) {
  return options->fit       ? "--fit"
         : options->regret  ? "--regret"
         : options->learn   ? "--learn"
         : options->library ? "--export"
                            : NULL;
}

static int check_together(const tune_options *options) {
  if (options->mpi && beside_mpi(options))
    return fail("--mpi and %s: %s", beside_mpi(options), "one of them at a time");
  if (options->launch && !options->mpi)
    return fail("--launch %s: %s", options->launch, "it is for the MPI of --mpi");
  if (options->check && !options->fit)
    return fail("%s: %s", "--check", "there is nothing to check without --fit");
  if (options->fit && options->regret)
    return fail("--fit and --regret %s: %s", options->regret, "one of them at a time");
  if (options->learn && (options->fit || options->regret))
    return fail("--learn and %s: %s", options->fit ? "--fit" : "--regret", "one of them at a time");
  if (options->named_count > 0 && !options->regret)
    return fail("--%s %s: it is compared with --regret only", options->named[0].kind, options->named[0].file);
  return TOOL_GO_ON;
}

/* The one word besides options is the file. */
static int take_file(int count, char **words, tune_options *options) {
  if (count != 1)
    return fail("--export %s: %s", options->library, "one file is needed, or - for standard output");
  options->export_path = words[0];
  return TOOL_GO_ON;
}

int tune_options_parse(int argc, char **argv, tune_options *options) {
  *options = (tune_options){.budget_ns = 0};
  int result = tool_options_read(argc, argv, "", rows, TT_COUNT(rows), options);
  if (result == TOOL_GO_ON && options->library && !options->mpi)
    return take_file(argc - optind, argv + optind, options);
  for (; result == TOOL_GO_ON && optind < argc; optind++)
    if (options->collective_count == TT_COLLECTIVE_COUNT || take_collective(options, argv[optind]) != 0)
      result = TOOL_WRONG;
  if (options->collective_count == 0)
    add_all(options);
  if (options->size_count == 0)
    set_sizes(options);
  if (options->budget_ns == 0)
    options->budget_ns = (options->regret ? 2400 : 600) * INT64_C(1000000000);
  return result == TOOL_GO_ON ? check_together(options) : result;
}
