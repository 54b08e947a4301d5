/* tests/fault/ahead_test.c - a rank that has run ahead of the others, and requests that outlive what they were made
 * for. */
#include "support/job.h"

#include <tutti/tutti.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { AHEAD = 8 };

static tutti_comm *open_comm(const tutti_boot *boot, tutti_context **context) {
  tutti_context_options options;
  tutti_comm *comm;
  tutti_context_options_init(&options);
  alarm(60); /* a hang becomes a failure */
  options.boot = boot;
  CHECK(tutti_context_create(&options, context) == TUTTI_OK);
  CHECK(tutti_comm_create(*context, &comm) == TUTTI_OK);
  return comm;
}

/* Rank 0 returns from its broadcasts while the others wait in another call; all must learn of the first of them. */
static void run_ahead(const tutti_boot *boot, void *unused) {
  (void)unused;
  static int32_t in[8], out[3 * 8];
  tutti_context *context;
  tutti_comm *comm = open_comm(boot, &context);
  tutti_status status = TUTTI_OK;
  CHECK(tutti_comm_set_params(comm, "broadcast", "chain") == TUTTI_OK);
  CHECK(tutti_comm_set_params(comm, "allreduce", "chain") == TUTTI_OK);
  for (int n = 0; n < AHEAD && boot->rank == 0 && status == TUTTI_OK; n++)
    status = tutti_broadcast(in, out, 0, TUTTI_INT32, 0, comm); /* moves nothing: never waits */
  if (status == TUTTI_OK)
    status = boot->rank == 0 ? tutti_broadcast(in, out, 8, TUTTI_INT32, 1, comm)
                             : tutti_broadcast(in, out, 8, TUTTI_INT32, 0, comm);
  CHECK(status == TUTTI_ERR_MISMATCH);
  CHECK(strstr(tutti_last_error(), "ranks differ in call 1 ") != NULL);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

/* Whether the last start is complete already differs from rank to rank; whether it was waited for does not. */
static void restart_too_early(const tutti_boot *boot, void *unused) {
  (void)unused;
  int64_t one = 1, sum = 0;
  tutti_context *context;
  tutti_request *request;
  tutti_comm *comm = open_comm(boot, &context);
  CHECK(tutti_allreduce_init(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
  for (int round = 0; round < 20; round++) {
    CHECK(tutti_request_start(request) == TUTTI_OK);
    CHECK(tutti_request_start(request) == TUTTI_ERR_ARGUMENT);
    CHECK(tutti_wait(&request) == TUTTI_OK);
    CHECK(sum == boot->rank_count);
  }
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  tutti_request_destroy(request);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void outlive_the_communicator(const tutti_boot *boot, void *unused) {
  (void)unused;
  int64_t one = 1, sum = 0;
  tutti_context *context;
  tutti_request *persistent, *other;
  tutti_comm *comm = open_comm(boot, &context);
  CHECK(tutti_allreduce_init(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &persistent) == TUTTI_OK);
  CHECK(tutti_allreduce_init(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &other) == TUTTI_OK);
  tutti_request_destroy(other);
  tutti_comm_destroy(comm);
  CHECK(tutti_request_start(persistent) == TUTTI_ERR_ARGUMENT);
  tutti_request_destroy(persistent);
  tutti_context_destroy(context);
}

static void test_mismatch_is_found_though_one_rank_ran_ahead(void **state) {
  (void)state;
  assert_int_equal(job_run(3, run_ahead, NULL), 0);
}

static void test_start_is_refused_until_the_last_one_was_waited_for(void **state) {
  (void)state;
  assert_int_equal(job_run(3, restart_too_early, NULL), 0);
}

static void test_requests_may_outlive_their_communicator(void **state) {
  (void)state;
  assert_int_equal(job_run(2, outlive_the_communicator, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mismatch_is_found_though_one_rank_ran_ahead),
      cmocka_unit_test(test_start_is_refused_until_the_last_one_was_waited_for),
      cmocka_unit_test(test_requests_may_outlive_their_communicator),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
