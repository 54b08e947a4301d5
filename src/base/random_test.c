/* base/random_test.c - a seed repeats its numbers, a limit is kept and evenly used, a hash sees every byte. */
#include "base/base.h"

#include <setjmp.h>

#include <cmocka.h>

static void test_random_repeats_for_a_seed(void **state) {
  (void)state;
  tt_random a, b, c;
  tt_random_init(&a, 5);
  tt_random_init(&b, 5);
  tt_random_init(&c, 6);
  bool differs = false;
  for (int n = 0; n < 100; n++) {
    uint64_t value = tt_random_next(&a);
    assert_true(value == tt_random_next(&b));
    differs |= value != tt_random_next(&c);
  }
  assert_true(differs);
}

static void test_random_starts_as_splitmix64(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 1234567);
  assert_true(tt_random_next(&random) == UINT64_C(6457827717110365317));
  assert_true(tt_random_next(&random) == UINT64_C(3203168211198807973));
}

static void test_random_below_is_even(void **state) {
  (void)state;
  enum { LIMIT = 7, DRAWS = 70000 };
  int hits[LIMIT] = {0};
  tt_random random;
  tt_random_init(&random, 1);
  for (int n = 0; n < DRAWS; n++) {
    uint64_t value = tt_random_below(&random, LIMIT);
    assert_true(value < LIMIT);
    hits[value]++;
  }
  for (int v = 0; v < LIMIT; v++)
    assert_in_range(hits[v], DRAWS / LIMIT - 500, DRAWS / LIMIT + 500);
}

static void test_random_below_accepts_every_limit(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 1);
  assert_true(tt_random_below(&random, 1) == 0);
  for (int bit = 0; bit < 64; bit++)
    assert_true(tt_random_below(&random, UINT64_MAX >> bit) < UINT64_MAX >> bit);
}

/* 4000 each on average; an order in 24. */
static void test_shuffled_items_stay_and_all_orders_are_even(void **state) {
  (void)state;
  int64_t found[256] = {0};
  tt_random random;
  tt_random_init(&random, 3);
  for (int n = 0; n < 96000; n++) {
    struct {
      char name;
      int32_t value;
    } item[4] = {{'a', 0}, {'b', 1}, {'c', 2}, {'d', 3}};
    int order = 0, seen = 0;
    tt_random_shuffle(&random, item, 4, sizeof *item);
    for (int k = 0; k < 4; k++) {
      assert_int_equal(item[k].name, 'a' + item[k].value);
      order = 4 * order + item[k].value;
      seen |= 1 << item[k].value;
    }
    assert_int_equal(seen, 15);
    found[order]++;
  }
  int orders = 0;
  for (int n = 0; n < 256; n++) {
    orders += found[n] > 0;
    assert_true(found[n] == 0 || (found[n] > 3700 && found[n] < 4300));
  }
  assert_int_equal(orders, 24);
  tt_random_shuffle(&random, NULL, 0, 8);
}

static void test_hash_changes_with_every_bit_size_and_seed(void **state) {
  (void)state;
  unsigned char bytes[20] = {0};
  for (size_t size = 0; size <= sizeof bytes; size++) {
    uint64_t plain = tt_hash(1, bytes, size);
    assert_true(plain == tt_hash(1, bytes, size));
    assert_true(plain != tt_hash(2, bytes, size));
    assert_true(size == 0 || plain != tt_hash(1, bytes, size - 1));
    for (size_t bit = 0; bit < 8 * size; bit++) {
      bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
      assert_true(plain != tt_hash(1, bytes, size));
      bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_repeats_for_a_seed),
      cmocka_unit_test(test_random_starts_as_splitmix64),
      cmocka_unit_test(test_random_below_is_even),
      cmocka_unit_test(test_random_below_accepts_every_limit),
      cmocka_unit_test(test_shuffled_items_stay_and_all_orders_are_even),
      cmocka_unit_test(test_hash_changes_with_every_bit_size_and_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
