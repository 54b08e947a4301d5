/* exec/stream_table_test.c - who shares a core is told to a stream table, and executors say whether they wait for such
 * a rank. */
#include "exec/testing.h"

enum { RANKS = 3, ELEMENTS = 8 };

/* Rank 0's plan: it gets one block from rank 1, and nothing from rank 2. */
static const char *const receives = "plan rank 0 of 3 blocks 1 parts 1 tmp 0 times 1 slice 0 direct\nlevel 0 core\n"
                                    "lane 0 id 1 recv level 0 channel 0\n"
                                    "  0 t0 recv <-1 b0 => out.0 first last\n";

static int64_t out[ELEMENTS];

static tt_run run_of_one_block(void) {
  return (tt_run){.out = out,
                  .blocks = {.kind = TT_TABLE_SPLIT, .block_count = 1, .total = ELEMENTS},
                  .type = TUTTI_INT64,
                  .op = TUTTI_SUM,
                  .call = 1,
                  .key = 1};
}

/* Of an executor that waits for rank 1: whether it says so as the stream table's neighbors change. */
static void check_that_it_follows(tt_stream_table *streams, tt_executor *executor) {
  tt_run run = run_of_one_block();
  bool done, moved;
  int64_t peer;
  test_ok(executor->ops->start(executor, &run));
  test_ok(executor->ops->step(executor, &done, &moved, &peer));
  assert_false(done);
  assert_false(executor->ops->awaits_neighbour(executor));
  tt_stream_table_set_neighbour(streams, 2, true); /* for whom it does not wait */
  assert_false(executor->ops->awaits_neighbour(executor));
  tt_stream_table_set_neighbour(streams, 1, true);
  tt_stream_table_set_neighbour(streams, 1, true);
  assert_true(executor->ops->awaits_neighbour(executor));
  tt_stream_table_set_neighbour(streams, 1, false);
  assert_false(executor->ops->awaits_neighbour(executor));
  tt_stream_table_set_neighbour(streams, 2, false);
  tt_stream_table_set_neighbour(streams, 1, true);
  assert_true(executor->ops->awaits_neighbour(executor));
  tt_stream_table_set_neighbour(streams, 1, false);
}

static void open_job(test_job *job) {
  tt_loop_options options = {.rank_count = RANKS, .slot_count = 2, .slot_bytes = 256};
  test_job_open(job, &options, 256);
  test_ok(tt_plan_parse(receives, &job->plan[0]));
}

static void test_instance_awaits_the_neighbour_that_it_is_told(void **state) {
  test_job job;
  (void)state;
  open_job(&job);
  test_job_instance(&job, 0);
  check_that_it_follows(job.streams[0], job.instance[0]);
  test_job_close(&job);
}

static void test_direct_executor_awaits_the_neighbour_that_it_is_told(void **state) {
  test_job job;
  tt_executor *direct;
  (void)state;
  open_job(&job);
  test_job_direct(&job, 0, TT_CLASS_CELLS, &direct);
  check_that_it_follows(job.streams[0], direct);
  tt_executor_destroy(direct);
  test_job_close(&job);
}

static void test_links_have_neighbours_of_their_own(void **state) {
  test_job job;
  (void)state;
  open_job(&job);
  test_job_instance(&job, 0);
  tt_stream_table_set_neighbour(job.streams[1], 1, true);
  check_that_it_follows(job.streams[0], job.instance[0]);
  test_job_close(&job);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_instance_awaits_the_neighbour_that_it_is_told),
      cmocka_unit_test(test_direct_executor_awaits_the_neighbour_that_it_is_told),
      cmocka_unit_test(test_links_have_neighbours_of_their_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
