/* tools/bench/search.c - see search.h. */
#include "search.h"
#include "own.h"
#include "say.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAR_SLOWER 5
#define BEST 10
#define PLACES (BEST + 1)
#define ROUNDS 9

typedef struct entry {
  const char *text; /* "": the choice */
  double time_ns;   /* the better of two */
  bool out;
} entry;

typedef struct search {
  bench_ranks *ranks;
  const bench_options *options;
  bench_task task;
  bench_row *row;
  tt_candidates space;
  entry *entry; /* the choice, then the candidates */
  int64_t count, dropped;
  char choice[BENCH_RAN]; /* what it ran with */
  const entry *place[PLACES];
  double round_ns[PLACES][ROUNDS];
  int place_count;
} search;

/* ---- one measurement ---- */

/* BENCH_OK, or BENCH_NO_PLAN of a candidate; anything else ends the row, and is noted in it. */
static int measure(search *of, const entry *at, double seconds, double *time_ns) {
  static bench_figures figures;
  snprintf(of->task.command.params, sizeof of->task.command.params, "%s", at->text);
  of->task.seconds = seconds;
  int result = bench_ranks_measure(of->ranks, &of->task, &figures);
  *time_ns = figures.median_ns;
  if (at == of->entry)
    memcpy(of->choice, figures.ran.params, sizeof of->choice);
  if (result == BENCH_OK || (result == BENCH_NO_PLAN && at != of->entry))
    return result;
  of->row->result = result;
  snprintf(of->row->text, sizeof of->row->text, "%.200s: %.300s", *at->text ? at->text : "the choice", figures.text);
  return result;
}

static bool goes_on(const search *of) { return of->row->result == BENCH_OK; }

/* ---- all of them ---- */

/* An even part of the space where there is a limit. */
static bool list(search *of) {
  int64_t limit = of->options->rows.limit, all = of->space.count;
  int64_t taken = limit > 0 && limit < all ? limit : all;
  of->entry = calloc((size_t)taken + 1, sizeof *of->entry);
  if (!of->entry)
    return false;
  of->entry[of->count++].text = "";
  for (int64_t n = 0; n < taken; n++)
    of->entry[of->count++].text = of->space.candidate[n * all / taken].text;
  return true;
}

static void try_first(search *of, entry *at) {
  double limit_ns = FAR_SLOWER * of->entry[0].time_ns;
  at->out = measure(of, at, 0, &at->time_ns) != BENCH_OK || (at != of->entry && at->time_ns > limit_ns);
}

static void try_again(search *of, entry *at) {
  double time_ns;
  if (measure(of, at, 0, &time_ns) == BENCH_OK && time_ns < at->time_ns)
    at->time_ns = time_ns;
}

static void try_all(search *of, const char *turn, bool first) {
  char size[16];
  tt_format_bytes(of->row->bytes, size);
  for (int64_t n = 0; n < of->count && goes_on(of); n++) {
    entry *at = &of->entry[n];
    bench_progress("%s %s, %s time: %" PRId64 " of %" PRId64, tt_compose_info(of->row->collective).name, size, turn,
                   n + 1, of->count);
    if (first)
      try_first(of, at);
    else if (!at->out)
      try_again(of, at);
  }
}

/* ---- the best of them ---- */

static int by_time(const void *a, const void *b) {
  double x = (*(const entry *const *)a)->time_ns, y = (*(const entry *const *)b)->time_ns;
  return (x > y) - (x < y);
}

/* The choice, and the best of the others. */
static bool take_places(search *of) {
  const entry **order = calloc((size_t)of->count, sizeof(const entry *));
  int64_t left = 0;
  if (!order)
    return false;
  for (int64_t n = 1; n < of->count; n++)
    if (!of->entry[n].out)
      order[left++] = &of->entry[n];
  of->dropped = of->count - 1 - left;
  qsort(order, (size_t)left, sizeof(const entry *), by_time);
  of->place[of->place_count++] = &of->entry[0];
  for (int64_t n = 0; n < left && n < BEST; n++)
    of->place[of->place_count++] = order[n];
  free(order);
  return true;
}

