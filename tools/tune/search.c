/* tools/tune/search.c - all tasks, one after another: what wins is written at once, and people are told. */
#include "search.h"
#include "cell.h"
#include "rates.h"
#include "samples.h"
#include "task.h"

#include "call/call.h"
#include "tools/learn/learn.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RACE_NS 1000000000
#define RACERS 6 /* of each end of a gap: those that stayed longest there */

typedef struct lead {
  const tune_options *options;
  tune_ranks *all;
  tune_search *search;
  int64_t cells, done, disturbed, start_ns;
  int64_t left_out; /* candidates that the model says are slow */
  bool no_samples;  /* they cannot be written, and people know why */
  double gain;      /* sum of logarithms */
} lead;

/* ---- tasks ---- */

static bool is_known(const lead *of, const tt_region *region) {
  return !of->options->again && tt_wisdom_of(of->search->known, region);
}

/* What is left is shared by what is left to do. The last tasks take longer than their share: each has some rounds. */
static int64_t share_of(const lead *of) {
  int64_t left_ns = of->options->budget_ns * 19 / 20 - (tt_clock_ns() - of->start_ns), cells = of->cells - of->done;
  return left_ns > 0 ? left_ns / (cells > 0 ? cells : 1) : 0;
}

/* ---- output ---- */

static void print_head(const lead *of) {
  printf("tutti tune: %" PRId64 " ranks, %" PRId64 " tasks, about %.0f s\nwisdom of machine %s goes to %s\n\n",
         of->all->size, of->cells, (double)of->options->budget_ns / 1e9, of->search->machine, of->search->path);
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
  tutti_status status = tt_wisdom_create(of->search->machine, about, &one);
  if (status == TUTTI_OK)
    status = tt_wisdom_put(one, winner);
  if (status == TUTTI_OK)
    status = tt_wisdom_write(of->search->path, one);
  tt_wisdom_destroy(one);
  return status;
}

