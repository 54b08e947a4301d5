/* tools/tune/score.c - see score.h. */
#include "score.h"

#include "base/base.h"
#include "bench/stats.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_MOST 0.20
#define CORRELATION_LEAST 0.70
#define NEARLY 1.05
#define HELD_LEAST 0.95

/* ---- of a cell ---- */

/* Of value n among all: how many are less, and half of those that are equal. */
static double rank_of(const double *value, int64_t count, int64_t n) {
  double rank = 0;
  for (int64_t k = 0; k < count; k++)
    rank += value[k] < value[n] ? 1 : value[k] == value[n] ? 0.5 : 0;
  return rank;
}

/* 1 where there is nothing to tell apart. */
static double rank_correlation(const double *x, const double *y, int64_t count) {
  double mean = (double)count / 2, both = 0, own[2] = {0, 0};
  for (int64_t n = 0; n < count; n++) {
    double a = rank_of(x, count, n) - mean, b = rank_of(y, count, n) - mean;
    both += a * b;
    own[0] += a * a;
    own[1] += b * b;
  }
  return own[0] > 0 && own[1] > 0 ? both / sqrt(own[0] * own[1]) : 1;
}

static double *errors_of(const double *predicted, const double *measured, int64_t count, double *error) {
  for (int64_t n = 0; n < count && error; n++)
    error[n] = fabs(log(predicted[n] / measured[n]));
  return error;
}

static tutti_status fail(void) { return tt_fail(TUTTI_ERR_MEMORY, "no memory for a score"); }

tutti_status tune_score_cell(const double *predicted, const double *measured, int64_t count, tune_cell_score *cell) {
  double *error = errors_of(predicted, measured, count, malloc((size_t)count * sizeof *error));
  if (!error)
    return fail();
  cell->error = bench_median(error, count);
  cell->correlation = rank_correlation(predicted, measured, count);
  free(error);
  return TUTTI_OK;
}

/* ---- of some cells ---- */

static double *grown(double **values, int64_t count) {
  double *made = realloc(*values, (size_t)count * sizeof *made);
  *values = made ? made : *values;
  return made;
}

tutti_status tune_score_add(tune_score *score, int64_t bytes, const double *predicted, const double *measured,
                            const double *const place[2], int64_t count, const tune_cell_score *cell) {
  bool is_long = bytes >= score->from_bytes;
  double *values = is_long ? grown(&score->error, score->errors + count) : grown(&score->rank, score->ranks + 1);
  if (!values || (is_long && !grown(&score->again, score->errors + count)))
    return fail();
  if (is_long) {
    errors_of(predicted, measured, count, values + score->errors);
    errors_of(place[0], place[1], count, score->again + score->errors);
    score->errors += count;
  } else {
    values[score->ranks++] = cell->correlation;
  }
  score->cells++;
  score->held += cell->first <= NEARLY;
  return TUTTI_OK;
}

static const char *says(bool is_met) { return is_met ? "met" : "missed"; }

static void print_errors(const tune_score *score) {
  char from[16];
  tt_format_bytes(score->from_bytes, from);
  double error = exp(bench_median(score->error, score->errors)) - 1;
  printf("  from %s on, the median error of %" PRId64 " plans is at most %.0f%%: %.1f%%, %s\n", from, score->errors,
         100 * ERROR_MOST, 100 * error, says(error <= ERROR_MOST));
  printf("  (between two measurements of the same plan, over memory allocated anew: %.1f%%)\n",
         100 * (exp(bench_median(score->again, score->errors)) - 1));
}

static void print_ranks(const tune_score *score) {
  double least = score->rank[0];
  for (int64_t n = 1; n < score->ranks; n++)
    least = fmin(least, score->rank[n]);
  double median = bench_median(score->rank, score->ranks);
  printf("  %s, the median rank correlation of %" PRId64 " cells is at least %.2f: %.2f (least %.2f), %s\n",
         score->from_bytes == INT64_MAX ? "where ranks share cores" : "below", score->ranks, CORRELATION_LEAST, median,
         least, says(median >= CORRELATION_LEAST));
}

void tune_score_print(const tune_score *score) {
  if (score->cells == 0)
    return;
  puts("");
  if (score->errors > 0)
    print_errors(score);
  if (score->ranks > 0)
    print_ranks(score);
  printf("  one of the first by prediction is within %.2f of the best in %.0f%% of the cells: %" PRId64 " of %" PRId64
         ", %s\n",
         NEARLY, 100 * HELD_LEAST, score->held, score->cells,
         says((double)score->held >= HELD_LEAST * (double)score->cells));
}

void tune_score_finish(tune_score *score) {
  free(score->error);
  free(score->again);
  free(score->rank);
  *score = (tune_score){.cells = 0};
}
