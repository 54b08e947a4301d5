/* base/arena_test.c - allocations of an arena are aligned, zeroed, apart from each other, and fail in a way that lasts.
 */
#include "base/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static void test_arena_gives_zeroed_aligned_memory(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  for (size_t size = 1; size < 5000; size = size * 3 + 1) {
    unsigned char *memory = tt_arena_alloc(&arena, 1, size);
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 16, 0);
    for (size_t b = 0; b < size; b++)
      assert_int_equal(memory[b], 0);
    memset(memory, 0xff, size);
  }
  tt_arena_finish(&arena);
}

static void test_arena_keeps_allocations_apart(void **state) {
  (void)state;
  enum { COUNT = 2000 };
  static int32_t *block[COUNT];
  tt_arena arena;
  tt_arena_init(&arena);
  for (int32_t n = 0; n < COUNT; n++) {
    block[n] = tt_arena_alloc(&arena, (size_t)n % 50 + 1, sizeof *block[n]);
    assert_non_null(block[n]);
    block[n][0] = block[n][n % 50] = n;
  }
  for (int32_t n = 0; n < COUNT; n++)
    assert_true(block[n][0] == n && block[n][n % 50] == n);
  tt_arena_finish(&arena);
}

static void test_arena_gives_distinct_memory_for_nothing(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  void *first = tt_arena_alloc(&arena, 0, 8);
  void *second = tt_arena_alloc(&arena, 8, 0);
  assert_true(first != NULL && second != NULL && first != second);
  tt_arena_finish(&arena);
}

static void test_arena_reserves_few_times_what_is_used(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  for (int n = 0; n < 10000; n++)
    assert_non_null(tt_arena_alloc(&arena, 1, 64));
  assert_true(arena.reserved_bytes >= 640000 && arena.reserved_bytes < 2 * 640000);
  tt_arena_finish(&arena);
  assert_true(arena.reserved_bytes == 0);
}

static void test_arena_remembers_a_failure(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  assert_null(tt_arena_alloc(&arena, SIZE_MAX / 4, 8));
  assert_true(arena.failed);
  assert_non_null(tt_arena_alloc(&arena, 1, 8));
  assert_true(arena.failed);
  tt_arena_finish(&arena);
}

static void test_arena_formats_text_of_any_length(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  assert_string_equal(tt_arena_format(&arena, "%s %d", "rank", 7), "rank 7");
  assert_int_equal(strlen(tt_arena_format(&arena, "%10000d", 1)), 10000);
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arena_gives_zeroed_aligned_memory),
      cmocka_unit_test(test_arena_keeps_allocations_apart),
      cmocka_unit_test(test_arena_gives_distinct_memory_for_nothing),
      cmocka_unit_test(test_arena_reserves_few_times_what_is_used),
      cmocka_unit_test(test_arena_remembers_a_failure),
      cmocka_unit_test(test_arena_formats_text_of_any_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
