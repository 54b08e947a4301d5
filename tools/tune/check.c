/* tools/tune/check.c - candidates drawn from the space run in rounds, in random order; their median times are compared
 * with what the model says of them. All run again over memory allocated anew: how far the two differ no model foresees.
 */
#include "check.h"
#include "predict.h"

#include "bench/stats.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 40
#define ROUNDS 3 /* over the same memory, */
#define PLACES 2 /* which is allocated so often */
#define FIRST_MOST 8
#define RACE_ROUNDS 9
#define BATCHES 3
#define BATCH_NS 200000

typedef struct subject {
  const char *params;
  double predicted_ns, measured_ns;
  double place_ns[PLACES]; /* the median over that memory */
  double round_ns[ROUNDS];
  int rounds; /* over the present memory */
} subject;

typedef struct check {
  tune_ranks *all;
  const tt_task *task;
  subject subject[CANDIDATES];
  int count;
  int64_t calls, budget_ns;
  tt_random random;
} check;

/* ---- which ---- */

static tutti_status draw(check *of, const tt_sim_rates *rates, tt_candidates *space) {
  tutti_status status = TUTTI_OK;
  while (of->count < CANDIDATES && space->count > 0 && status == TUTTI_OK) {
    int64_t n = (int64_t)tt_random_below(&of->random, (uint64_t)space->count);
    subject *at = &of->subject[of->count];
    *at = (subject){.params = space->candidate[n].text};
    space->candidate[n] = space->candidate[--space->count];
    status = tune_predict(of->all->words, rates, of->task, at->params, &at->predicted_ns);
    of->count += status == TUTTI_OK;
    status = status == TUTTI_ERR_PLAN ? TUTTI_OK : status;
  }
  return status;
}

/* ---- measured ---- */

static tutti_status run(check *of, const char *params, int64_t batches, double *time_ns) {
  return tune_lead_try(of->all, params, TUNE_TURNS, of->calls, batches, time_ns);
}

static tutti_status run_round(check *of) {
  tutti_status status = TUTTI_OK;
  tt_random_shuffle(&of->random, of->subject, of->count, sizeof *of->subject);
  for (int n = 0; n < of->count && status == TUTTI_OK; n++) {
    subject *at = &of->subject[n];
    status = run(of, at->params, BATCHES, &at->round_ns[at->rounds]);
    at->rounds += status == TUTTI_OK;
  }
  return status;
}

static tutti_status run_place(check *of, int place) {
  int64_t start_ns = tt_clock_ns();
  double call_ns;
  tutti_status status = tune_lead_cell(of->all, of->task);
  if (status == TUTTI_OK)
    status = tune_lead_calibrate(of->all, BATCH_NS, &of->calls, &call_ns);
  for (int n = 0; n < of->count; n++)
    of->subject[n].rounds = 0;
  for (int round = 0; round < ROUNDS && status == TUTTI_OK; round++)
    if (round == 0 || tt_clock_ns() - start_ns < of->budget_ns / PLACES)
      status = run_round(of);
  for (int n = 0; n < of->count && status == TUTTI_OK; n++)
    of->subject[n].place_ns[place] = bench_median(of->subject[n].round_ns, of->subject[n].rounds);
  return status;
}

static tutti_status measure(check *of) {
  tutti_status status = TUTTI_OK;
  for (int place = 0; place < PLACES && status == TUTTI_OK; place++)
    status = run_place(of, place);
  for (int n = 0; n < of->count && status == TUTTI_OK; n++)
    of->subject[n].measured_ns = sqrt(of->subject[n].place_ns[0] * of->subject[n].place_ns[1]);
  return status;
}

/* ---- compared ---- */

static int by_prediction(const void *left, const void *right) {
  const subject *a = left, *b = right;
  return (a->predicted_ns > b->predicted_ns) - (a->predicted_ns < b->predicted_ns);
}

