/* Sets of packets' numbers against a list of bits. */
#include "transport/streams/numbers.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { NUMBERS = 400, ROUNDS = 300 };

static void check(const tt_streams_numbers *numbers, const bool *in) {
  uint64_t all = 0;
  while (all < NUMBERS && in[all + 1])
    all++;
  assert_int_equal(numbers->all, all);
  for (uint64_t n = 1; n <= NUMBERS; n++)
    assert_int_equal(tt_streams_numbers_has(numbers, n), in[n]);
  for (size_t r = 0; r < numbers->count; r++) /* with gaps between */
    assert_true(numbers->range[r].first > (r == 0 ? numbers->all : numbers->range[r - 1].last) + 1 &&
                numbers->range[r].last >= numbers->range[r].first);
}

static void test_ranges_in_any_order_make_the_set(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 7);
  for (int round = 0; round < ROUNDS; round++) {
    tt_streams_numbers numbers = {.all = 0};
    bool in[NUMBERS + 2] = {false};
    uint64_t most = 1 + tt_random_below(&random, round % 2 ? 3 : 60);
    for (int n = 0; n < 60; n++) {
      uint64_t first = 1 + tt_random_below(&random, NUMBERS), last = first + tt_random_below(&random, most);
      last = last > NUMBERS ? NUMBERS : last;
      assert_int_equal(tt_streams_numbers_add(&numbers, first, last), TUTTI_OK);
      for (uint64_t k = first; k <= last; k++)
        in[k] = true;
      check(&numbers, in);
    }
    tt_streams_numbers_finish(&numbers);
  }
}

static void test_numbers_in_order_need_no_memory(void **state) {
  (void)state;
  tt_streams_numbers numbers = {.all = 0};
  for (uint64_t n = 1; n <= 100000; n++)
    assert_int_equal(tt_streams_numbers_add(&numbers, n, n), TUTTI_OK);
  assert_true(numbers.all == 100000 && numbers.count == 0 && numbers.size == 0);
  tt_streams_numbers_finish(&numbers);
}

static void test_an_enemy_gets_no_more_than_so_many_ranges(void **state) {
  (void)state;
  tt_streams_numbers numbers = {.all = 0};
  uint64_t n = 2;
  while (tt_streams_numbers_add(&numbers, n, n) == TUTTI_OK)
    n += 2;
  assert_true(numbers.count == TT_STREAMS_RANGES && !tt_streams_numbers_has(&numbers, n) &&
              tt_streams_numbers_has(&numbers, n - 2));
  assert_int_equal(tt_streams_numbers_add(&numbers, 1, n), TUTTI_OK);
  assert_true(numbers.all == n && numbers.count == 0);
  tt_streams_numbers_finish(&numbers);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranges_in_any_order_make_the_set),
      cmocka_unit_test(test_numbers_in_order_need_no_memory),
      cmocka_unit_test(test_an_enemy_gets_no_more_than_so_many_ranges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
