/* tools/tune/tune.c - `tutti tune`: rank 0 goes through all tasks, writes what it has found after each, and tells
 * people.
 *
 *     tutti tune                 becomes `tutti run -n N tutti tune ...`
 *     mpirun -n 16 tutti tune    this process is one of the ranks */
#include "tune.h"
#include "against.h"
#include "cell.h"
#include "options.h"
#include "rates.h"
#include "samples.h"
#include "task.h"

#include "call/call.h"
#include "tools/export/export.h"
#include "tools/learn/learn.h"
#include "tools/regret/regret.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RACE_NS 500000000

typedef struct lead {
  const tune_options *options;
  tune_ranks *all;
  char path[TT_WISDOM_PATH], machine[TT_MACHINE_TEXT];
  tt_wisdom *known; /* what the file has */
  tt_fits *fits;    /* rates; NULL: none were measured */
  int64_t cells, done, disturbed, start_ns;
  int64_t left_out; /* candidates that the model says are slow */
  bool no_samples;  /* they cannot be written, and people know why */
  double gain;      /* sum of logarithms */
} lead;

/* ---- tasks ---- */

static bool is_known(const lead *of, const tt_region *region) {
  return !of->options->again && tt_wisdom_of(of->known, region);
}

/* What is left is shared by what is left to do. The last tasks take longer than their share: each has some rounds. */
static int64_t share_of(const lead *of) {
  int64_t left_ns = of->options->budget_ns * 19 / 20 - (tt_clock_ns() - of->start_ns), cells = of->cells - of->done;
  return left_ns > 0 ? left_ns / (cells > 0 ? cells : 1) : 0;
}

/* ---- output ---- */

static void print_head(const lead *of) {
  printf("tutti tune: %" PRId64 " ranks, %" PRId64 " tasks, about %.0f s\nwisdom of machine %s goes to %s\n\n",
         of->all->size, of->cells, (double)of->options->budget_ns / 1e9, of->machine, of->path);
  printf("  %-15s %5s %6s %12s %11s %11s %6s  %s\n", "collective", "ranks", "bytes", "tried", "the rules", "winner",
         "gain", "parameters");
}

static void print_row(const tt_region *region, const tune_result *result) {
  char bytes[16], rules[32], time[32], tried[32];
  tt_format_bytes(region->bytes, bytes);
  tool_format_time(result->rules_ns, rules);
  tool_format_time(result->time_ns, time);
  snprintf(tried, sizeof tried, "%" PRId64 "/%" PRId64, result->tried, result->candidates);
  printf("  %-15s %5" PRId64 " %6s %12s %11s %11s ", tt_compose_info(region->collective).name, region->rank_count,
         bytes, tried, rules, time);
  if (result->disturbed)
    printf("%6s  not kept: others use %.1f processors\n", "", result->others);
  else
    printf("%5.2fx  %s\n", result->rules_ns / result->time_ns, result->params);
  fflush(stdout);
}

static void say_progress(const lead *of, const tt_region *region) {
  char bytes[16];
  tt_format_bytes(region->bytes, bytes);
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r\033[K%" PRId64 " of %" PRId64 ": %s, %" PRId64 " ranks, %s\r", of->done + 1, of->cells,
            tt_compose_info(region->collective).name, region->rank_count, bytes);
}

static void print_end(const lead *of) {
  int64_t kept = of->done - of->disturbed;
  printf("\n  %.2f times as fast as the rules (geometric mean), in %.0f s\n",
         kept > 0 ? exp(of->gain / (double)kept) : 1.0, (double)(tt_clock_ns() - of->start_ns) / 1e9);
  if (of->left_out > 0)
    printf("  %" PRId64 " candidates were not tried: by its rates, each takes over %.0f times as long as the best\n",
           of->left_out, TUNE_FAR);
  if (of->disturbed > 0)
    printf("  %" PRId64 " task%s of %" PRId64 " %s not kept: other programs used the processors. Run it again when the "
           "machine is\n  quiet, or with --busy to keep all.\n",
           of->disturbed, of->disturbed == 1 ? "" : "s", of->done, of->disturbed == 1 ? "was" : "were");
}

/* ---- one after another ---- */

