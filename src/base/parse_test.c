/* base/parse_test.c - sizes and times: what is accepted, what is refused, and that refusal leaves the result alone. */
#include "base/base.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

typedef tutti_status (*parser)(const char *text, int64_t *amount);

static void expect(parser parse, const char *text, int64_t wanted) {
  int64_t amount = -1;
  assert_int_equal(parse(text, &amount), TUTTI_OK);
  assert_true(amount == wanted);
}

static void refuse(parser parse, const char *text) {
  int64_t amount = -1;
  assert_int_equal(parse(text, &amount), TUTTI_ERR_ARGUMENT);
  assert_true(amount == -1);
  assert_non_null(strstr(tutti_last_error(), text));
}

static void test_sizes_have_units_of_1024(void **state) {
  (void)state;
  expect(tt_parse_bytes, "0", 0);
  expect(tt_parse_bytes, "64", 64);
  expect(tt_parse_bytes, "8K", 8192);
  expect(tt_parse_bytes, "3M", 3 << 20);
  expect(tt_parse_bytes, "2G", INT64_C(2) << 30);
  expect(tt_parse_bytes, "9223372036854775807", INT64_MAX);
}

static void test_times_have_units_and_are_seconds_without(void **state) {
  (void)state;
  expect(tt_parse_time, "7ns", 7);
  expect(tt_parse_time, "500us", 500000);
  expect(tt_parse_time, "20ms", 20000000);
  expect(tt_parse_time, "3s", INT64_C(3000000000));
  expect(tt_parse_time, "3", INT64_C(3000000000));
}

static void test_other_texts_are_refused_by_name(void **state) {
  (void)state;
  const char *const texts[] = {"", " 1", "-1", "+1", "1 ", "1.5", "K", "1X", "1KB", "0x10", "9223372036854775808"};
  for (size_t t = 0; t < TT_COUNT(texts); t++) {
    refuse(tt_parse_bytes, texts[t]);
    refuse(tt_parse_time, texts[t]);
  }
  refuse(tt_parse_bytes, "9007199254740992K");
  refuse(tt_parse_bytes, "1s");
  refuse(tt_parse_time, "9223372037s");
  refuse(tt_parse_time, "1K");
}

static void expect_format(int64_t bytes, const char *wanted) {
  char text[16];
  tt_format_bytes(bytes, text);
  assert_string_equal(text, wanted);
}

static void test_sizes_are_written_with_the_largest_unit_that_divides(void **state) {
  (void)state;
  expect_format(0, "0");
  expect_format(1023, "1023");
  expect_format(65536, "64K");
  expect_format(65537, "65537");
  expect_format(1 << 20, "1M");
  expect_format(INT64_C(6) << 30, "6G");
}

static void test_written_sizes_parse_back(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 1);
  for (int n = 0; n < 1000; n++) {
    int64_t bytes = (int64_t)(tt_random_next(&random) >> (20 + tt_random_below(&random, 40)));
    char text[16];
    tt_format_bytes(bytes, text);
    expect(tt_parse_bytes, text, bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sizes_have_units_of_1024),
      cmocka_unit_test(test_times_have_units_and_are_seconds_without),
      cmocka_unit_test(test_other_texts_are_refused_by_name),
      cmocka_unit_test(test_sizes_are_written_with_the_largest_unit_that_divides),
      cmocka_unit_test(test_written_sizes_parse_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