/* Winners are worth a run without samples. */
static void keep_samples(lead *of, const tt_region *region, const tune_result *result) {
  if (of->no_samples || tune_samples_write(of->search->path, of->search->machine, region, result) == TUTTI_OK)
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
  tutti_status status = tt_wisdom_put(of->search->known, &winner);
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

static tt_region region_of(const lead *of, tt_collective collective, int64_t bytes) {
  const tutti_comm *comm = of->all->words;
  return tt_comm_region(comm, collective, tune_task_bytes(comm, collective, bytes));
}

static tutti_status run_cell(lead *of, tt_collective collective, int64_t bytes, tune_guesses *guesses,
                             tune_result *result) {
  tt_region region = region_of(of, collective, bytes);
  tt_task task = tune_task_on(of->all->words, collective, region.bytes);
  if (is_known(of, &region)) {
    of->cells--;
    return TUTTI_OK;
  }
  say_progress(of, &region);
  const tt_fit *fit = of->search->fits ? tt_fits_find(of->search->fits, &region) : NULL;
  const tt_sim_rates *rates = fit ? &fit->rates : NULL;
  tutti_status status = tune_cell_run(of->all, &task, rates, share_of(of), guesses, result);
  if (was_disturbed(of, status, result))
    status = tune_cell_run(of->all, &task, rates, share_of(of), guesses, result);
  of->left_out += status == TUTTI_OK ? result->left_out : 0;
  return status == TUTTI_OK ? keep(of, &region, result) : status;
}

static const char *winner_at(const lead *of, const tt_region *region) {
  const tt_winner *winner = tt_wisdom_of(of->search->known, region);
  return winner ? winner->text : NULL;
}

typedef struct gap { /* between two lengths that were measured */
  const char *racer[2 + 2 * RACERS];
  int64_t count;
} gap;

static void add_racer(gap *of, const char *text) {
  for (int64_t n = 0; n < of->count; n++)
    if (strcmp(of->racer[n], text) == 0)
      return;
  of->racer[of->count++] = text;
}

static tutti_status race(lead *of, const gap *between, const tt_region *at) {
  tt_task task = tune_task_on(of->all->words, at->collective, at->bytes);
  int64_t budget_ns = share_of(of) < RACE_NS ? share_of(of) : RACE_NS;
  tune_result result;
  say_progress(of, at);
  tutti_status status = tune_cell_race(of->all, &task, budget_ns, between->racer, between->count, &result);
  if (was_disturbed(of, status, &result))
    status = tune_cell_race(of->all, &task, budget_ns, between->racer, between->count, &result);
  of->cells++;
  if (status == TUTTI_OK)
    status = keep(of, at, &result);
  tune_result_finish(&result);
  return status;
}

/* Between two lengths with different winners lies the one from which on the second is faster, or a third, which nearly
 * won at both: what was fast at the ends, and what the profile chooses, meet again half-way, until lengths are no
 * further apart than a factor of two. */
static tutti_status refine(lead *of, const gap *between, tt_region low, tt_region high) {
  const char *ends[] = {winner_at(of, &low), winner_at(of, &high)};
  tt_region middle = low;
  for (int64_t width = high.bytes / low.bytes; width >= 4; width /= 4)
    middle.bytes *= 2;
  if (!ends[0] || !ends[1] || strcmp(ends[0], ends[1]) == 0 || middle.bytes == low.bytes)
    return TUTTI_OK;
  tutti_status status = is_known(of, &middle) ? TUTTI_OK : race(of, between, &middle);
  if (status == TUTTI_OK)
    status = refine(of, between, low, middle);
  return status == TUTTI_OK ? refine(of, between, middle, high) : status;
}

/* end: what was measured at both ends now, if it was. */
static tutti_status refine_gap(lead *of, const tt_region *low, const tt_region *high, const tune_result *end) {
  gap between = {.count = 0};
  const char *winner[] = {winner_at(of, low), winner_at(of, high)};
  for (int n = 0; n < 2; n++)
    if (winner[n])
      add_racer(&between, winner[n]);
  for (int64_t s = 0; s < RACERS; s++)
    for (int n = 0; n < 2; n++)
      if (s < end[n].sample_count && end[n].sample[s].rounds > 1)
        add_racer(&between, end[n].sample[s].params);
  return refine(of, &between, *low, *high);
}

static tutti_status refine_all(lead *of, tt_collective collective, const tune_result *of_size) {
  const int64_t *size = of->options->size;
  tutti_status status = TUTTI_OK;
  for (int s = 1; s < of->options->size_count && status == TUTTI_OK; s++) {
    tt_region low = region_of(of, collective, size[s - 1]), high = region_of(of, collective, size[s]);
    if (size[s - 1] < size[s])
      status = refine_gap(of, &low, &high, &of_size[s - 1]);
  }
  return status;
}

static int sizes_of(const tune_options *options, tt_collective collective) {
  return collective == TT_BARRIER ? 1 : options->size_count;
}

static tutti_status run_collective(lead *of, tt_collective collective) {
  tune_result of_size[TUNE_SIZES] = {{.sample_count = 0}};
  tune_guesses guesses = {.count = 0};
  tutti_status status = TUTTI_OK;
  int count = sizes_of(of->options, collective);
  tt_arena_init(&guesses.arena);
  for (int s = 0; s < count; s++)
    tt_arena_init(&of_size[s].arena);
  for (int s = 0; s < count && status == TUTTI_OK; s++)
    status = run_cell(of, collective, of->options->size[s], &guesses, &of_size[s]);
  tt_arena_finish(&guesses.arena);
  if (status == TUTTI_OK && count > 1)
    status = refine_all(of, collective, of_size);
  for (int s = 0; s < count; s++)
    tune_result_finish(&of_size[s]);
  return status;
}

static tutti_status run_group(lead *of, int64_t ranks) {
  tutti_status status = tune_lead_group(of->all, ranks);
  if (status == TUTTI_OK)
    status = tt_comm_place(of->all->words);
  for (int c = 0; c < of->options->collective_count && status == TUTTI_OK; c++)
    status = run_collective(of, of->options->collective[c]);
  return status == TUTTI_OK ? tune_lead_leave(of->all) : status;
}

/* ---- the whole ---- */

static tutti_status run_all(lead *of) {
  const tune_options *options = of->options;
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < options->rank_kinds && status == TUTTI_OK; n++)
    status = run_group(of, options->ranks[n]);
  if (status == TUTTI_OK && of->done == 0)
    puts("  all of it was measured before; --again measures it again");
  else if (status == TUTTI_OK)
    print_end(of);
  return status;
}

tutti_status tune_search_run(tune_search *search, tune_ranks *all, const tune_options *options) {
  lead of = {.options = options, .all = all, .search = search, .start_ns = tt_clock_ns()};
  for (int c = 0; c < options->collective_count; c++)
    of.cells += options->rank_kinds * sizes_of(options, options->collective[c]);
  print_head(&of);
  tutti_status status = run_all(&of);
  if (status == TUTTI_OK && of.done > 0 && learn_again(search->path, search->machine) != TUTTI_OK)
    printf("\n  nothing was learned of that: %s\n", tutti_last_error()); /* but wisdom is written */
  return status;
}

tutti_status tune_search_open(tune_search *of, const char *name) {
  tutti_status status = tt_wisdom_find(name, true, of->path, of->machine);
  if (status == TUTTI_OK)
    status = tt_wisdom_open(of->path, of->machine, "", &of->known);
  return status == TUTTI_OK ? tune_rates_read(of->path, of->machine, &of->fits) : status;
}

void tune_search_close(tune_search *of) {
  tt_wisdom_destroy(of->known);
  tt_fits_destroy(of->fits);
}
