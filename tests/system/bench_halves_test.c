/* tests/system/bench_halves_test.c - the best of many, found and compared in halves of the rounds: made-up times, of
 * which it is known what is true. */
#include "../../bench/halves.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ROUNDS 20
#define MANY 15
#define CELLS 400

/* A log-normal time: noise is the deviation of its logarithm. */
static double draw(tt_random *random, double time_ns, double noise) {
  double sum = 0;
  for (int n = 0; n < 12; n++)
    sum += (double)tt_random_below(random, 1 << 20) / (1 << 20);
  return time_ns * exp(noise * (sum - 6));
}

static void draw_all(tt_random *random, double noise, double slower, double ns[MANY][ROUNDS], const double *row[MANY]) {
  for (int n = 0; n < MANY; n++) {
    row[n] = ns[n];
    for (int r = 0; r < ROUNDS; r++)
      ns[n][r] = draw(random, n == 0 ? 1000 * slower : 1000, noise);
  }
}

static void test_odd_rounds_find_and_even_rounds_compare(void **state) {
  const double first[] = {9, 20, 9, 21, 9, 22}, second[] = {5, 40, 5, 41, 5, 44}, third[] = {7, 1, 7, 1, 7, 1};
  const double *all[] = {first, second, third};
  (void)state;
  assert_int_equal(bench_find_best(all, 3, 6), 1);
  assert_int_equal(bench_find_best(all, 1, 6), 0);
  assert_true(bench_regret(first, second, 6).middle == 20.0 / 40);
  assert_true(bench_regret(third, second, 6).middle == 1.0 / 41);
}

static void test_a_choice_that_is_the_best_has_a_ratio_of_1_without_doubt(void **state) {
  tt_random random;
  double ns[MANY][ROUNDS];
  const double *row[MANY];
  (void)state;
  tt_random_init(&random, 3);
  draw_all(&random, 0.3, 1, ns, row);
  bench_interval same = bench_regret(row[2], row[2], ROUNDS);
  assert_true(same.middle == 1 && same.low == 1 && same.high == 1);
}

/* The mean ratio of a choice to the best of many others that are as fast, or faster by so much. */
static double mean_ratio(double noise, double slower, uint64_t seed) {
  double ns[MANY][ROUNDS], logs = 0;
  const double *row[MANY];
  tt_random random;
  tt_random_init(&random, seed);
  for (int cell = 0; cell < CELLS; cell++) {
    draw_all(&random, noise, slower, ns, row);
    logs += log(bench_regret(row[0], row[bench_find_best(row, MANY, ROUNDS)], ROUNDS).middle);
  }
  return exp(logs / CELLS);
}

static void test_the_best_of_equals_is_no_better_than_they_are(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    double ratio = mean_ratio(0.1, 1, seed);
    if (!(ratio > 0.99 && ratio < 1.01))
      fail_msg("seed %d: %.4f", (int)seed, ratio);
  }
}

/* That the halves are what makes it so: who is compared where it was found has an advantage. */
static void test_the_half_that_finds_would_flatter(void **state) {
  double ns[MANY][ROUNDS], logs = 0;
  const double *row[MANY];
  tt_random random;
  (void)state;
  tt_random_init(&random, 1);
  for (int cell = 0; cell < CELLS; cell++) {
    draw_all(&random, 0.1, 1, ns, row);
    int best = bench_find_best(row, MANY, ROUNDS);
    logs += log(bench_half_median(row[0], ROUNDS, BENCH_FINDS) / bench_half_median(row[best], ROUNDS, BENCH_FINDS));
  }
  assert_true(exp(logs / CELLS) > 1.04);
}

static void test_a_slower_choice_is_slower_by_what_it_is(void **state) {
  (void)state;
  double ratio = mean_ratio(0.05, 1.3, 5);
  if (!(ratio > 1.29 && ratio < 1.31))
    fail_msg("%.4f", ratio);
}

static void test_intervals_hold_the_truth(void **state) {
  double choice[ROUNDS], best[ROUNDS];
  int held = 0, above = 0;
  tt_random random;
  (void)state;
  tt_random_init(&random, 7);
  for (int cell = 0; cell < CELLS; cell++) {
    for (int r = 0; r < ROUNDS; r++) {
      double disturbed = draw(&random, 1000, 0.2); /* a round is faster or slower for both */
      choice[r] = draw(&random, 1.1 * disturbed, 0.03);
      best[r] = draw(&random, disturbed, 0.03);
    }
    bench_interval ratio = bench_regret(choice, best, ROUNDS);
    assert_true(ratio.low <= ratio.middle && ratio.middle <= ratio.high);
    held += ratio.low <= 1.1 && 1.1 <= ratio.high;
    above += ratio.low > 1.1;
  }
  if (held < CELLS * 88 / 100 || held == CELLS || above > CELLS * 6 / 100)
    fail_msg("of %d intervals %d hold the truth, %d lie above it", CELLS, held, above);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_odd_rounds_find_and_even_rounds_compare),
      cmocka_unit_test(test_a_choice_that_is_the_best_has_a_ratio_of_1_without_doubt),
      cmocka_unit_test(test_the_best_of_equals_is_no_better_than_they_are),
      cmocka_unit_test(test_the_half_that_finds_would_flatter),
      cmocka_unit_test(test_a_slower_choice_is_slower_by_what_it_is),
      cmocka_unit_test(test_intervals_hold_the_truth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
