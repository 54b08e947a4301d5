/* tests/system/bench_loop_test.c - the measuring loop of `tutti bench`: each rank is the root of as many timed calls,
 * however few of them make a set. */
#include "../../bench/loop.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { RANKS_MOST = 9, CALLS_MOST = 20, BATCHES_MOST = 4, TURNS = 3 };

/* ---- a library that only notes the roots of a set ---- */

static int roots[CALLS_MOST * (BATCHES_MOST + 1)], root_count;

static int note_call(const bench_point *point, int root, char *text) {
  (void)point;
  (void)text;
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_rank_is_root_of_as_many_timed_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
