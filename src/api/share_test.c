/* A context that parts of a process share: found by those that ask for it, one job, gone with the last of them. */
#include "api/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  (void)user, (void)timeout_ns, (void)missing, (void)missing_size;
  memcpy(all, mine, bytes);
  return TUTTI_OK;
}

static tutti_context *make(void) {
  static const tutti_boot boot = {.size = sizeof boot, .rank = 0, .rank_count = 1, .allgather = allgather};
  tutti_context_options options;
  tutti_context *context = NULL;
  tutti_context_options_init(&options);
  options.boot = &boot;
  assert_int_equal(tutti_context_create(&options, &context), TUTTI_OK);
  return context;
}

static int held; /* the digits that it was called with */

static void hold(int begins) { held = 10 * held + begins; }

static tutti_context *find(void) {
  tutti_context *found = NULL;
  assert_int_equal(tutti_context_shared(&found), TUTTI_OK);
  return found;
}

static int64_t sum_of_ranks(tutti_comm *comm) {
  int64_t one = 1, sum = 0;
  assert_int_equal(tutti_allreduce(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm), TUTTI_OK);
  return sum;
}

static void test_it_lives_as_long_as_someone_has_it(void **state) {
  (void)state;
  tutti_comm *comm;
  tutti_context *context = make();
  assert_null(find());
  assert_int_equal(tutti_context_share(context, hold), TUTTI_OK);
  assert_ptr_equal(find(), context);
  assert_int_equal(held, 10);
  assert_non_null(context->progress); /* others move what one has started */
  assert_ptr_equal(find(), context);
  tutti_context_destroy(context);
  assert_int_equal(held, 10); /* its lock keeps others out now */
  assert_int_equal(tutti_comm_create(context, &comm), TUTTI_OK);
  assert_int_equal(tutti_context_share(NULL, NULL), TUTTI_OK);
  assert_null(find());
  tutti_context_destroy(context); /* of who has made it */
  assert_int_equal(sum_of_ranks(comm), 1);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_it_is_not_found_once_it_is_destroyed(void **state) {
  (void)state;
  tutti_context *context = make();
  assert_int_equal(tutti_context_share(context, NULL), TUTTI_OK);
  tutti_context_destroy(context);
  assert_null(find());
}

static void test_forks_have_none(void **state) {
  (void)state;
  int code;
  tutti_context *context = make();
  assert_int_equal(tutti_context_share(context, NULL), TUTTI_OK);
  pid_t child = fork();
  if (child == 0) {
    tutti_context *found = context;
    bool none = tutti_context_shared(&found) == TUTTI_OK && !found;
    _exit(none && tutti_context_share(context, NULL) == TUTTI_ERR_UNSUPPORTED ? 0 : 1);
  }
  assert_true(child > 0 && waitpid(child, &code, 0) == child && code == 0);
  tutti_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_it_lives_as_long_as_someone_has_it),
      cmocka_unit_test(test_it_is_not_found_once_it_is_destroyed),
      cmocka_unit_test(test_forks_have_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
