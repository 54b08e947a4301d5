/* tests/system/bench_spent_test.c - what ranks say of their time becomes shares that add up (bench/levels.h), also on
 * its way as text (bench/report.h). */
#include "../../bench/report.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const bench_spent leader = {.calls = 10,
                                   .call_ns = 10000,
                                   .rank = 1,
                                   .level_count = 2,
                                   .level = {{"core", 0, 0, 1000, 2000}, {"node", 1, 0, 3000, 1000}}};
static const bench_spent member = {
    .calls = 10, .call_ns = 12000, .rank = 0, .level_count = 1, .level = {{"core", 0, 0, 2000, 9000}}};

static double whole(const bench_levels *levels, bool busiest) {
  double sum = bench_levels_other(levels, busiest);
  for (int32_t n = 0; n < levels->level_count; n++) {
    const bench_span *span = busiest ? &levels->level[n].busiest : &levels->level[n].mean;
    sum += span->move_ns + span->wait_ns;
  }
  return sum;
}

static void check_near(double value, double expected) { assert_true(fabs(value - expected) < 1e-6); }

static void check_levels(bench_levels *levels) {
  assert_int_equal(levels->ranks, 2);
  assert_int_equal(levels->level_count, 2);
  check_near(levels->call_ns, 1100);
  check_near(bench_levels_find(levels, "core", false)->mean.move_ns, 150);
  check_near(bench_levels_find(levels, "core", false)->mean.wait_ns, 550);
  check_near(bench_levels_find(levels, "node", true)->mean.move_ns, 150); /* the member has none */
  check_near(bench_levels_find(levels, "node", true)->mean.wait_ns, 50);
  check_near(bench_levels_other(levels, false), 200);
  assert_int_equal(levels->busiest, 1);
  check_near(levels->busiest_call_ns, 1000);
  check_near(bench_levels_find(levels, "core", false)->busiest.wait_ns, 200);
  check_near(bench_levels_find(levels, "node", true)->busiest.move_ns, 300);
  check_near(bench_levels_other(levels, true), 300);
  check_near(whole(levels, false), levels->call_ns);
  check_near(whole(levels, true), levels->busiest_call_ns);
}

static void test_shares_add_up_whoever_is_first(void **state) {
  (void)state;
  for (int turn = 0; turn < 2; turn++) {
    bench_levels levels = {0};
    bench_levels_add(&levels, turn ? &leader : &member);
    bench_levels_add(&levels, turn ? &member : &leader);
    check_levels(&levels);
  }
}

static void test_library_that_says_nothing_has_no_levels(void **state) {
  bench_levels levels = {0};
  bench_spent silent = {.rank = 3};
  (void)state;
  bench_levels_add(&levels, &silent);
  assert_int_equal(levels.ranks, 0);
}

static void test_levels_come_back_from_text(void **state) {
  bench_levels levels = {0};
  (void)state;
  assert_true(bench_report_read_levels(" 2 1100.000 1 1000.000", &levels));
  assert_true(bench_report_read_level(" 0 150.000 550.000 100.000 200.000 core", &levels));
  assert_true(bench_report_read_level(" 1 150.000 50.000 300.000 100.000 node", &levels));
  check_levels(&levels);
  assert_false(bench_report_read_level(" 1 150.000 50.000 300.000 100.000 ", &levels));
  for (int n = levels.level_count; n < BENCH_LEVELS; n++) {
    char text[64];
    snprintf(text, sizeof text, " 0 1 1 1 1 more%d", n);
    assert_true(bench_report_read_level(text, &levels));
  }
  assert_false(bench_report_read_level(" 0 1 1 1 1 toomuch", &levels));
  assert_true(bench_report_read_levels(" 2 1100.000 1 1000.000", &levels));
  assert_int_equal(levels.level_count, 0); /* those of the point before are gone */
  assert_false(bench_report_read_levels(" 2 1100.000", &levels));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shares_add_up_whoever_is_first),
      cmocka_unit_test(test_library_that_says_nothing_has_no_levels),
      cmocka_unit_test(test_levels_come_back_from_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
