/* Requests in any number and order on several communicators; what becomes of those whose communicator goes. */
#include "api/api.h"
#include "fault/fault.h"

#include <inttypes.h>

enum { QUEUES = 3, EACH = 12 };

typedef struct posted {
  tutti_request *request;
  int32_t in[700], out[700];
  int64_t count;
} posted;

static void post(posted *of, tutti_comm *comm, uint64_t *random, int64_t value) {
  static const int64_t counts[] = {0, 1, 30, 700};
  of->count = counts[random_below(random, 4)];
  for (int64_t n = 0; n < of->count; n++)
    of->in[n] = (int32_t)(value + n);
  CHECK(tutti_allreduce_start(of->in, of->out, of->count, TUTTI_INT32, TUTTI_SUM, comm, &of->request) == TUTTI_OK);
}

static void check_sums(const posted *of, int64_t first, int64_t ranks) {
  for (int64_t n = 0; n < of->count; n++)
    CHECK(of->out[n] == (int32_t)(ranks * (first + n) + ranks * (ranks - 1) / 2));
}

/* All ranks post the same, each completes in an order of its own. */
static void complete_in_any_order(const tutti_boot *boot, void *argument) {
  const uint64_t *seed = argument;
  static posted all[QUEUES * EACH];
  tutti_comm *comm[QUEUES];
  tutti_context *context;
  uint64_t same = *seed, own = *seed + 1 + (uint64_t)boot->rank;
  comm[0] = join_all(boot, &context);
  for (int q = 1; q < QUEUES; q++)
    CHECK(tutti_comm_split(comm[0], 0, 0, &comm[q]) == TUTTI_OK);
  for (int n = 0; n < QUEUES * EACH; n++)
    post(&all[n], comm[random_below(&same, QUEUES)], &same, n + boot->rank);
  for (int left = QUEUES * EACH; left > 0;) {
    posted *of = &all[random_below(&own, QUEUES * EACH)];
    int done = 1;
    if (!of->request)
      continue;
    if (random_below(&own, 4) == 0)
      CHECK(tutti_wait(&of->request) == TUTTI_OK);
    else
      CHECK(tutti_test(&of->request, &done) == TUTTI_OK);
    CHECK((of->request == NULL) == (done != 0));
    left -= done != 0;
  }
  for (int n = 0; n < QUEUES * EACH; n++)
    check_sums(&all[n], n, boot->rank_count);
  for (int q = QUEUES - 1; q > 0; q--)
    tutti_comm_destroy(comm[q]);
  leave_all(context, comm[0]);
}

static void test_requests_complete_in_any_order(void **state) {
  (void)state;
  uint64_t seed = (uint64_t)now_ns();
  print_message("seed %" PRIu64 "\n", seed);
  for (int n = 0; n < (long_mode() ? 100 : 10); n++, seed += 1000)
    run_job(2 + n % 3, complete_in_any_order, &seed);
}

/* Rank 0 blocks on one communicator while the others wait for what it has started on another. */
static void block_elsewhere(const tutti_boot *boot, void *argument) {
  (void)argument;
  enum { COUNT = 300000 };
  tutti_context *context;
  tutti_comm *a = join_all(boot, &context), *b = NULL;
  int32_t *in = calloc(COUNT, sizeof *in), *out = calloc(COUNT, sizeof *out);
  tutti_request *request = NULL;
  CHECK(tutti_comm_split(a, 0, 0, &b) == TUTTI_OK);
  CHECK(tutti_comm_set_params(a, "allreduce", "ring") == TUTTI_OK);
  CHECK(tutti_allreduce_start(in, out, COUNT, TUTTI_INT32, TUTTI_SUM, a, &request) == TUTTI_OK);
  if (boot->rank != 0)
    CHECK(tutti_wait(&request) == TUTTI_OK);
  CHECK(tutti_barrier(b) == TUTTI_OK);
  CHECK(tutti_wait(&request) == TUTTI_OK);
  free(in);
  free(out);
  tutti_comm_destroy(b);
  leave_all(context, a);
}

static void test_blocking_call_moves_requests_of_other_communicators(void **state) {
  (void)state;
  run_job(3, block_elsewhere, NULL);
}

static void restart(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *small = NULL, *large = NULL;
  static int64_t in[9000], out[9000], one_in, one_out;
  CHECK(tutti_allreduce_init(&one_in, &one_out, 1, TUTTI_INT64, TUTTI_SUM, comm, &small) == TUTTI_OK);
  CHECK(tutti_allgather_init(in, out, 9000 / boot->rank_count, TUTTI_INT64, comm, &large) == TUTTI_OK);
  for (int n = 0; n < 200; n++) {
    int done = 0;
    one_in = in[0] = n + boot->rank;
    CHECK(tutti_request_start(large) == TUTTI_OK && tutti_request_start(small) == TUTTI_OK);
    while (!done)
      CHECK(tutti_test(n % 2 ? &small : &large, &done) == TUTTI_OK);
    CHECK(tutti_wait(&small) == TUTTI_OK && tutti_wait(&large) == TUTTI_OK);
    CHECK(one_out == boot->rank_count * n + boot->rank_count * (boot->rank_count - 1) / 2);
    for (int64_t r = 0; r < boot->rank_count; r++)
      CHECK(out[r * (9000 / boot->rank_count)] == n + r);
  }
  tutti_request_destroy(small);
  tutti_request_destroy(large);
  leave_all(context, comm);
}

