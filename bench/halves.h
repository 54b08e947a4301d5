/* bench/halves.h - how many times as long as the best of many a choice takes, where all times have noise.
 *
 * What is fastest of many has been lucky, too, so its own times make it look better than it is. The best is therefore
 * found in half of the rounds, and compared in the other half, of which it knows nothing: the ratio may well be below
 * 1. All are measured in each round, so the two times of a round are a pair, which whatever disturbs a round leaves
 * alone; and the interval draws rounds (bootstrap). */
#ifndef BENCH_HALVES_H
#define BENCH_HALVES_H

#include "stats.h"

#include "base/base.h"

#include <assert.h>

#define BENCH_ROUNDS_MOST 64
#define BENCH_DRAWS 1000

/* Rounds 1, 3, 5 ... find the best; rounds 2, 4, 6 ... compare. */
typedef enum bench_half { BENCH_FINDS, BENCH_COMPARES } bench_half;

static inline double bench_half_median(const double *round_ns, int rounds, bench_half half) {
  double of[BENCH_ROUNDS_MOST];
  int count = 0;
  assert(rounds > (int)half && rounds <= BENCH_ROUNDS_MOST);
  for (int n = (int)half; n < rounds; n += 2)
    of[count++] = round_ns[n];
  return bench_median(of, count);
}

/* Number of the best of so many. */
static inline int bench_find_best(const double *const *round_ns, int count, int rounds) {
  int best = 0;
  for (int n = 1; n < count; n++)
    if (bench_half_median(round_ns[n], rounds, BENCH_FINDS) < bench_half_median(round_ns[best], rounds, BENCH_FINDS))
      best = n;
  return best;
}

/* choice / best, the median over rounds, with a 95 % interval. The same times have the same interval. */
static inline bench_interval bench_regret(const double *choice_ns, const double *best_ns, int rounds) {
  double ratio[BENCH_ROUNDS_MOST], drawn[BENCH_ROUNDS_MOST], median[BENCH_DRAWS];
  int half = rounds / 2;
  tt_random random;
  assert(half > 0 && rounds <= BENCH_ROUNDS_MOST);
  for (int n = 0; n < half; n++)
    ratio[n] = choice_ns[2 * n + BENCH_COMPARES] / best_ns[2 * n + BENCH_COMPARES];
  tt_random_init(&random, 1);
  for (int n = 0; n < BENCH_DRAWS; n++) {
    for (int r = 0; r < half; r++)
      drawn[r] = ratio[tt_random_below(&random, (uint64_t)half)];
    median[n] = bench_median(drawn, half);
  }
  qsort(median, BENCH_DRAWS, sizeof *median, bench_by_value);
  return (bench_interval){bench_median(ratio, half), bench_quantile(median, BENCH_DRAWS, 0.025),
                          bench_quantile(median, BENCH_DRAWS, 0.975)};
}

#endif