static tutti_status write_winner(const lead *of, const tt_winner *winner) {
  tt_wisdom *one = NULL;
  char about[200], day[32];
  time_t now = time(NULL);
  strftime(day, sizeof day, "%Y-%m-%d", localtime(&now));
  snprintf(about, sizeof about, "tutti " TUTTI_VERSION ", %s", day);
  tutti_status status = tt_wisdom_create(of->machine, about, &one);
  if (status == TUTTI_OK)
    status = tt_wisdom_put(one, winner);
  if (status == TUTTI_OK)
    status = tt_wisdom_write(of->path, one);
  tt_wisdom_destroy(one);
  return status;
}

/* Winners are worth a run without samples. */
static void keep_samples(lead *of, const tt_region *region, const tune_result *result) {
  if (of->no_samples || tune_samples_write(of->path, of->machine, region, result) == TUTTI_OK)
    return;
  tool_fail("tune", 0, "samples are not kept: %s", tutti_last_error());
  of->no_samples = true;
}

static tutti_status keep(lead *of, const tt_region *region, tune_result *result) {
  const tt_winner winner = {.region = *region,
                            .text = result->params,
                            .time_ns = (int64_t)result->time_ns,
                            .rules_ns = (int64_t)result->rules_ns};
  result->disturbed &= !of->options->busy;
  print_row(region, result);
  of->done++;
  of->disturbed += result->disturbed;
  if (result->disturbed)
    return TUTTI_OK;
  of->gain += log(result->rules_ns / result->time_ns);
  tutti_status status = tt_wisdom_put(of->known, &winner);
  if (status == TUTTI_OK)
    status = write_winner(of, &winner);
  if (status == TUTTI_OK)
    keep_samples(of, region, result);
  return status;
}

/* Other programs come and go: what they have disturbed is measured once more. Ends the result. */
static bool was_disturbed(const lead *of, tutti_status status, tune_result *result) {
  if (status != TUTTI_OK || !result->disturbed || of->options->busy)
    return false;
  tune_result_finish(result);
  return true;
}

static tutti_status run_cell(lead *of, tt_collective collective, int64_t bytes, tune_guesses *guesses) {
  const tutti_comm *comm = of->all->words;
  tt_region region = tt_comm_region(comm, collective, tune_task_bytes(comm, collective, bytes));
  tt_task task = tune_task_on(comm, collective, region.bytes);
  tune_result result;
  if (is_known(of, &region)) {
    of->cells--;
    return TUTTI_OK;
  }
  say_progress(of, &region);
  const tt_fit *fit = of->fits ? tt_fits_find(of->fits, &region) : NULL;
  const tt_sim_rates *rates = fit ? &fit->rates : NULL;
  tutti_status status = tune_cell_run(of->all, &task, rates, share_of(of), guesses, &result);
  if (was_disturbed(of, status, &result))
    status = tune_cell_run(of->all, &task, rates, share_of(of), guesses, &result);
  of->left_out += status == TUTTI_OK ? result.left_out : 0;
  if (status == TUTTI_OK)
    status = keep(of, &region, &result);
  tune_result_finish(&result);
  return status;
}

static const char *winner_at(const lead *of, const tt_region *region) {
  const tt_winner *winner = tt_wisdom_of(of->known, region);
  return winner ? winner->text : NULL;
}

/* Between two lengths with different winners lies the one from which on the second is faster: these two, and what the
 * profile chooses, meet again half-way, until lengths are no further apart than a factor of two. */
static tutti_status refine(lead *of, tt_region low, tt_region high) {
  const char *ends[] = {winner_at(of, &low), winner_at(of, &high)};
  tt_region middle = low;
  tune_result result;
  for (int64_t width = high.bytes / low.bytes; width >= 4; width /= 4)
    middle.bytes *= 2;
  if (!ends[0] || !ends[1] || strcmp(ends[0], ends[1]) == 0 || middle.bytes == low.bytes)
    return TUTTI_OK;
  tutti_status status = TUTTI_OK;
  if (!is_known(of, &middle)) {
    tt_task task = tune_task_on(of->all->words, middle.collective, middle.bytes);
    say_progress(of, &middle);
    int64_t budget_ns = share_of(of) < RACE_NS ? share_of(of) : RACE_NS;
    status = tune_cell_race(of->all, &task, budget_ns, ends, 2, &result);
    if (was_disturbed(of, status, &result))
      status = tune_cell_race(of->all, &task, budget_ns, ends, 2, &result);
    of->cells++;
    if (status == TUTTI_OK)
      status = keep(of, &middle, &result);
    tune_result_finish(&result);
  }
  if (status == TUTTI_OK)
    status = refine(of, low, middle);
  return status == TUTTI_OK ? refine(of, middle, high) : status;
}

