/* Whole jobs inside one process, a thread a rank: calls in all modes, many outstanding, with one slot a stream, on the
 * loop transport and on one mapping of shared memory. This is where sanitizers see the library between ranks.
 *
 * Each job runs in a child, so that it has an environment of its own and a failed rank ends all of it. */
#include "conformance/program.h"
#include "conformance/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

static uint64_t seed;
static int effort; /* times as many rounds */

typedef struct thread_case {
  int64_t ranks;
  bool shm;
  size_t slot_bytes;
  int rounds;
  int64_t most;
  const char *groups;
} thread_case;

static void run_program(const threads_rank *at, tutti_context *context, void *argument) {
  (void)at;
  program_run(context, argument);
}

static void run_threads(const tutti_boot *boot, void *argument) {
  const thread_case *of = argument;
  static program_memory memory;
  (void)boot;
  setenv("TUTTI_TIMEOUT", "120s", 1);
  if (of->groups)
    setenv("TUTTI_GROUPS", of->groups, 1);
  program_options options = {
      .seed = seed + (uint64_t)of->ranks, .rounds = of->rounds * effort, .most = of->most, .memory = &memory};
  threads_run(&(threads_options){
      .count = of->ranks, .shm = of->shm, .slot_bytes = of->slot_bytes, .body = run_program, .argument = &options});
  exit(0); /* sanitizers report leaks at exit */
}

static void run_case(const thread_case *of) {
  thread_case copy = *of;
  if (job_run(1, run_threads, &copy))
    fail_msg("TUTTI_TEST_SEED=%" PRIu64 ": %" PRId64 " ranks on %s", seed, of->ranks, of->shm ? "shm" : "loop");
}

static void test_outstanding_calls_on_loop(void **state) {
  (void)state;
  for (int64_t ranks = 1; ranks <= 9; ranks++)
    run_case(&(thread_case){.ranks = ranks, .slot_bytes = 64, .rounds = 6, .most = 5000});
}

static void test_outstanding_calls_on_shared_memory(void **state) {
  (void)state;
  for (int64_t ranks = 1; ranks <= 9; ranks++)
    run_case(&(thread_case){.ranks = ranks, .shm = true, .slot_bytes = 64, .rounds = 6, .most = 20000});
}

static void test_outstanding_calls_on_groups(void **state) {
  (void)state;
  run_case(&(thread_case){.ranks = 7, .slot_bytes = 64, .rounds = 10, .most = 5000, .groups = "3,1,3"});
  run_case(&(thread_case){.ranks = 8, .shm = true, .slot_bytes = 64, .rounds = 10, .most = 5000, .groups = "cyclic:3"});
}

static void test_64_ranks(void **state) {
  (void)state;
  run_case(&(thread_case){.ranks = 64, .slot_bytes = 64, .rounds = 3, .most = 130});
}

/* ---- a transport that tells of deaths by `progress` only ---- */

static void lose_rank_1(const threads_rank *at, tutti_context *context, void *argument) {
  tutti_comm *comm = NULL;
  int in = 1, out;
  (void)argument;
  tutti_status status = tutti_comm_create(context, &comm);
  if (at->rank == 1) {
    CHECK(status == TUTTI_OK);
    tt_loop_kill(at->team->loop, 1);
  } else { /* rank 1 may be gone before they have their communicator */
    if (status == TUTTI_OK)
      status = tutti_allreduce(&in, &out, 1, TUTTI_INT32, TUTTI_SUM, comm);
    CHECK(status == TUTTI_ERR_PEER && strstr(tutti_last_error(), "rank 1") != NULL);
  }
  tutti_comm_destroy(comm);
}

static void run_losing(const tutti_boot *boot, void *argument) {
  (void)boot, (void)argument;
  threads_run(&(threads_options){.count = 3, .slot_bytes = 64, .hides_deaths = true, .body = lose_rank_1});
}

static void test_death_is_known_from_progress_alone(void **state) {
  (void)state;
  assert_int_equal(job_run(1, run_losing, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outstanding_calls_on_loop),
      cmocka_unit_test(test_outstanding_calls_on_shared_memory),
      cmocka_unit_test(test_outstanding_calls_on_groups),
      cmocka_unit_test(test_64_ranks),
      cmocka_unit_test(test_death_is_known_from_progress_alone),
  };
  seed = getenv("TUTTI_TEST_SEED") ? strtoull(getenv("TUTTI_TEST_SEED"), NULL, 10) : (uint64_t)time(NULL);
  effort = getenv("TUTTI_TEST_LONG") ? 20 : 1;
  print_message("TUTTI_TEST_SEED=%" PRIu64 "\n", seed);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