static void run_rounds(search *of) {
  double seconds = of->options->seconds / ROUNDS;
  for (int round = 0; round < ROUNDS && goes_on(of); round++) {
    bench_progress("round %d of %d", round + 1, ROUNDS);
    for (int n = 0; n < of->place_count && goes_on(of); n++) {
      int place = (n + round) % of->place_count;
      measure(of, of->place[place], seconds, &of->round_ns[place][round]);
    }
  }
}

/* ---- the table ---- */

static double median_of(const search *of, int place) {
  double copy[ROUNDS];
  memcpy(copy, of->round_ns[place], sizeof copy);
  return bench_median(copy, ROUNDS);
}

/* The fastest of those that are not printed. */
static int next_place(const search *of, const bool *printed) {
  int next = -1;
  for (int n = 0; n < of->place_count; n++)
    if (!printed[n] && (next < 0 || median_of(of, n) < median_of(of, next)))
      next = n;
  return next;
}

static void print_place(const search *of, int place, int best) {
  bench_interval ratio = bench_interval_of(of->round_ns[place], of->round_ns[best], ROUNDS);
  bool choice = place == 0;
  char interval[32] = "";
  if (place != best)
    snprintf(interval, sizeof interval, "%.3f .. %.3f", ratio.low, ratio.high);
  printf("%c %10.2f %8.3f  %16s  %s\n", choice ? '>' : ' ', median_of(of, place) / 1000, ratio.middle, interval,
         choice ? of->choice : of->place[place]->text);
}

/* How near to the links' limit the fastest is, where that is known. */
static void print_bound(const search *of, int best) {
  double bound_ns = of->row->bound_ns;
  if (bound_ns > 0)
    printf("  link bound %.2f us: %.0f %% of the rate of the links\n", bound_ns / 1000,
           100 * bound_ns / median_of(of, best));
}

static void print_table(const search *of) {
  bool printed[PLACES] = {false};
  char size[16];
  int best = next_place(of, printed);
  tt_format_bytes(of->row->bytes, size);
  bench_progress_clear();
  printf("%s %s: %" PRId64 " plans differ; %" PRId64 " tried, %" PRId64 " of them far slower; the best of %d rounds\n",
         tt_compose_info(of->row->collective).name, size, of->space.count, of->count - 1, of->dropped, ROUNDS);
  printf("  %10s %8s  %16s  %s\n", "us", "x", "95 %", "parameters (>: what a call runs with)");
  for (int next = best; next >= 0; next = next_place(of, printed)) {
    printed[next] = true;
    print_place(of, next, best);
  }
  print_bound(of, best);
  fflush(stdout);
}

/* ---- the row ---- */

static void note(search *of, int result, const char *text) {
  of->row->result = result;
  snprintf(of->row->text, sizeof of->row->text, "%s", text);
}

static void run(search *of) {
  if (bench_own_space(of->row->collective, of->row->bytes, &of->space) != TUTTI_OK) {
    note(of, BENCH_FAILED, tutti_last_error());
    return;
  }
  if (!list(of)) {
    note(of, BENCH_FAILED, "no memory for candidates");
    return;
  }
  measure(of, &of->entry[0], of->options->seconds / ROUNDS, &of->entry[0].time_ns);
  try_all(of, "first", true);
  try_all(of, "second", false);
  if (goes_on(of) && !take_places(of))
    note(of, BENCH_FAILED, "no memory for candidates");
  run_rounds(of);
}

int bench_search_row(bench_ranks *ranks, const bench_options *options, const bench_task *task, bench_row *row) {
  search of = {.ranks = ranks, .options = options, .task = *task, .row = row};
  run(&of);
  if (goes_on(&of))
    print_table(&of);
  else
    bench_fail("%s: %s", tt_compose_info(row->collective).name, row->text);
  free(of.entry);
  tt_candidates_finish(&of.space);
  return row->result == BENCH_FAILED ? -1 : 0;
}
