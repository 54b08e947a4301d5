/* exec/accumulate_test.c - float32 images where in and out are one memory and a plan reads its input through either.
 *
 * Plans of all presets are in tests/property/accumulate_test.c. */
#include "exec/testing.h"

enum { COUNT = 70 };

static const char taker[] = "plan rank 0 of 2 blocks 1 parts 1 tmp 1 times 2 slice 0 in-place\n"
                            "level 0 core\n"
                            "lane 0 id 0 recv level 0 channel 0\n"
                            "  0 t0 recv <-1 b0 => tmp.0 first last\n"
                            "lane 1 id 2 local level 0 channel 0\n"
                            "  0 t1 copy b0 tmp.0 => out.0 onto finish 2 wait 0.0\n";
static const char giver[] = "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0 in-place\n"
                            "level 0 core\n"
                            "lane 0 id 0 send level 0 channel 0\n"
                            "  0 t0 send ->0 b0 out.0 first last\n";

static void run_both(test_job *job, uint16_t data[2][COUNT]) {
  bool done[2] = {false, false}, moved;
  int64_t peer;
  for (int rank = 0; rank < 2; rank++) {
    tt_run run = {.in = data[rank],
                  .out = data[rank],
                  .wide = true,
                  .blocks = {.block_count = 1, .total = COUNT},
                  .type = TUTTI_FLOAT16,
                  .op = TUTTI_SUM,
                  .call = 1};
    test_ok(job->instance[rank]->ops->start(job->instance[rank], &run));
  }
  for (int turns = 0; !done[0] || !done[1]; turns++) {
    assert_true(turns < 10000);
    if (!done[turns % 2])
      test_ok(job->instance[turns % 2]->ops->step(job->instance[turns % 2], &done[turns % 2], &moved, &peer));
  }
}

static void test_input_is_widened_where_a_plan_reads_it_as_out(void **state) {
  (void)state;
  test_job job;
  tt_loop_options options = {2, 64, 1, false, 1};
  uint16_t data[2][COUNT];
  test_job_open(&job, &options, 64);
  test_job_plan(&job, 0, taker);
  test_job_plan(&job, 1, giver);
  for (int n = 0; n < COUNT; n++) {
    test_put(TUTTI_FLOAT16, data[0], n, 1 + n);
    test_put(TUTTI_FLOAT16, data[1], n, 1000 - n);
  }
  run_both(&job, data);
  for (int n = 0; n < COUNT; n++) {
    assert_true(test_get(TUTTI_FLOAT16, data[0], n) == 1001);
    assert_true(test_get(TUTTI_FLOAT16, data[1], n) == 1000 - n);
  }
  test_job_close(&job);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_input_is_widened_where_a_plan_reads_it_as_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
