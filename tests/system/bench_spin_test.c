/* A spin behind each call makes calls longer by what was asked for, also where part of it passes unnoticed, and where
 * the machine holds batches up (bench/spin.h). */
#include "../../bench/spin.h"

#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ASKED 0.1
#define BATCHES 400
#define LEARNING 50

/* Between -1 and 1. */
static double swing(tt_random *random) { return (double)tt_random_below(random, 2001) / 1000 - 1; }

/* On a machine on which only `part` of a spin is seen, times vary by `noise`, and every 20th batch is held up. Returns
 * by how much calls have become longer, where 1 is what was asked for. */
static double lengthened(double part, double noise, tt_random *random) {
  bench_spinner spin = {.gain = 1};
  double sum = 0;
  for (int n = 0; n < BATCHES; n++) {
    double longer = spin.gain * part, plain = 1 + noise * swing(random);
    double delayed = 1 + ASKED * longer + noise * swing(random) + (n % 20 == 7 ? 3 : 0);
    bench_spinner_learn(&spin, (delayed / plain - 1) / ASKED);
    sum += n >= LEARNING ? longer : 0;
  }
  return sum / (BATCHES - LEARNING);
}

static void test_calls_become_longer_by_what_was_asked_for(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 7);
  const double parts[] = {1, 0.4, 0.25}, noises[] = {0, 0.01, 0.03};
  for (size_t p = 0; p < TT_COUNT(parts); p++)
    for (size_t n = 0; n < TT_COUNT(noises); n++) {
      double seen = lengthened(parts[p], noises[n], &random);
      assert_true(seen > 0.85 && seen < 1.15);
    }
}

static void test_gain_has_limits(void **state) {
  (void)state;
  bench_spinner spin = {.gain = 1};
  for (int n = 0; n < 1000; n++)
    bench_spinner_learn(&spin, -100);
  assert_true(spin.gain == BENCH_GAIN_MOST);
  for (int n = 0; n < 1000; n++)
    bench_spinner_learn(&spin, 100);
  assert_true(spin.gain == 1.0 / BENCH_GAIN_MOST);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_become_longer_by_what_was_asked_for),
      cmocka_unit_test(test_gain_has_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
