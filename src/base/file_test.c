/* A descriptor is known to be what it was, whoever closes it and whatever has its number then. */
#include "base/base.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static void test_descriptor_is_what_it_was_until_it_is_closed(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  tt_file file = tt_file_of(ends[0]);
  assert_int_equal(file.fd, ends[0]);
  assert_true(tt_file_is_open(&file));
  close(ends[0]);
  assert_false(tt_file_is_open(&file));
  int other = open("/dev/null", O_RDONLY);
  assert_int_equal(other, file.fd);
  assert_false(tt_file_is_open(&file));
  close(other);
  close(ends[1]);
}

static void test_no_descriptor_is_not_open(void **state) {
  (void)state;
  tt_file none = tt_file_of(-1), closed = tt_file_of(1000000);
  assert_true(none.fd == -1 && closed.fd == -1);
  assert_false(tt_file_is_open(&none) || tt_file_is_open(&closed));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_descriptor_is_what_it_was_until_it_is_closed),
      cmocka_unit_test(test_no_descriptor_is_not_open),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