/* Of the first so many by prediction. */
static const subject *best_of(const check *of, int count) {
  const subject *best = of->subject;
  for (int n = 1; n < count; n++)
    best = of->subject[n].measured_ns < best->measured_ns ? &of->subject[n] : best;
  return best;
}

/* What was fastest of many has also been lucky: so the best of the first and the best of all run again, by turns. */
static tutti_status race(check *of, double *ratio) {
  int tenth = of->count / 10 > 1 ? of->count / 10 : 1;
  const subject *first = best_of(of, tenth < FIRST_MOST ? tenth : FIRST_MOST), *best = best_of(of, of->count);
  double round[RACE_ROUNDS];
  tutti_status status = TUTTI_OK;
  *ratio = 1;
  for (int n = 0; n < RACE_ROUNDS && status == TUTTI_OK && first != best; n++) {
    const subject *at[2] = {n % 2 ? best : first, n % 2 ? first : best};
    double time_ns[2] = {1, 1};
    for (int k = 0; k < 2 && status == TUTTI_OK; k++)
      status = run(of, at[k]->params, BATCHES, &time_ns[n % 2 ? 1 - k : k]);
    round[n] = time_ns[0] / time_ns[1];
  }
  if (status == TUTTI_OK && first != best)
    *ratio = bench_median(round, RACE_ROUNDS);
  return status;
}

static tutti_status judge(check *of, tune_score *score, tune_cell_score *is) {
  double predicted[CANDIDATES], measured[CANDIDATES], place[PLACES][CANDIDATES];
  qsort(of->subject, (size_t)of->count, sizeof *of->subject, by_prediction);
  for (int n = 0; n < of->count; n++) {
    predicted[n] = of->subject[n].predicted_ns;
    measured[n] = of->subject[n].measured_ns;
    for (int p = 0; p < PLACES; p++)
      place[p][n] = of->subject[n].place_ns[p];
  }
  tutti_status status = tune_score_cell(predicted, measured, of->count, is);
  if (status == TUTTI_OK)
    status = race(of, &is->first);
  const double *const places[PLACES] = {place[0], place[1]};
  return status == TUTTI_OK ? tune_score_add(score, of->task->bytes, predicted, measured, places, of->count, is)
                            : status;
}

/* ---- printed ---- */

static void print_row(const check *of, const tune_cell_score *is) {
  char bytes[16];
  tt_format_bytes(of->task->bytes, bytes);
  printf("  %-15s %5" PRId64 " %6s %10d %10.1f%% %11.2f %11.3f\n", tt_compose_info(of->task->problem.collective).name,
         of->task->problem.rank_count, bytes, of->count, 100 * (exp(is->error) - 1), is->correlation, is->first);
  fflush(stdout);
}

static void print_subjects(const check *of) {
  for (int n = 0; n < of->count; n++) {
    char predicted[32], measured[32];
    tool_format_time(of->subject[n].predicted_ns, predicted);
    tool_format_time(of->subject[n].measured_ns, measured);
    printf("      %11s %11s %6.2f  %s\n", predicted, measured, of->subject[n].predicted_ns / of->subject[n].measured_ns,
           of->subject[n].params);
  }
}

tutti_status tune_check_cell(tune_ranks *all, const tt_sim_rates *rates, const tt_task *task, int64_t budget_ns,
                             bool detail, tune_score *score) {
  check of = {.all = all, .task = task, .budget_ns = budget_ns};
  tt_candidates space;
  tt_random_init(&of.random, (uint64_t)task->bytes + (uint64_t)task->problem.collective);
  tutti_status status = tt_candidates_make(task, &space);
  if (status == TUTTI_OK)
    status = draw(&of, rates, &space);
  if (status == TUTTI_OK && of.count > 0)
    status = measure(&of);
  if (status == TUTTI_OK && of.count > 0) {
    tune_cell_score is;
    status = judge(&of, score, &is);
    if (status == TUTTI_OK)
      print_row(&of, &is);
    if (status == TUTTI_OK && detail)
      print_subjects(&of);
  }
  tt_candidates_finish(&space);
  return status;
}
