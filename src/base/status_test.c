/* base/status_test.c - names of statuses, and that each thread has an error text of its own. */
#include "base/base.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static void test_every_status_has_its_name(void **state) {
  (void)state;
  assert_string_equal(tutti_status_name(TUTTI_OK), "TUTTI_OK");
  assert_string_equal(tutti_status_name(TUTTI_ERR_PEER), "TUTTI_ERR_PEER");
  assert_string_equal(tutti_status_name(TUTTI_ERR_PLAN), "TUTTI_ERR_PLAN");
  assert_string_equal(tutti_status_name((tutti_status)77), "TUTTI_ERR_UNKNOWN");
  assert_string_equal(tutti_status_name((tutti_status)-1), "TUTTI_ERR_UNKNOWN");
}

static void test_fail_records_the_text_and_returns_the_status(void **state) {
  (void)state;
  assert_int_equal(tt_fail(TUTTI_ERR_ARGUMENT, "root %d is not in 0..%d", 9, 3), TUTTI_ERR_ARGUMENT);
  assert_string_equal(tutti_last_error(), "root 9 is not in 0..3");
  tt_fail_clear();
  assert_string_equal(tutti_last_error(), "");
}

static void test_fail_can_wrap_the_last_text(void **state) {
  (void)state;
  tt_fail(TUTTI_ERR_PLAN, "no level 'rack'");
  tt_fail(TUTTI_ERR_PLAN, "preset ring: %s", tutti_last_error());
  assert_string_equal(tutti_last_error(), "preset ring: no level 'rack'");
}

static void test_fail_cuts_what_is_too_long(void **state) {
  (void)state;
  tt_fail(TUTTI_ERR_ARGUMENT, "%5000d", 1);
  assert_in_range(strlen(tutti_last_error()), 500, 4999);
}

static void *fail_in_thread(void *text_at_start) {
  strcpy(text_at_start, tutti_last_error());
  tt_fail(TUTTI_ERR_SYSTEM, "theirs");
  return NULL;
}

static void test_each_thread_has_its_own_text(void **state) {
  (void)state;
  char text_at_start[1024] = "unset";
  tt_fail(TUTTI_ERR_SYSTEM, "ours");
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, text_at_start), 0);
  assert_int_equal(pthread_join(thread, NULL), 0);
  assert_string_equal(text_at_start, "");
  assert_string_equal(tutti_last_error(), "ours");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_status_has_its_name),
      cmocka_unit_test(test_fail_records_the_text_and_returns_the_status),
      cmocka_unit_test(test_fail_can_wrap_the_last_text),
      cmocka_unit_test(test_fail_cuts_what_is_too_long),
      cmocka_unit_test(test_each_thread_has_its_own_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
