/* tests/system/bench_loop_test.c - the measuring loop of `tutti bench`: each rank is the root of as many timed calls,
 * however few of them make a set; and calls that are made longer are so by work, each after one that was not. */
#include "../../bench/ranks.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RANKS_MOST = 9, CALLS_MOST = 20, BATCHES_MOST = 4, TURNS = 3 };

/* ---- a library that only notes the roots of a set ---- */

static int roots[2 * CALLS_MOST * (BATCHES_MOST + 1)], root_count;
static int64_t spins[2 * CALLS_MOST * (BATCHES_MOST + 1)]; /* steps behind each of these calls, */
static double gains[2 * CALLS_MOST * (BATCHES_MOST + 1)];  /* and by what they were multiplied */

static int note_call(const bench_point *point, int root, char *text) {
  (void)text;
  spins[root_count] = point->spin.steps;
  gains[root_count] = point->spin.gain;
  roots[root_count++] = root;
  return BENCH_OK;
}

static int pass_barrier(char *text) {
  (void)text;
  return BENCH_OK;
}

static const bench_library library = {.call = note_call, .barrier = pass_barrier};

/* ---- sets ---- */

/* Adds what was timed of a set: what comes behind the first batch. */
static void run_set(bench_point *point, const bench_command *command, int64_t timed[RANKS_MOST]) {
  bench_reply reply = {.result = BENCH_OK};
  int64_t calls = command->batches * command->calls;
  root_count = 0;
  assert_int_equal(bench_run(&library, point, command, &reply), BENCH_OK);
  for (int64_t n = root_count - calls; n < root_count; n++)
    timed[roots[n]]++;
}

/* So many sets that every root has its turns. */
static void check_roots(int32_t ranks, const bench_command *command) {
  bench_point point = {.command = command, .size = ranks};
  int64_t timed[RANKS_MOST] = {0};
  for (int32_t set = 0; set < TURNS * ranks; set++)
    run_set(&point, command, timed);
  for (int32_t root = 0; root < ranks; root++)
    if (timed[root] != TURNS * command->batches * command->calls)
      fail_msg("%d ranks, %d batches of %d calls: rank %d was root %d times", (int)ranks, (int)command->batches,
               (int)command->calls, (int)root, (int)timed[root]);
}

static void test_each_rank_is_root_of_as_many_timed_calls(void **state) {
  (void)state;
  for (int32_t ranks = 1; ranks <= RANKS_MOST; ranks++)
    for (int32_t batches = 1; batches <= BATCHES_MOST; batches++)
      for (int32_t calls = 1; calls <= CALLS_MOST; calls++)
        for (int32_t apart = 0; apart < 2; apart++) {
          bench_command command = {.verb = BENCH_RUN, .batches = batches, .calls = calls, .apart = apart};
          check_roots(ranks, &command);
        }
}

/* ---- longer calls ---- */

static void test_spin_is_as_long_as_its_steps(void **state) {
  (void)state;
  const bench_spin_cost cost = {.empty_ns = 10, .step_ns = 2}, unknown = {.empty_ns = 10};
  assert_int_equal(bench_spin_steps(&cost, 30), 10);
  assert_int_equal(bench_spin_steps(&cost, 30.9), 10);
  assert_int_equal(bench_spin_steps(&cost, 31.1), 11);
  assert_int_equal(bench_spin_steps(&cost, 10), 0);
  assert_int_equal(bench_spin_steps(&cost, 5), 0);
  assert_int_equal(bench_spin_steps(&unknown, 30), 0);
  bench_spin_cost here = bench_spin_measure();
  assert_true(here.step_ns > 0);
}

static void test_ranks_that_share_a_core_share_a_delay(void **state) {
  (void)state;
  bench_command command = {.delay = 0.1, .sharing = 1};
  assert_float_equal(bench_delay_ns(&command, 5000, 5), 100, 1e-9);
  command.sharing = 4;
  assert_float_equal(bench_delay_ns(&command, 5000, 5), 25, 1e-9);
  bench_machine machine[] = {
      {.host = 0, .ranks = 5, .cores = 4}, {.host = 0, .ranks = 4, .cores = 4}, {.host = 1, .ranks = 1, .cores = 4}};
  int32_t machine_of[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 2};
  bench_map map = {.ranks = 10, .machines = 3, .hosts = 2, .machine_of = machine_of, .machine = machine};
  assert_int_equal(bench_map_sharing(&map, 0), 3); /* pretended machines share their host's cores */
  assert_int_equal(bench_map_sharing(&map, 8), 3);
  assert_int_equal(bench_map_sharing(&map, 9), 1);
  machine[0].ranks = 4;
  assert_int_equal(bench_map_sharing(&map, 0), 2);
}

