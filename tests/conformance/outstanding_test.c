/* Many calls outstanding between processes, on several communicators, with one slot a stream: right results in every
 * legal order, and no hang. src/api/threads_test.c does the same between threads. */
#include "conformance/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <time.h>

#include <cmocka.h>

static uint64_t seed;
static int rounds;

typedef struct job_setting {
  const char *groups, *slot_bytes, *direct_bytes;
  program_memory *memory;
} job_setting;

static void run_rank(const tutti_boot *boot, void *argument) {
  const job_setting *setting = argument;
  tutti_context *context;
  tutti_context_options options;
  setenv("TUTTI_SLOT_COUNT", "1", 1);
  setenv("TUTTI_SLOT_BYTES", setting->slot_bytes, 1);
  setenv("TUTTI_DIRECT_BYTES", setting->direct_bytes, 1);
  setenv("TUTTI_GROUPS", setting->groups, 1);
  setenv("TUTTI_TIMEOUT", "120s", 1);
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  program_run(context, &(program_options){seed + (uint64_t)boot->rank_count, rounds, 65537, setting->memory});
  tutti_context_destroy(context);
}

static void run_job(int ranks, job_setting setting) {
  setting.memory = mmap(NULL, sizeof *setting.memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(setting.memory, MAP_FAILED);
  int failed = job_run(ranks, run_rank, &setting);
  munmap(setting.memory, sizeof *setting.memory);
  if (failed)
    fail_msg("TUTTI_TEST_SEED=%" PRIu64 ": %d of %d ranks failed", seed, failed, ranks);
}

static void test_outstanding_calls_with_one_slot(void **state) {
  (void)state;
  for (int ranks = 1; ranks <= 9; ranks++)
    run_job(ranks, (job_setting){.groups = "", .slot_bytes = "4K", .direct_bytes = "4K"});
}

static void test_outstanding_calls_with_one_slot_on_groups(void **state) {
  (void)state;
  run_job(5, (job_setting){.groups = "3,2", .slot_bytes = "4K", .direct_bytes = "0"});
  run_job(8, (job_setting){.groups = "cyclic:3", .slot_bytes = "4K", .direct_bytes = "0"});
}

/* Ranks wait for the second call; it is the first one that never ends. */
static void differ_in_first_call(const tutti_boot *boot, void *argument) {
  static float data[20000];
  tutti_context *context;
  tutti_comm *comm;
  tutti_request *first, *second;
  tutti_context_options options;
  (void)argument;
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_broadcast_start(data, data, 20000, TUTTI_FLOAT32, 1 - boot->rank, comm, &first) == TUTTI_OK);
  tutti_status status = tutti_barrier_start(comm, &second);
  if (status == TUTTI_OK) /* else the other rank has found it already */
    status = tutti_wait(&second);
  CHECK(status == TUTTI_ERR_MISMATCH);
  CHECK(strstr(tutti_last_error(), "root 0") && strstr(tutti_last_error(), "root 1"));
  CHECK(tutti_wait(&first) == TUTTI_ERR_MISMATCH);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

static void test_mismatch_is_found_by_those_who_wait_for_a_later_call(void **state) {
  (void)state;
  assert_int_equal(job_run(2, differ_in_first_call, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_outstanding_calls_with_one_slot),
      cmocka_unit_test(test_outstanding_calls_with_one_slot_on_groups),
      cmocka_unit_test(test_mismatch_is_found_by_those_who_wait_for_a_later_call),
  };
  seed = getenv("TUTTI_TEST_SEED") ? strtoull(getenv("TUTTI_TEST_SEED"), NULL, 10) : (uint64_t)time(NULL);
  rounds = getenv("TUTTI_TEST_LONG") ? 400 : 25;
  print_message("TUTTI_TEST_SEED=%" PRIu64 "\n", seed);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
