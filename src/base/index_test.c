/* The index against a plain array: whatever is set and removed, in whatever order, is found as it is there. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { KEYS = 3000, STEPS = 200000 };

static int things[KEYS];

/* Few bits differ, as in the numbers of communicators, or all do. */
static uint64_t key_of(int n, bool spread) { return spread ? tt_hash(7, &n, sizeof n) : (uint64_t)n << 32; }

static void check_random_order(uint64_t seed, bool spread) {
  static void *wanted[KEYS];
  tt_random random;
  tt_index index = {0};
  size_t count = 0;
  tt_random_init(&random, seed);
  memset(wanted, 0, sizeof wanted);
  for (int step = 0; step < STEPS; step++) {
    int n = (int)tt_random_below(&random, KEYS);
    void *value = tt_random_below(&random, 2) != 0 ? &things[tt_random_below(&random, KEYS)] : NULL;
    count += (value != NULL) - (size_t)(wanted[n] != NULL);
    wanted[n] = value;
    if (value != NULL)
      assert_true(tt_index_set(&index, key_of(n, spread), value));
    else
      tt_index_remove(&index, key_of(n, spread));
    n = (int)tt_random_below(&random, KEYS);
    assert_ptr_equal(tt_index_find(&index, key_of(n, spread)), wanted[n]);
    assert_int_equal(index.used, count);
  }
  for (int n = 0; n < KEYS; n++)
    assert_ptr_equal(tt_index_find(&index, key_of(n, spread)), wanted[n]);
  tt_index_finish(&index);
  assert_null(tt_index_find(&index, 0));
}

static void test_what_is_set_is_found_until_it_is_removed(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 3; seed++) {
    check_random_order(seed, false);
    check_random_order(seed, true);
  }
}

static void test_an_empty_one_has_nothing_to_find_or_remove(void **state) {
  (void)state;
  tt_index index = {0};
  assert_null(tt_index_find(&index, 5));
  tt_index_remove(&index, 5);
  tt_index_finish(&index);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_is_set_is_found_until_it_is_removed),
      cmocka_unit_test(test_an_empty_one_has_nothing_to_find_or_remove),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
