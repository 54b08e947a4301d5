/* tests/fault/refusal_test.c - calls that one rank refuses, in the situations in which ranks are furthest apart: who
 * refuses several, who leaves at once, who waits outside, who refuses hundreds. refuse_test.c mixes them. */
#include "fault/fault.h"

#include "api/api.h"
#include "transport/nodes/nodes.h"
#include "transport/shm/self.h"

#define LONG 200000
#define FEW 20

/* Of which the transport of this rank's machine has made use. */
static int64_t shared_bytes(const tutti_context *context) {
  void *inner = context->head_of ? tt_nodes_inner(context->transport) : context->transport;
  struct stat file;
  CHECK(fstat(((tt_shm *)inner)->segment->file.fd, &file) == 0);
  return (int64_t)file.st_blocks * 512;
}

/* ---- many ---- */

static void refuse_long_calls(const tutti_boot *boot, void *argument) {
  const int *count = argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  int32_t *data = calloc(LONG, sizeof *data);
  int64_t bytes = 0;
  for (int n = 0; n < *count; n++) {
    if (boot->rank == boot->rank_count - 1) {
      tutti_comm_refuse(comm, "a test");
    } else {
      tutti_status status = tutti_broadcast(data, data, LONG, TUTTI_INT32, 0, comm);
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

static void expect_all(int ranks, tutti_status status, const char *text) {
  for (int r = 0; r < ranks; r++)
    assert_outcome(r, status, text);
}

static void test_hundreds_of_refusals_leave_nothing_in_shared_memory(void **state) {
  (void)state;
  int many = 300, some = 60;
  run_job(2, refuse_long_calls, &many);
  expect_all(2, TUTTI_OK, "");
  setenv("TUTTI_NODES", "2,1", 1);
  run_job(3, refuse_long_calls, &some);
  unsetenv("TUTTI_NODES");
  expect_all(3, TUTTI_OK, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_hundreds_of_refusals_leave_nothing_in_shared_memory),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}
