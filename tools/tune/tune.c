/* tools/tune/tune.c - `tutti tune`: rank 0 goes through all tasks, writes what it has found after each, and tells
 * people.
 *
 *     tutti tune                 becomes `tutti run -n N tutti tune ...`
 *     mpirun -n 16 tutti tune    this process is one of the ranks */
#include "tune.h"
#include "against.h"
#include "options.h"
#include "rates.h"
#include "search.h"

#include "tools/export/export.h"
#include "tools/learn/learn.h"
#include "tools/regret/regret.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Powers of two, and all; on several machines all. */
static void choose_ranks(const tune_ranks *all, tune_options *options) {
  if (options->rank_kinds > 0)
    return;
  for (int64_t ranks = 2; ranks < all->size && !all->world->apart && options->rank_kinds < TUNE_RANKS - 1; ranks *= 2)
    options->ranks[options->rank_kinds++] = ranks;
  options->ranks[options->rank_kinds++] = all->size;
}

static tutti_status check_ranks(const tune_ranks *all, const tune_options *options) {
  for (int n = 0; n < options->rank_kinds; n++)
    if (options->ranks[n] > all->size)
      return tt_fail(TUTTI_ERR_ARGUMENT, "--ranks %" PRId64 ": the job has %" PRId64 " ranks; see -n",
                     options->ranks[n], all->size);
  return TUTTI_OK;
}

typedef struct files { /* what is there before the job begins */
  tune_search search;
  regret *regret;
} files;

static tutti_status open_files(const tune_options *options, const char *name, files *of) {
  return options->regret ? regret_open(options, &of->regret) : tune_search_open(&of->search, name);
}

static void close_files(files *of) {
  tune_search_close(&of->search);
  regret_close(of->regret);
}

static tutti_status run_lead(tune_ranks *all, tune_options *options, files *of) {
  tutti_status status = tt_comm_place(all->world);
  choose_ranks(all, options);
  if (status == TUTTI_OK)
    status = check_ranks(all, options);
  bool began = status == TUTTI_OK;
  if (began)
    status = options->regret  ? regret_run(of->regret, all)
             : options->fit   ? tune_rates_run(all, options, of->search.path, of->search.machine)
             : options->learn ? learn_run(all, options, of->search.path, of->search.machine)
                              : tune_search_run(&of->search, all, options);
  if (status == TUTTI_OK || !began)
    tune_lead_end(all);
  return status;
}

/* What is measured is compared with the rules that ship, as jobs have them, and no plan is proved first; before any
 * option is read. */
static void forget_variables(void) {
  setenv("TUTTI_WISDOM", "off", 1);
  unsetenv("TUTTI_PARAMS");
  unsetenv("TUTTI_PROFILE");
  unsetenv("TUTTI_VERIFY");
  unsetenv("TUTTI_TIMEOUT"); /* the others wait while rank 0 computes */
}

static int run_rank(tune_options *options, int64_t rank) {
  static tune_ranks all;
  static files of;
  char name[TT_WISDOM_PATH];
  const char *given = getenv("TUTTI_WISDOM");
  snprintf(name, sizeof name, "%s", given ? given : "");
  if (!options->regret)
    forget_variables();
  tutti_status status = rank == 0 ? open_files(options, name, &of) : TUTTI_OK;
  if (status == TUTTI_OK)
    status = tune_ranks_open(&all);
  if (status == TUTTI_OK)
    status = all.rank == 0 ? run_lead(&all, options, &of) : tune_ranks_serve(&all);
  if (status != TUTTI_OK)
    tool_fail("tune", 0, "%s", tutti_last_error());
  tune_ranks_close(&all);
  close_files(&of);
  return status == TUTTI_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* This program again, as the ranks of a job; alone: all ranks are one communicator. */
static void exec_job(int64_t ranks, bool alone, int argc, char **argv) {
  tool_words line = {.count = 0};
  tool_words_add_job(&line, "tune", ranks, argc, argv);
  if (alone)
    tool_words_add(&line, "--ranks");
  if (alone)
    tool_words_add_number(&line, ranks);
  if (!line.failed)
    execv(line.word[0], line.word);
  tool_fail("tune", 0, "cannot start %s", line.failed ? "ranks" : line.word[0]);
  tool_words_finish(&line);
}

static int start_ranks(const tune_options *options, int argc, char **argv) {
  int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
  exec_job(options->rank_count ? options->rank_count : cores < 2 ? 2 : cores, false, argc, argv);
  return EXIT_FAILURE;
}

/* Ranks that have cores of their own wait otherwise than those that share: so each number of ranks has a job. */
static int start_jobs(const tune_options *options, int argc, char **argv) {
  static const int64_t usual[] = {2, 3, 4, 8};
  int count = options->rank_kinds ? options->rank_kinds : (int)TT_COUNT(usual);
  for (int n = 0; n < count; n++) {
    int state = 0;
    pid_t job = fork();
    if (job == 0) {
      exec_job(options->rank_kinds ? options->ranks[n] : usual[n], true, argc, argv);
      _exit(EXIT_FAILURE);
    }
    if (job < 0 || waitpid(job, &state, 0) != job || !WIFEXITED(state))
      return tool_fail("tune", EXIT_FAILURE, "a job was ended");
    if (WEXITSTATUS(state) != EXIT_SUCCESS)
      return WEXITSTATUS(state);
  }
  return EXIT_SUCCESS;
}

int tt_tool_tune(int argc, char **argv) {
  static tune_options options;
  int64_t rank;
  bool is_rank = tool_is_rank(&rank);
  int result = tune_options_parse(argc, argv, &options);
  if (result != TOOL_GO_ON)
    return result == TOOL_HELPED ? EXIT_SUCCESS : TOOL_MISUSED;
  if (options.mpi)
    return is_rank ? tool_misused("tune", "--mpi starts the MPI's own launcher: not under another one")
                   : tune_against_mpi(&options, argc, argv);
  if (options.library)
    return export_run(options.library, options.export_path);
  if (is_rank)
    return run_rank(&options, rank);
  return options.regret && !options.rank_count ? start_jobs(&options, argc, argv) : start_ranks(&options, argc, argv);
}
