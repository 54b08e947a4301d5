/* tests/fault/refuse_apart_test.c - calls that one rank refuses while ranks are furthest apart: who refuses leaves at
 * once, or another has left before, or comes when all others are gone, or looks at its requests last. */
#include "fault/refuse.h"

/* ---- who refuses, and leaves ---- */

static void refuse_and_leave(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  if (boot->rank == 1) {
    tutti_comm_refuse(comm, "wrong argument");
    leave_all(context, comm);
    go_on(boot);
    return;
  }
  if (boot->rank == 2)
    await(1, 1);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void expect_refusal_of_one(void *argument) {
  (void)argument;
  assert_outcome(0, TUTTI_ERR_REFUSED, "rank 1 refused call 2 on a communicator of 3: wrong argument");
  assert_outcome(2, TUTTI_ERR_REFUSED, "rank 1 refused call 2 on a communicator of 3: wrong argument");
}

static void test_who_refuses_a_call_may_leave(void **state) {
  (void)state;
  static const char *const nodes[] = {"2,1", "1,2", "1,1,1", NULL};
  run_across(3, nodes, refuse_and_leave, NULL, expect_refusal_of_one);
}

/* Rank 0 is ahead, refuses, and leaves before rank 1 refuses a call that it was through with. */
static void refuse_behind_a_leaver(const tutti_boot *boot, void *argument) {
  (void)argument;
  int64_t data = 1;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  if (boot->rank == 0) {
    CHECK(tutti_broadcast(&data, &data, 1, TUTTI_INT64, 0, comm) == TUTTI_OK);
    tutti_comm_refuse(comm, "of rank 0");
    leave_all(context, comm);
    go_on(boot);
    return;
  }
  await(0, 1);
  if (boot->rank == 1)
    tutti_comm_refuse(comm, "of rank 1");
  go_on(boot);
  await(1, 1);
  if (boot->rank > 1) {
    tutti_status status = tutti_broadcast(&data, &data, 1, TUTTI_INT64, 0, comm);
    if (status != TUTTI_OK) /* its data may be there, on another machine */
      check_refused(status, "rank 1 refused call 2 on a communicator of 4: of rank 1");
  }
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

/* On another machine it is enough to know that the call is over. */
static void expect_refusal_of_zero(void *argument) {
  (void)argument;
  bool apart = getenv("TUTTI_NODES");
  for (int r = 1; r < 4; r++)
    assert_outcome(r, TUTTI_ERR_REFUSED,
                   apart ? "refused call" : "rank 0 refused call 3 on a communicator of 4: of rank 0");
}

static void test_two_refuse_one_of_them_ahead_and_gone(void **state) {
  (void)state;
  static const char *const nodes[] = {"2x2", "1,3", "1,1,1,1", NULL};
  run_across(4, nodes, refuse_behind_a_leaver, NULL, expect_refusal_of_zero);
}

/* Rank 0 has destroyed the communicator when rank 1 refuses a call on it: it said nothing of that, and nobody told it.
 */
static void refuse_after_an_end(const tutti_boot *boot, void *argument) {
  (void)argument;
  int64_t data = 1;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context), *part = NULL;
  CHECK(tutti_comm_split(comm, 0, 0, &part) == TUTTI_OK);
  CHECK(tutti_barrier(part) == TUTTI_OK);
  if (boot->rank == 0) {
    for (int n = 0; n < 2; n++)
      CHECK(tutti_broadcast(&data, &data, 1, TUTTI_INT64, 0, part) == TUTTI_OK);
  } else {
    await(0, 1);
    if (boot->rank == 1)
      tutti_comm_refuse(part, "of rank 1");
    else /* its data may be there */
      tutti_broadcast(&data, &data, 1, TUTTI_INT64, 0, part);
    tutti_status status = tutti_broadcast(&data, &data, 1, TUTTI_INT64, 0, part);
    if (boot->rank == 1)
      check_refused(status, "call 3 on a communicator of 3 was given up because rank 1 refused call 2: of rank 1");
  }
  tutti_comm_destroy(part);
  go_on(boot);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_a_call_is_refused_when_another_rank_has_destroyed_the_communicator(void **state) {
  (void)state;
  static const char *const nodes[] = {"1,2", "2,1", "1,1,1", NULL};
  run_across(3, nodes, refuse_after_an_end, NULL, expect_three);
}

/* Ranks 0 and 1 have left the job when rank 2 comes to the call that one of them has done and the other refused. */
static void come_last(const tutti_boot *boot, void *argument) {
  (void)argument;
  int64_t in[3] = {1, 2, 3}, out[3];
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  CHECK(tutti_all_to_all(in, out, 1, TUTTI_INT64, comm) == TUTTI_OK);
  if (boot->rank == 0)
    CHECK(tutti_gather(in, out, 1, TUTTI_INT64, 2, comm) == TUTTI_OK);
  if (boot->rank == 1) {
    await(0, 1);
    tutti_comm_refuse(comm, "of rank 1");
  }
  if (boot->rank < 2) {
    leave_all(context, comm);
    go_on(boot);
    return;
  }
  await(1, 1);
  report(boot, tutti_gather(in, out, 1, TUTTI_INT64, 2, comm));
  leave_all(context, comm);
}

static void expect_told_last(void *argument) {
  (void)argument;
  assert_outcome(2, TUTTI_ERR_REFUSED, "rank 1 refused call 2 on a communicator of 3: of rank 1");
}

static void test_who_comes_when_all_others_have_left_is_told(void **state) {
  (void)state;
  static const char *const nodes[] = {"1,2", "1,1,1", NULL};
  run_across(3, nodes, come_last, NULL, expect_told_last);
}

/* Rank 2 never calls anything on the communicator: only its leaving the job says that it will not come. It leaves after
 * rank 1 has refused: else rank 0 may read first that rank 2 left, which is as true. */
static void leave_without_a_call(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  if (boot->rank == 1) {
    tutti_comm_refuse(comm, "a test");
    go_on(boot);
  } else if (boot->rank == 0) {
    check_refused(tutti_barrier(comm), "rank 1 refused call 1 on a communicator of 3: a test");
  } else {
    await(1, 1);
  }
  report(boot, boot->rank < 2 ? tutti_barrier(comm) : TUTTI_ERR_REFUSED);
  leave_all(context, comm);
}

static void expect_end(void *argument) {
  (void)argument;
  expect_all(3, TUTTI_ERR_REFUSED, "");
}

static void test_who_leaves_without_a_call_is_not_waited_for(void **state) {
  (void)state;
  static const char *const nodes[] = {NULL};
  run_across(3, nodes, leave_without_a_call, NULL, expect_end);
}

/* ---- whose reason a request has ---- */

static void collect_late(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *first = NULL, *second = NULL;
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  if (boot->rank == 0) {
    CHECK(tutti_barrier_start(comm, &first) == TUTTI_OK && tutti_barrier_start(comm, &second) == TUTTI_OK);
    check_refused(tutti_wait(&second), "rank 2 refused call 3 on a communicator of 3: of rank 2");
    check_refused(tutti_wait(&first), "rank 1 refused call 2 on a communicator of 3: of rank 1");
  }
  if (boot->rank == 1) {
    tutti_comm_refuse(comm, "of rank 1");
    check_refused(tutti_barrier(comm), "rank 2 refused call 3");
  }
  if (boot->rank == 2) {
    check_refused(tutti_barrier(comm), "rank 1 refused call 2");
    tutti_comm_refuse(comm, "of rank 2");
  }
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_a_request_keeps_who_refused_it(void **state) {
  (void)state;
  static const char *const nodes[] = {"1,1,1", NULL};
  run_across(3, nodes, collect_late, NULL, expect_three);
}

/* ---- in a call that another rank refuses, behind one's own refusals ---- */

static tutti_request *start_sum(int32_t *data, tutti_comm *comm) {
  tutti_request *request = NULL;
  CHECK(tutti_allreduce_start(&data[0], &data[1], 1, TUTTI_INT32, TUTTI_SUM, comm, &request) == TUTTI_OK);
  return request;
}

static void send_from_1(tutti_comm *comm) {
  int32_t word = 0;
  CHECK(tutti_broadcast(&word, &word, 1, TUTTI_INT32, 1, comm) == TUTTI_OK);
}

/* Calls 1 and 2; it makes 3, and looks at it when the others are through with 1. Then it goes elsewhere. */
static void refuse_two_make_one(const tutti_boot *boot, tutti_comm *comm) {
  int32_t data[2] = {0, 0};
  int done = 0;
  tutti_comm_refuse(comm, "of rank 0");
  tutti_comm_refuse(comm, "of rank 0");
  go_on(boot);
  await(2, 1);
  tutti_request *request = start_sum(data, comm);
  go_on(boot);
  await(1, 1);
  tutti_status status = tutti_test(&request, &done);
  go_on(boot);
  check_refused(done ? status : tutti_wait(&request), "rank 2 refused call 3");
  await(1, 2);
  await(2, 2);
}

static void make_two_refuse_one(const tutti_boot *boot, tutti_comm *comm) {
  int32_t data[2][2] = {{0, 0}, {0, 0}};
  await(0, 1);
  tutti_request *first = start_sum(data[0], comm), *second = start_sum(data[1], comm);
  tutti_comm_refuse(comm, "of rank 2");
  go_on(boot);
  await(0, 3);
  check_refused(tutti_wait(&first), "rank 0 refused call 1");
  check_refused(tutti_wait(&second), "rank 0 refused call 2");
}

static void make_three(const tutti_boot *boot, tutti_comm *comm) {
  int32_t data[2] = {0, 0};
  await(0, 2);
  tutti_request *request = start_sum(data, comm);
  go_on(boot);
  await(0, 3);
  check_refused(tutti_wait(&request), "rank 0 refused call 1");
  check_refused(tutti_barrier(comm), "rank 0 refused call 2");
  check_refused(tutti_barrier(comm), "rank 2 refused call 3");
}

static void refuse_around_a_call(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  (boot->rank == 0 ? refuse_two_make_one : boot->rank == 1 ? make_three : make_two_refuse_one)(boot, comm);
  send_from_1(comm);
  go_on(boot);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_who_leaves_a_call_behind_own_refusals_is_not_waited_for(void **state) {
  (void)state;
  static const char *const nodes[] = {NULL};
  run_across(3, nodes, refuse_around_a_call, NULL, expect_three);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      NODES_TEST(test_who_refuses_a_call_may_leave),
      NODES_TEST(test_two_refuse_one_of_them_ahead_and_gone),
      NODES_TEST(test_a_call_is_refused_when_another_rank_has_destroyed_the_communicator),
      NODES_TEST(test_who_comes_when_all_others_have_left_is_told),
      NODES_TEST(test_who_leaves_without_a_call_is_not_waited_for),
      NODES_TEST(test_a_request_keeps_who_refused_it),
      NODES_TEST(test_who_leaves_a_call_behind_own_refusals_is_not_waited_for),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}
