/* base/copy_test.c - copies are right wherever both blocks lie, and write nothing beside. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 1 << 16 };

static void test_all_is_copied_and_nothing_else(void **state) {
  (void)state;
  unsigned char *from = aligned_alloc(4096, ROOM), *to = aligned_alloc(4096, ROOM), *wanted = malloc(ROOM);
  tt_random random;
  tt_random_init(&random, 1);
  assert_true(from && to && wanted);
  for (size_t n = 0; n < ROOM; n++)
    from[n] = (unsigned char)tt_random_next(&random);
  for (int n = 0; n < 5000; n++) {
    size_t begin = tt_random_below(&random, 4096), behind = tt_random_below(&random, 130);
    size_t bytes = tt_random_below(&random, n % 2 ? 5000 : 40000);
    memset(to, n, ROOM);
    memset(wanted, n, ROOM);
    memcpy(wanted + begin + behind, from + begin, bytes);
    tt_copy(to + begin + behind, from + begin, bytes);
    assert_memory_equal(to, wanted, ROOM);
  }
  free(from);
  free(to);
  free(wanted);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_is_copied_and_nothing_else)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