static void test_persistent_requests_start_again(void **state) {
  (void)state;
  run_job(3, restart, NULL);
}

/* Rank 0 tests the second of two calls, of which the others come to the first only. */
static void test_later_one(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int32_t in = 1, out[2];
  tutti_request *request[2] = {NULL, NULL};
  int done = 1;
  if (boot->rank == 0)
    for (int n = 0; n < 2; n++)
      CHECK(tutti_allreduce_start(&in, &out[n], 1, TUTTI_INT32, TUTTI_SUM, comm, &request[n]) == TUTTI_OK);
  if (boot->rank == 0)
    CHECK(tutti_test(&request[1], &done) == TUTTI_OK && !done && request[1]->waiter.began_ns > 0);
  outcomes[boot->rank].calls = 1;
  while (outcomes[0].calls == 0)
    sched_yield();
  if (boot->rank != 0)
    CHECK(tutti_allreduce(&in, &out[0], 1, TUTTI_INT32, TUTTI_SUM, comm) == TUTTI_OK);
  else
    CHECK(tutti_wait(&request[0]) == TUTTI_OK);
  int64_t moved_ns = now_ns();
  if (boot->rank == 0) /* it has waited since the first was complete, not longer */
  {
    CHECK(tutti_test(&request[1], &done) == TUTTI_OK && !done);
    CHECK(tutti_test(&request[1], &done) == TUTTI_OK && !done && request[1]->waiter.began_ns >= moved_ns);
  }
  outcomes[boot->rank].calls = 2;
  while (outcomes[0].calls < 2)
    sched_yield();
  if (boot->rank != 0)
    CHECK(tutti_allreduce(&in, &out[1], 1, TUTTI_INT32, TUTTI_SUM, comm) == TUTTI_OK);
  else
    CHECK(tutti_wait(&request[1]) == TUTTI_OK);
  leave_all(context, comm);
}

static void test_time_of_a_test_is_that_without_progress(void **state) {
  (void)state;
  run_job(2, test_later_one, NULL);
}

#define LIMIT_NS 5000000

static const tutti_transport_ops *usual;

static void sleep_at_most(void *transport, int64_t longest_ns) {
  CHECK(longest_ns <= LIMIT_NS + 1);
  usual->wait(transport, longest_ns);
}

/* Rank 1 does not come. */
static void wait_for_a_while(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *request;
  if (boot->rank == 0) {
    CHECK(tutti_barrier_start(comm, &request) == TUTTI_OK);
    usual = context->ops;
    tutti_transport_ops ops = *usual;
    ops.wait = sleep_at_most;
    context->ops = &ops;
    report(boot, tutti_wait_for(&request, LIMIT_NS));
    context->ops = usual;
    outcomes[0].calls++;
  }
  while (outcomes[0].calls == 0)
    sched_yield();
  leave_all(context, comm);
}

static void test_sleep_is_no_longer_than_the_time_limit(void **state) {
  (void)state;
  run_job(2, wait_for_a_while, NULL);
  assert_outcome(0, TUTTI_ERR_TIMEOUT, "(the wait's own time limit)");
}

static void destroy_too_early(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *request = NULL;
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  if (boot->rank == 1) {
    CHECK(tutti_barrier_start(comm, &request) == TUTTI_OK);
    CHECK(context->outstanding == 1);
    tutti_comm_destroy(comm);
    CHECK(context->outstanding == 0);
    report(boot, tutti_wait(&request));
    tutti_context_destroy(context);
    return;
  }
  while (!tt_agree_poisoned(comm))
    sched_yield();
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_communicator_destroyed_in_a_call_is_everyones_error(void **state) {
  (void)state;
  run_job(3, destroy_too_early, NULL);
  assert_outcome(1, TUTTI_ERR_ABORTED, "");
  for (int r = 0; r < 3; r += 2)
    assert_outcome(r, TUTTI_ERR_ABORTED, "rank 1 destroyed the communicator in the middle of call 2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_requests_complete_in_any_order),
      FAULT_TEST(test_blocking_call_moves_requests_of_other_communicators),
      FAULT_TEST(test_persistent_requests_start_again),
      FAULT_TEST(test_time_of_a_test_is_that_without_progress),
      FAULT_TEST(test_sleep_is_no_longer_than_the_time_limit),
      FAULT_TEST(test_communicator_destroyed_in_a_call_is_everyones_error),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}
