/* base/options_test.c - good values are taken, bad ones reported and replaced, and the table's own defaults parse.
 *
 * Options are parsed once for a process: the environment is set, with stderr in a file, before the first test. */
#include "base/base.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const environment[][2] = {
    {"TUTTI_LOG", "2"},        {"TUTTI_TIMEOUT", "20ms"},  {"TUTTI_CREATE_TIMEOUT", "soon"},
    {"TUTTI_VERIFY", "yes"},   {"TUTTI_SPIN", "12x"},      {"TUTTI_SLOT_BYTES", "64K"},
    {"TUTTI_SLOT_COUNT", "0"}, {"TUTTI_DIRECT_BYTES", ""}, {"TUTTI_PARAMS", "ring channels=2"},
    {"TUTTI_RANK", "3"},       {"TUTTI_FETCH_BYTES", "0"},
};
static char report[4096];

static void test_good_values_are_taken(void **state) {
  (void)state;
  const tt_options *options = tt_options_get();
  assert_true(options->log == 2);
  assert_true(options->timeout_ns == 20000000);
  assert_true(options->slot_bytes == 65536);
  assert_true(options->set.rank == 3);
  assert_string_equal(options->choice.params, "ring channels=2");
}

static void test_bad_values_become_the_default_and_are_reported(void **state) {
  (void)state;
  const tt_options *options = tt_options_get();
  assert_true(options->create_timeout_ns == INT64_C(60000000000));
  assert_true(options->verify == 0);
  assert_true(options->spin > 0);
  assert_true(options->slot_count > 0);
  assert_non_null(strstr(report, "TUTTI_CREATE_TIMEOUT: 'soon' is not a time"));
  assert_non_null(strstr(report, "TUTTI_VERIFY: 'yes' is neither 0 nor 1"));
  assert_non_null(strstr(report, "TUTTI_SPIN: '12x' is not a number"));
  assert_non_null(strstr(report, "TUTTI_SLOT_COUNT: 0 is less than 1"));
  assert_int_equal(options->bytes.fetch, 1 << 20);
  assert_non_null(strstr(report, "TUTTI_FETCH_BYTES: 0 is less than 1"));
  assert_string_equal(tutti_last_error(), "");
}

static void test_unset_and_empty_values_are_the_default_without_a_word(void **state) {
  (void)state;
  assert_true(tt_options_get()->direct_bytes > 0);
  assert_true(tt_options_get()->set.size == -1);
  assert_string_equal(tt_options_get()->choice.profile, "");
  assert_null(strstr(report, "TUTTI_DIRECT_BYTES"));
  assert_null(strstr(report, "TUTTI_SIZE"));
  assert_null(strstr(report, "TUTTI_LOG"));
}

static void test_a_text_is_a_copy(void **state) {
  (void)state;
  setenv("TUTTI_PARAMS", "changed", 1);
  assert_string_equal(tt_options_get()->choice.params, "ring channels=2");
}

static void test_rows_are_documented_and_named_alike(void **state) {
  (void)state;
  size_t count;
  const tt_option *table = tt_option_table(&count);
  assert_true(count > 0);
  for (size_t row = 0; row < count; row++) {
    assert_int_equal(strncmp(table[row].name, "TUTTI_", 6), 0);
    assert_true(strlen(table[row].help) > 10);
    for (size_t other = 0; other < row; other++)
      assert_true(table[row].offset != table[other].offset && strcmp(table[row].name, table[other].name) != 0);
  }
}

static void parse_with_stderr_in(FILE *file) {
  int terminal = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  tt_options_get();
  dup2(terminal, STDERR_FILENO);
  close(terminal);
}

static int parse_environment(void **state) {
  (void)state;
  for (size_t e = 0; e < TT_COUNT(environment); e++)
    setenv(environment[e][0], environment[e][1], 1);
  FILE *file = tmpfile();
  if (file == NULL)
    return -1;
  parse_with_stderr_in(file);
  rewind(file);
  report[fread(report, 1, sizeof report - 1, file)] = '\0';
  fclose(file);
  return 0;
}

static void test_slips_lead_to_the_nearest_name(void **state) {
  (void)state;
  static const struct {
    const char *name, *nearest;
  } of[] = {{"TUTTI_VERFIY", "TUTTI_VERIFY"},
            {"TUTTI_TIMEOUTS", "TUTTI_TIMEOUT"},
            {"TUTTI_LOGG", "TUTTI_LOG"},
            {"TUTTI_NODE", "TUTTI_NODES"},
            {"TUTTI_PARAM", "TUTTI_PARAMS"},
            {"TUTTI_VERYFI", "TUTTI_VERIFY"},
            {"TUTTI_BANANA", NULL},
            {"TUTTI_", NULL},
            {"", NULL}};
  for (size_t n = 0; n < TT_COUNT(of); n++) {
    const char *nearest = tt_option_nearest(of[n].name);
    assert_int_equal(nearest == NULL, of[n].nearest == NULL);
    if (nearest != NULL)
      assert_string_equal(nearest, of[n].nearest);
  }
  char endless[1000];
  memset(endless, 'T', sizeof endless - 1);
  endless[sizeof endless - 1] = '\0';
  assert_null(tt_option_nearest(endless));
}

static void test_a_program_may_have_no_environment(void **state) {
  (void)state;
  clearenv();
  tt_options_warn();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_values_are_taken),
      cmocka_unit_test(test_bad_values_become_the_default_and_are_reported),
      cmocka_unit_test(test_unset_and_empty_values_are_the_default_without_a_word),
      cmocka_unit_test(test_a_text_is_a_copy),
      cmocka_unit_test(test_rows_are_documented_and_named_alike),
      cmocka_unit_test(test_slips_lead_to_the_nearest_name),
      cmocka_unit_test(test_a_program_may_have_no_environment),
  };
  return cmocka_run_group_tests(tests, parse_environment, NULL);
}
