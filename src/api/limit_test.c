/* A wait with a time limit of its own keeps to that, also where TUTTI_TIMEOUT is shorter and the progress thread looks
 * after the call while the waiting thread sleeps. */
#include "conformance/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

enum { RANKS = 2, LATE_NS = 500000000 };

static void come_late(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm;
  tutti_request *request;
  int64_t mine = at->rank, sum = 0;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  if (at->rank == 1)
    nanosleep(&(struct timespec){.tv_nsec = LATE_NS}, NULL);
  CHECK(tutti_allreduce_start(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
  CHECK(tutti_wait_for(&request, INT64_C(60000000000)) == TUTTI_OK && sum == 1);
  tutti_comm_destroy(comm);
}

static void test_its_own_limit_holds_beside_a_shorter_one(void **state) {
  (void)state;
  for (int shm = 0; shm < 2; shm++)
    threads_run(&(threads_options){.count = RANKS, .shm = shm, .slot_bytes = 4096, .body = come_late});
}

int main(void) {
  setenv("TUTTI_PROGRESS", "thread", 1);
  setenv("TUTTI_TIMEOUT", "100ms", 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_its_own_limit_holds_beside_a_shorter_one)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
