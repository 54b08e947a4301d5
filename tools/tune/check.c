/* tools/tune/check.c - candidates drawn from the space run in rounds, in random order; their median times are compared
 * with what the model says of them. */
#include "check.h"
#include "predict.h"

#include "bench/pace.h"
#include "bench/stats.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 40
#define ROUNDS 5
#define FIRST_MOST 8
#define NEARLY 1.05
#define BATCHES 3
#define BATCH_NS 200000

typedef struct subject {
  const char *params;
  double predicted_ns, measured_ns;
  double round_ns[ROUNDS];
  int rounds;
} subject;

typedef struct check {
  tune_ranks *all;
  const tt_task *task;
  subject subject[CANDIDATES];
  int count;
  int64_t calls, start_ns, budget_ns;
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

/* As cell.c does. */
static tutti_status calibrate(check *of) {
  tutti_status status = TUTTI_OK;
  double batch_ns = 0, time_ns = 0;
  for (of->calls = 0; status == TUTTI_OK && batch_ns < BATCH_NS; batch_ns = time_ns * (double)of->calls) {
    of->calls = bench_more_calls(of->calls, (int64_t)batch_ns, BATCH_NS);
    status = run(of, "", 3, &time_ns);
  }
  return status;
}

static tutti_status run_round(check *of) {
  tutti_status status = TUTTI_OK;
  for (int n = of->count - 1; n > 0; n--) {
    int other = (int)tt_random_below(&of->random, (uint64_t)n + 1);
    subject kept = of->subject[n];
    of->subject[n] = of->subject[other];
    of->subject[other] = kept;
  }
  for (int n = 0; n < of->count && status == TUTTI_OK; n++) {
    subject *at = &of->subject[n];
    status = run(of, at->params, BATCHES, &at->round_ns[at->rounds]);
    at->rounds += status == TUTTI_OK;
  }
  return status;
}

static tutti_status measure(check *of) {
  tutti_status status = calibrate(of);
  for (int round = 0; round < ROUNDS && status == TUTTI_OK; round++)
    if (round == 0 || tt_clock_ns() - of->start_ns < of->budget_ns)
      status = run_round(of);
  for (int n = 0; n < of->count && status == TUTTI_OK; n++)
    of->subject[n].measured_ns = bench_median(of->subject[n].round_ns, of->subject[n].rounds);
  return status;
}

/* ---- compared ---- */

/* Of value n among all: how many are less, and half of those that are equal. */
static double rank_of(const double *value, int count, int n) {
  double rank = 0;
  for (int k = 0; k < count; k++)
    rank += value[k] < value[n] ? 1 : value[k] == value[n] ? 0.5 : 0;
  return rank;
}

/* Spearman's: the correlation of ranks; 1 where there is nothing to tell apart. */
static double rank_correlation(const double *x, const double *y, int count) {
  double mean = (double)count / 2, both = 0, own[2] = {0, 0};
  for (int n = 0; n < count; n++) {
    double a = rank_of(x, count, n) - mean, b = rank_of(y, count, n) - mean;
    both += a * b;
    own[0] += a * a;
    own[1] += b * b;
  }
  return own[0] > 0 && own[1] > 0 ? both / sqrt(own[0] * own[1]) : 1;
}

static int by_prediction(const void *left, const void *right) {
  const subject *a = left, *b = right;
  return (a->predicted_ns > b->predicted_ns) - (a->predicted_ns < b->predicted_ns);
}

typedef struct verdict {
  double error, correlation, first; /* first: the best of the first by prediction, to the best of all */
} verdict;

static verdict judge(check *of, double error[static CANDIDATES]) {
  double predicted[CANDIDATES], measured[CANDIDATES], sorted[CANDIDATES], best = INFINITY, first = INFINITY;
  int tenth = of->count / 10 > 1 ? of->count / 10 : 1;
  qsort(of->subject, (size_t)of->count, sizeof *of->subject, by_prediction);
  for (int n = 0; n < of->count; n++) {
    const subject *at = &of->subject[n];
    predicted[n] = at->predicted_ns;
    measured[n] = at->measured_ns;
    sorted[n] = error[n] = fabs(log(predicted[n] / measured[n]));
    best = fmin(best, measured[n]);
    first = n < FIRST_MOST && n < tenth ? fmin(first, measured[n]) : first;
  }
  return (verdict){bench_median(sorted, of->count), rank_correlation(predicted, measured, of->count), first / best};
}

static tutti_status keep(tune_score *score, const verdict *of, const double *error, int count) {
  double *errors = realloc(score->error, (size_t)(score->errors + count) * sizeof *errors);
  score->error = errors ? errors : score->error;
  double *ranks = realloc(score->rank, (size_t)(score->cells + 1) * sizeof *ranks);
  score->rank = ranks ? ranks : score->rank;
  if (!errors || !ranks)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a score");
  memcpy(errors + score->errors, error, (size_t)count * sizeof *error);
  score->errors += count;
  ranks[score->cells++] = of->correlation;
  score->held += of->first <= NEARLY;
  return TUTTI_OK;
}

/* ---- printed ---- */

static void print_row(const check *of, const verdict *is) {
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
  check of = {.all = all, .task = task, .start_ns = tt_clock_ns(), .budget_ns = budget_ns};
  tt_candidates space;
  double error[CANDIDATES];
  tt_random_init(&of.random, (uint64_t)task->bytes + (uint64_t)task->problem.collective);
  tutti_status status = tt_candidates_make(task, &space);
  if (status == TUTTI_OK)
    status = draw(&of, rates, &space);
  if (status == TUTTI_OK)
    status = tune_lead_cell(all, task->problem.collective, task->bytes);
  if (status == TUTTI_OK)
    status = measure(&of);
  if (status == TUTTI_OK && of.count > 0) {
    verdict is = judge(&of, error);
    print_row(&of, &is);
    if (detail)
      print_subjects(&of);
    status = keep(score, &is, error, of.count);
  }
  tt_candidates_finish(&space);
  return status;
}

void tune_score_print(tune_score *score) {
  if (score->cells == 0)
    return;
  double least = score->rank[0];
  for (int64_t n = 1; n < score->cells; n++)
    least = fmin(least, score->rank[n]);
  printf(
      "\n  median error %.1f%%, median rank correlation %.2f (least %.2f), one of the first is within %.2f of the best "
      "in %" PRId64 " of %" PRId64 " cells\n",
      100 * (exp(bench_median(score->error, score->errors)) - 1), bench_median(score->rank, score->cells), least,
      NEARLY, score->held, score->cells);
}

void tune_score_finish(tune_score *score) {
  free(score->error);
  free(score->rank);
  *score = (tune_score){.cells = 0};
}
