/* base/log_test.c - a line has its rank in front, ends once, and is written only up to the chosen level. */
#include "base/base.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char written[4096];

/* What tt_log(level, "%s", text) writes to stderr, in `written`. */
static void capture(tt_log_level level, const char *text) {
  FILE *file = tmpfile();
  assert_non_null(file);
  int terminal = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  tt_log(level, "%s", text);
  dup2(terminal, STDERR_FILENO);
  close(terminal);
  rewind(file);
  written[fread(written, 1, sizeof written - 1, file)] = '\0';
  fclose(file);
}

static void test_log_line_names_its_rank_where_it_has_one(void **state) {
  (void)state;
  capture(TT_LOG_ERROR, "no boot");
  assert_string_equal(written, "tutti: no boot\n");
  tt_log_rank(12);
  capture(TT_LOG_WARN, "slow");
  assert_string_equal(written, "tutti[12]: slow\n");
  tt_log_rank(-1);
}

static void test_log_keeps_to_its_level(void **state) {
  (void)state;
  capture(TT_LOG_INFO, "shown");
  assert_string_equal(written, "tutti: shown\n");
  capture(TT_LOG_DEBUG, "hidden");
  assert_string_equal(written, "");
}

static void test_log_cuts_a_long_line_and_still_ends_it(void **state) {
  (void)state;
  char text[3000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  capture(TT_LOG_ERROR, text);
  assert_in_range(strlen(written), 500, 2000);
  assert_ptr_equal(strchr(written, '\n'), written + strlen(written) - 1);
}

int main(void) {
  setenv("TUTTI_LOG", "2", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_log_line_names_its_rank_where_it_has_one),
      cmocka_unit_test(test_log_keeps_to_its_level),
      cmocka_unit_test(test_log_cuts_a_long_line_and_still_ends_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