enum { CALL_NS = 1000, STEP_NS = 10 };

static int note_long_call(const bench_point *point, int root, char *text) {
  int64_t start_ns = bench_clock_ns();
  while (bench_clock_ns() - start_ns < CALL_NS)
    ;
  return note_call(point, root, text);
}

/* So many calls without a spin, then the same with one of at least a tenth of their time. */
static void check_twice(int from, int calls, int32_t sharing) {
  for (int n = from; n < from + calls; n++) {
    assert_int_equal(spins[n], 0);
    assert_true((double)spins[n + calls] >= gains[n + calls] * CALL_NS / 10 / STEP_NS / sharing - 1);
    assert_int_equal(spins[n + calls], spins[from + calls]);
    assert_int_equal(roots[n + calls], roots[n]);
  }
}

static void test_delayed_batch_follows_one_of_the_same_calls(void **state) {
  (void)state;
  const bench_library slow = {.call = note_long_call, .barrier = pass_barrier};
  for (int32_t apart = 0; apart < 2; apart++)
    for (int32_t sharing = 1; sharing <= 2; sharing++) {
      bench_command command = {
          .verb = BENCH_RUN, .batches = 3, .calls = 5, .apart = apart, .delay = 0.1, .sharing = sharing};
      bench_point point = {.command = &command, .size = 4, .spin = {.cost = {.step_ns = STEP_NS}, .gain = 1}};
      bench_reply reply = {.result = BENCH_OK};
      root_count = 0;
      assert_int_equal(bench_run(&slow, &point, &command, &reply), BENCH_OK);
      assert_int_equal(root_count, 2 * (1 + 3 * 5)); /* the first batch is of a single call */
      check_twice(0, 1, sharing);
      for (int batch = 0; batch < 3; batch++) {
        check_twice(2 + batch * 2 * 5, 5, sharing);
        assert_int_equal(roots[2 + batch * 2 * 5], batch * 5 % 4);
        assert_true(reply.batch_ns[batch] >= 5 * CALL_NS);
      }
      assert_int_equal(point.spin.steps, 0);
    }
}

static int gather_alone(const void *mine, void *all, size_t bytes, char *text) {
  (void)text;
  memcpy(all, mine, bytes);
  return BENCH_OK;
}

/* The bytes that NICs have counted are divided by them. */
static void test_all_calls_of_sets_are_counted(void **state) {
  (void)state;
  static bench_ranks all;
  static bench_reply reply;
  const bench_library alone = {.call = note_call, .barrier = pass_barrier, .gather = gather_alone};
  for (int delayed = 0; delayed < 2; delayed++) {
    bench_task task = {.seconds = 0};
    bench_command command = {.verb = BENCH_RUN, .calls = 17, .sharing = 1, .delay = delayed ? 0.1 : 0};
    bench_answer answer;
    int64_t calls;
    all = (bench_ranks){.library = &alone, .point = {.command = &command, .size = 1}, .reply = &reply, .call_ns = 1};
    root_count = 0;
    assert_int_equal(bench_ranks_sets(&all, &task, &command, &answer, &calls), BENCH_OK);
    assert_int_equal(root_count, (1 + delayed) * (17 + 17 / 8 + 1));
    assert_int_equal(calls, root_count);
  }
}

/* Ranks that leave a barrier one after the other: none of them takes as long as all do. */
static void test_a_call_apart_takes_until_its_last_rank_has_ended(void **state) {
  (void)state;
  static bench_answer apart, longest;
  static const bench_reply ranks[] = {{.batches = 1, .begin_ns = {120}, .batch_ns = {60}},
                                      {.batches = 1, .begin_ns = {100}, .batch_ns = {50}},
                                      {.batches = 1, .begin_ns = {110}, .batch_ns = {20}}};
  for (size_t n = 0; n < TT_COUNT(ranks); n++) {
    bench_reply alone = ranks[n];
    alone.begin_ns[0] = 0; /* clocks of their own */
    bench_answer_add(&apart, &ranks[n]);
    bench_answer_add(&longest, &alone);
  }
  assert_int_equal(apart.slowest_ns[0], 80);
  assert_int_equal(longest.slowest_ns[0], 60);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_rank_is_root_of_as_many_timed_calls),
                                     cmocka_unit_test(test_spin_is_as_long_as_its_steps),
                                     cmocka_unit_test(test_ranks_that_share_a_core_share_a_delay),
                                     cmocka_unit_test(test_delayed_batch_follows_one_of_the_same_calls),
                                     cmocka_unit_test(test_all_calls_of_sets_are_counted),
                                     cmocka_unit_test(test_a_call_apart_takes_until_its_last_rank_has_ended)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
