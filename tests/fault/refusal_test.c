/* tests/fault/refusal_test.c - calls that one rank refuses, in the situations in which ranks are furthest apart: who
 * refuses several, who leaves at once, who waits outside, who refuses hundreds. refuse_test.c mixes them. */
#include "fault/fault.h"

#include "api/api.h"
#include "transport/nodes/nodes.h"
#include "transport/shm/self.h"

#include <inttypes.h>

#define LONG 200000
#define SOME 10000 /* goes off though nobody takes it */
#define FEW 20

/* Of which the transport of this rank's machine has made use. */
static int64_t shared_bytes(const tutti_context *context) {
  void *inner = context->machine.head_of ? tt_nodes_inner(context->transport) : context->transport;
  struct stat file;
  CHECK(fstat(((tt_shm *)inner)->segment->file.fd, &file) == 0);
  return (int64_t)file.st_blocks * 512;
}

static void expect_all(int ranks, tutti_status status, const char *text) {
  for (int r = 0; r < ranks; r++)
    assert_outcome(r, status, text);
}

/* What orders ranks here is no part of tutti: it looks at no call for them meanwhile. */
static void go_on(const tutti_boot *boot) { outcomes[boot->rank].calls++; }

static void await(int rank, int64_t calls) {
  while (outcomes[rank].calls < calls)
    sched_yield();
}

static int forget_nodes(void **state) {
  unsetenv("TUTTI_NODES");
  return fault_teardown(state);
}

/* The job on one machine, and on those that TUTTI_NODES says, up to NULL. */
static void run_across(int ranks, const char *const *nodes, job_body body, void *argument,
                       void (*check)(void *argument)) {
  run_job(ranks, body, argument);
  check(argument);
  for (; *nodes; nodes++) {
    setenv("TUTTI_NODES", *nodes, 1);
    run_job(ranks, body, argument);
    check(argument);
  }
}

static void check_refused(tutti_status status, const char *text) {
  if (status != TUTTI_ERR_REFUSED || !strstr(tutti_last_error(), text))
    fprintf(stderr, "%s '%s', expected '%s'\n", tutti_status_name(status), tutti_last_error(), text);
  CHECK(status == TUTTI_ERR_REFUSED && strstr(tutti_last_error(), text));
}

/* ---- many ---- */

typedef struct hundreds {
  int refusals;
  int64_t count; /* elements of the call that is refused */
} hundreds;

static void refuse_hundreds(const tutti_boot *boot, void *argument) {
  const hundreds *of = argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int32_t *data = calloc(LONG, sizeof *data);
  int64_t bytes = 0;
  for (int n = 0; n < of->refusals; n++) {
    if (boot->rank == boot->rank_count - 1) {
      tutti_comm_refuse(comm, "a test");
    } else {
      tutti_status status = tutti_broadcast(data, data, of->count, TUTTI_INT32, 0, comm);
      CHECK(status == TUTTI_OK || /* it may be through with it before */
            (status == TUTTI_ERR_REFUSED && strstr(tutti_last_error(), "refused call")));
    }
    CHECK(tutti_barrier(comm) == TUTTI_OK);
    if (n == FEW)
      bytes = shared_bytes(context);
  }
  CHECK(shared_bytes(context) < bytes + bytes / 2);
  free(data);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_hundreds_of_refusals_leave_nothing_in_shared_memory(void **state) {
  (void)state;
  static const int64_t counts[] = {LONG, 200, 1000, 3000}; /* by streams, and by each area of the cells */
  for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
    run_job(2, refuse_hundreds, &(hundreds){n == 0 ? 300 : 100, counts[n]});
    expect_all(2, TUTTI_OK, "");
    run_job(4, refuse_hundreds, &(hundreds){50, counts[n]});
    expect_all(4, TUTTI_OK, "");
  }
  setenv("TUTTI_NODES", "2,1", 1);
  run_job(3, refuse_hundreds, &(hundreds){60, LONG});
  expect_all(3, TUTTI_OK, "");
}