static tutti_status refine_all(lead *of, tt_collective collective) {
  const tutti_comm *comm = of->all->words;
  const int64_t *size = of->options->size;
  tutti_status status = TUTTI_OK;
  for (int s = 1; s < of->options->size_count && status == TUTTI_OK; s++)
    if (size[s - 1] < size[s])
      status = refine(of, tt_comm_region(comm, collective, tune_task_bytes(comm, collective, size[s - 1])),
                      tt_comm_region(comm, collective, tune_task_bytes(comm, collective, size[s])));
  return status;
}

static int sizes_of(const tune_options *options, tt_collective collective) {
  return collective == TT_BARRIER ? 1 : options->size_count;
}

static tutti_status run_group(lead *of, int64_t ranks) {
  const tune_options *options = of->options;
  tutti_status status = tune_lead_group(of->all, ranks);
  if (status == TUTTI_OK)
    status = tt_comm_place(of->all->words);
  for (int c = 0; c < options->collective_count && status == TUTTI_OK; c++) {
    tune_guesses guesses = {.count = 0};
    tt_arena_init(&guesses.arena);
    for (int s = 0; s < sizes_of(options, options->collective[c]) && status == TUTTI_OK; s++)
      status = run_cell(of, options->collective[c], options->size[s], &guesses);
    tt_arena_finish(&guesses.arena);
    if (status == TUTTI_OK && sizes_of(options, options->collective[c]) > 1)
      status = refine_all(of, options->collective[c]);
  }
  return status == TUTTI_OK ? tune_lead_leave(of->all) : status;
}

/* ---- the whole ---- */

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

static tutti_status run_all(lead *of) {
  const tune_options *options = of->options;
  for (int c = 0; c < options->collective_count; c++)
    of->cells += options->rank_kinds * sizes_of(options, options->collective[c]);
  print_head(of);
  of->start_ns = tt_clock_ns();
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < options->rank_kinds && status == TUTTI_OK; n++)
    status = run_group(of, options->ranks[n]);
  if (status == TUTTI_OK && of->done == 0)
    puts("  all of it was measured before; --again measures it again");
  else if (status == TUTTI_OK)
    print_end(of);
  if (status == TUTTI_OK && of->done > 0 && learn_again(of->path, of->machine) != TUTTI_OK) /* wisdom is written */
    printf("\n  nothing was learned of that: %s\n", tutti_last_error());
  return status;
}

/* name: what TUTTI_WISDOM says; "": nothing. */
static tutti_status open_file(const char *name, lead *of) {
  tutti_status status = tt_wisdom_find(name, true, of->path, of->machine);
  if (status == TUTTI_OK)
    status = tt_wisdom_open(of->path, of->machine, "", &of->known);
  return status == TUTTI_OK ? tune_rates_read(of->path, of->machine, &of->fits) : status;
}

typedef struct files { /* what is there before the job begins */
  lead lead;
  regret *regret;
} files;

static tutti_status open_files(const tune_options *options, const char *name, files *of) {
  return options->regret ? regret_open(options, &of->regret) : open_file(name, &of->lead);
}

static void close_files(files *of) {
  tt_wisdom_destroy(of->lead.known);
  tt_fits_destroy(of->lead.fits);
  regret_close(of->regret);
}

static tutti_status run_lead(tune_ranks *all, tune_options *options, files *of) {
  of->lead.options = options;
  of->lead.all = all;
  tutti_status status = tt_comm_place(all->world);
  choose_ranks(all, options);
  if (status == TUTTI_OK)
    status = check_ranks(all, options);
  bool began = status == TUTTI_OK;
  if (began)
    status = options->regret  ? regret_run(of->regret, all)
             : options->fit   ? tune_rates_run(all, options, of->lead.path, of->lead.machine)
             : options->learn ? learn_run(all, options, of->lead.path, of->lead.machine)
                              : run_all(&of->lead);
  if (status == TUTTI_OK || !began)
    tune_lead_end(all);
  return status;
}

/* What is measured is compared with the rules, and no plan is proved first; before any option is read. */
static void forget_variables(void) {
  setenv("TUTTI_WISDOM", "off", 1);
  unsetenv("TUTTI_PARAMS");
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
