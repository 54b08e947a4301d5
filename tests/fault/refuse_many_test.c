/* tests/fault/refuse_many_test.c - many calls that one rank refuses: hundreds leave nothing behind, and each of a row
 * has its reason, though who refuses them waits elsewhere or others come much later. */
#include "fault/refuse.h"

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

/* ---- what they leave behind ---- */

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

/* ---- in a row, with their reasons ---- */

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

int main(void) {
  const struct CMUnitTest tests[] = {
      NODES_TEST(test_hundreds_of_refusals_leave_nothing_in_shared_memory),
      NODES_TEST(test_refusals_in_a_row_leave_nothing_in_memory),
      NODES_TEST(test_who_refuses_several_calls_may_go_elsewhere),
      NODES_TEST(test_thousands_of_calls_refused_before_others_come),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}