static int64_t resident_bytes(void) {
  int64_t all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%" SCNd64 " %" SCNd64, &all, &resident) == 2);
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

/* Rank 1 refuses what has come from another machine, in epochs in which it makes no call. */
static void refuse_in_a_row(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int32_t *data = calloc(SOME, sizeof *data);
  int64_t bytes = 0;
  for (int n = 0; n < 100; n++) {
    if (boot->rank == 0) {
      check_refused(tutti_barrier(comm), "a test"); /* the epoch ends */
      CHECK(tutti_broadcast(data, data, SOME, TUTTI_INT32, 0, comm) == TUTTI_OK);
      go_on(boot);
    } else {
      tutti_comm_refuse(comm, "a test");
      await(0, n + 1);
      tutti_comm_refuse(comm, "a test");
    }
    CHECK(tutti_barrier(comm) == TUTTI_OK);
    if (n == FEW)
      bytes = resident_bytes();
  }
  CHECK(SANITIZED || resident_bytes() < bytes + (1 << 20));
  free(data);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_refusals_in_a_row_leave_nothing_in_memory(void **state) {
  (void)state;
  setenv("TUTTI_NODES", "1,1", 1);
  run_job(2, refuse_in_a_row, NULL);
  expect_all(2, TUTTI_OK, "");
}

/* ---- who refuses several calls, and waits elsewhere ---- */

typedef struct series {
  int calls;
  bool same; /* the reason */
} series;

static void reason_of(const series *of, int call, char *text, size_t size) {
  snprintf(text, size, "reason %d", of->same ? 0 : call);
}

/* More reasons than a rank's cell has room for: the last ones are told as one. */
static void expect_reason(const series *of, int call, tutti_status status) {
  char text[120], why[40];
  reason_of(of, call, why, sizeof why);
  snprintf(text, sizeof text, "rank 0 refused call %d on a communicator of 3: %s", call, call < 6 ? why : "reason");
  check_refused(status, text);
}

static void refuse_series(const tutti_boot *boot, void *argument) {
  const series *of = argument;
  char why[40];
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int64_t in[3] = {0}, out[3];
  CHECK(tutti_all_to_all(in, out, 1, TUTTI_INT64, comm) == TUTTI_OK); /* connects all */
  for (int call = 2; call < 2 + of->calls; call++) {
    reason_of(of, call, why, sizeof why);
    if (boot->rank == 0)
      tutti_comm_refuse(comm, why);
    else
      expect_reason(of, call, tutti_barrier(comm));
  }
  go_on(boot);
  for (int r = 0; r < 3; r++)
    await(r, 1);
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void expect_three(void *argument) {
  (void)argument;
  expect_all(3, TUTTI_OK, "");
}

static void test_who_refuses_several_calls_may_go_elsewhere(void **state) {
  (void)state;
  static const char *const nodes[] = {"2,1", "1,1,1", NULL};
  series two = {2, false}, ten = {10, false};
  run_across(3, nodes, refuse_series, &two, expect_three);
  run_across(3, nodes, refuse_series, &ten, expect_three);
}

/* More than epochs may lie between ranks: others wait for the one that has refused them. */
static void refuse_thousands(const tutti_boot *boot, void *argument) {
  const series *of = argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  for (int n = 0; n < of->calls; n++)
    if (boot->rank == 0)
      tutti_comm_refuse(comm, "reason 0");
  go_on(boot);
  await(0, 1);
  for (int call = 2; boot->rank > 0 && call < 2 + of->calls; call++)
    expect_reason(of, call, tutti_barrier(comm));
  report(boot, tutti_barrier(comm));
  leave_all(context, comm);
}

static void test_thousands_of_calls_refused_before_others_come(void **state) {
  (void)state;
  static const char *const nodes[] = {NULL};
  series thousands = {9000, true};
  run_across(3, nodes, refuse_thousands, &thousands, expect_three);
}

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

/* Rank 2 never calls anything on the communicator: only its leaving the job says that it will not come. */
static void leave_without_a_call(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  if (boot->rank == 1)
    tutti_comm_refuse(comm, "a test");
  else if (boot->rank == 0)
    check_refused(tutti_barrier(comm), "rank 1 refused call 1 on a communicator of 3: a test");
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

#define NODES_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, forget_nodes)

int main(void) {
  const struct CMUnitTest tests[] = {
      NODES_TEST(test_hundreds_of_refusals_leave_nothing_in_shared_memory),
      NODES_TEST(test_refusals_in_a_row_leave_nothing_in_memory),
      NODES_TEST(test_who_refuses_several_calls_may_go_elsewhere),
      NODES_TEST(test_thousands_of_calls_refused_before_others_come),
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
