/* Links that are slower than others, links and cores that others use, too, and ranks that come late: by hand. */
#include "support/simulate.h"

#define N 4000.0 /* bytes */

static void expect(double time_ns, const sim_case *of) {
  tt_sim_result result;
  simulate(of, &result);
  if (result.time_ps != 1000 * time_ns)
    fail_msg("%s: %.3f ns instead of %.3f", of->model, result.time_ps / 1000, time_ns);
  tt_sim_finish(&result);
}

/* Rank 0 sends three messages at once, each to a node of its own. */
static sim_case three_at_once(const char *model) {
  return (sim_case){.collective = TT_BROADCAST,
                    .p = 4,
                    .params = "[core:star]",
                    .map = "1,1,1,1",
                    .model = model,
                    .bytes = (int64_t)N};
}

static void test_two_nics_of_200_and_100_carry_what_300_do(void **state) {
  (void)state;
  sim_case of = three_at_once("ports=3;node:links=2;node.*.1:beta=0.5");
  expect(A + N * 0.5, &of); /* two messages over the one, meanwhile one over the other */
  of.model = "ports=3;node:links=2";
  expect(A + N * 0.5, &of); /* two NICs of 200 */
  of.model = "ports=3;node:links=1";
  expect(A + N * 0.75, &of); /* one */
}

static void test_a_packet_takes_the_link_that_is_through_with_it_first(void **state) {
  (void)state;
  sim_case of = three_at_once("ports=3;node:links=2;node.0.1:beta=0.375");
  expect(A + N * 0.5, &of); /* at 0 one over each, then the third over the fast one: 0.25 + 0.25 < 0.375 + 0.375 */
  of.model = "ports=3;node:links=2;node.0.1:beta=1";
  expect(A + N * 0.75, &of); /* all three over the fast one: the slow one would take 1 */
  of.model = "ports=3;node:links=2,beta=1;node.0.1:beta=0.125";
  expect(A + N * 1.25, &of); /* one after the other over the fast one; then receivers' links are slow */
  of.model = "ports=3;node:links=2,beta=1;node.*.1:beta=0.125";
  expect(A + N * 0.375, &of); /* and fast ones are not slowed by what the level has otherwise */
}

static void test_a_slow_node_slows_what_goes_to_it_and_from_it(void **state) {
  (void)state;
  sim_case of = {.collective = TT_BROADCAST,
                 .p = 4,
                 .params = "[core:2-nomial,far]",
                 .map = "1,1,1,1",
                 .model = "node:links=1",
                 .bytes = (int64_t)N};
  expect(2 * (A + N * B), &of);
  of.model = "node:links=1;node.2:beta=0.5"; /* 0 -> 2 -> 3 */
  expect(2 * (A + N * 0.5), &of);
  of.model = "node:links=1;node.1:beta=0.5"; /* 0 -> 2, then 0 -> 1 beside 2 -> 3 */
  expect(A + N * B + A + N * 0.5, &of);
}

static void test_load_takes_a_part_of_a_link(void **state) {
  (void)state;
  sim_case of = three_at_once("ports=3;node:links=2;node.0.1:load=50%");
  expect(A + N * 0.5, &of); /* as 200 and 100 */
  of.model = "ports=3;node:links=1;node.0:load=75%";
  expect(A + 3 * N, &of);
  of.model = "ports=3;node:links=2;node.0:load=75%;node.0.0:load=0%"; /* the last one counts */
  expect(A + N * 0.75, &of);
}

static void test_load_on_a_core_lengthens_what_its_rank_does(void **state) {
  (void)state;
  sim_case of = {
      .collective = TT_REDUCE, .p = 4, .params = "[core:star]", .model = "rank.0:load=50%", .bytes = (int64_t)N};
  expect(3 * (A + N * B) + 2 * N * C, &of); /* only what comes last is not hidden */
  of.model = "rank.1-3:load=50%";           /* which combine nothing */
  expect(3 * (A + N * B) + N * C, &of);
}

static void test_late_ranks_delay_what_depends_on_them(void **state) {
  (void)state;
  sim_case of = {.collective = TT_BROADCAST,
                 .p = 4,
                 .params = "[core:2-nomial,far]",
                 .model = "rank.0:late=7us",
                 .bytes = (int64_t)N};
  expect(7000 + 2 * (A + N * B), &of);
  of.model = "rank.2:late=10us"; /* 2 has the data by then, and passes it on to 3 */
  expect(10000 + A + N * B, &of);
  of.model = "rank.3:late=1us"; /* it is there before its data */
  expect(2 * (A + N * B), &of);
  of.model = "rank.1:late=50us"; /* nobody waits for it */
  expect(50000, &of);
  of.model = "rank.*:late=3us;rank.3:late=0";
  expect(3000 + 2 * (A + N * B), &of);
}

static void test_ranks_are_through_when_they_are_and_not_before_they_begin(void **state) {
  (void)state;
  sim_case of = {.collective = TT_BROADCAST,
                 .p = 4,
                 .params = "[core:2-nomial,far]",
                 .model = "rank.2:late=10us",
                 .bytes = (int64_t)N};
  const double expected[] = {2 * (A + N * B), 2 * (A + N * B), 10000 + A + N * B, 10000 + A + N * B};
  tt_sim_result result;
  simulate(&of, &result);
  for (int r = 0; r < 4; r++)
    assert_true(result.rank_ps[r] == 1000 * expected[r]);
  tt_sim_finish(&result);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_nics_of_200_and_100_carry_what_300_do),
      cmocka_unit_test(test_a_packet_takes_the_link_that_is_through_with_it_first),
      cmocka_unit_test(test_a_slow_node_slows_what_goes_to_it_and_from_it),
      cmocka_unit_test(test_load_takes_a_part_of_a_link),
      cmocka_unit_test(test_load_on_a_core_lengthens_what_its_rank_does),
      cmocka_unit_test(test_late_ranks_delay_what_depends_on_them),
      cmocka_unit_test(test_ranks_are_through_when_they_are_and_not_before_they_begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
