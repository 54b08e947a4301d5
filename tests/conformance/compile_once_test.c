/* A program with 10,000 different counts compiles each plan once: plans have no lengths, so that counts, types and
 * operators share them, in blocking, non-blocking and persistent calls. */
#include "api/api.h"
#include "support/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { COUNTS = 10000, RANKS = 2 };

static int entry_count(const tutti_comm *comm) {
  int count = 0;
  for (const tt_entry *n = comm->entries; n; n = n->next)
    count++;
  return count;
}

/* By rules of the profile, one plan for small calls and one for large ones. */
static void call_blocking(tutti_comm *comm, const float *in, float *out) {
  for (int64_t count = 0; count < COUNTS; count++) {
    tutti_type type = count % 2 ? TUTTI_FLOAT32 : TUTTI_INT32;
    CHECK(tutti_allreduce(in, out, count, type, count % 3 ? TUTTI_SUM : TUTTI_MAX, comm) == TUTTI_OK);
  }
}

static void call_otherwise(tutti_comm *comm, const float *in, float *out) {
  for (int64_t count = 1; count < COUNTS; count += 97) {
    tutti_request *request;
    CHECK(tutti_allreduce_start(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_wait(&request) == TUTTI_OK);
    CHECK(tutti_allreduce_init(in, out, count, TUTTI_FLOAT32, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK);
    tutti_request_destroy(request);
  }
}

static void run_rank(const tutti_boot *boot, void *argument) {
  static float in[COUNTS], out[COUNTS];
  tutti_context_options options;
  tutti_context *context;
  tutti_comm *comm;
  (void)argument;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_allreduce(in, out, 1, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
  CHECK(tutti_allreduce(in, out, COUNTS, TUTTI_FLOAT32, TUTTI_SUM, comm) == TUTTI_OK);
  int compiled = entry_count(comm);
  const tt_entry *newest = comm->entries;
  CHECK(compiled >= 1 && compiled <= 2);
  call_blocking(comm, in, out);
  call_otherwise(comm, in, out);
  CHECK(entry_count(comm) == compiled && comm->entries == newest);
  CHECK(tutti_broadcast(in, out, 3, TUTTI_FLOAT32, 0, comm) == TUTTI_OK);
  CHECK(tutti_broadcast(in, out, 5, TUTTI_INT64, 0, comm) == TUTTI_OK);
  CHECK(entry_count(comm) == compiled + 1);
  CHECK(tutti_broadcast(in, out, 3, TUTTI_FLOAT32, 1, comm) == TUTTI_OK); /* another root is another plan */
  CHECK(entry_count(comm) == compiled + 2);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_ten_thousand_counts_compile_each_plan_once(void **state) {
  (void)state;
  unsetenv("TUTTI_PARAMS");
  unsetenv("TUTTI_PROFILE");
  assert_int_equal(job_run(RANKS, run_rank, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ten_thousand_counts_compile_each_plan_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
