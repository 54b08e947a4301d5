/* Several calls at once: by hand, and one after the other as each is alone. */
#include "support/simulate.h"

#define N 4000 /* bytes */
#define M 1000

typedef struct both {
  plans all[2];
  tt_sim_model model;
  tt_sim_call call[2];
} both;

static void open_both(const plans_case of[2], const char *model, const int64_t bytes[2], both *made) {
  *made = (both){.call = {{.start_ns = 0}}};
  for (int c = 0; c < 2; c++) {
    assert_int_equal(plans_open(&of[c], &made->all[c]), TUTTI_OK);
    made->call[c] =
        (tt_sim_call){.plan = (const tt_plan *const *)made->all[c].plan, .lengths = {.total_bytes = bytes[c]}};
  }
  tt_sim_model_init(&made->model, made->all[0].topo);
  assert_int_equal(tt_sim_model_parse(RATES, &made->model), TUTTI_OK);
  assert_int_equal(tt_sim_model_parse(model, &made->model), TUTTI_OK);
}

static void close_both(both *made) {
  plans_close(&made->all[0]);
  plans_close(&made->all[1]);
}

static void expect(const plans_case of[2], const char *model, double start_ns, double first_ns, double second_ns) {
  both made;
  tt_sim_result result;
  open_both(of, model, (int64_t[]){N, M}, &made);
  made.call[1].start_ns = start_ns;
  assert_int_equal(tt_sim_run_calls(&made.model, made.call, 2, false, &result), TUTTI_OK);
  if (result.call_ps[0] != 1000 * first_ns || result.call_ps[1] != 1000 * second_ns)
    fail_msg("%s: %.3f and %.3f ns instead of %.3f and %.3f", model, result.call_ps[0] / 1000, result.call_ps[1] / 1000,
             first_ns, second_ns);
  assert_true(result.time_ps == 1000 * fmax(first_ns, second_ns));
  tt_sim_finish(&result);
  close_both(&made);
}

static plans_case broadcast(int64_t ranks, int64_t root, const char *map) {
  return (plans_case){
      .problem = {.collective = TT_BROADCAST, .rank_count = ranks, .root = root}, .params = "[core:star]", .map = map};
}

static void test_calls_share_ports(void **state) {
  (void)state;
  plans_case of[2] = {broadcast(2, 0, NULL), broadcast(2, 0, NULL)};
  expect(of, "", 0, A + N * B, A + N * B + A + M * B);
  expect(of, "ports=2", 0, A + N * B, A + M * B);
  of[1] = broadcast(2, 1, NULL); /* the other way */
  expect(of, "", 0, A + N * B, A + M * B);
}

static void test_calls_share_links(void **state) {
  (void)state;
  /* ranks 0 and 1 are on one node; rank 1 sends to rank 2 first, rank 0 last */
  plans_case of[2] = {broadcast(3, 0, "2,1"), broadcast(3, 1, "2,1")};
  expect(of, "", 0, A + M * B + A + N * B, A + M * B);    /* rank 2 takes one at a time */
  expect(of, "ports=2", 0, A + M * B + N * B, A + M * B); /* the NICs do, but alpha passes meanwhile */
  expect(of, "ports=2;node:links=2", 0, A + N * B, A + M * B);
}

static void test_calls_share_the_ranks_time(void **state) {
  (void)state;
  plans_case reduce = {.problem = {.collective = TT_REDUCE, .rank_count = 2}, .params = "[core:star]"};
  plans_case of[2] = {reduce, reduce};
  /* M comes while N is on its way, and is combined first */
  expect(of, "ports=2", 0, A + N * B + N * C, A + M * B + M * C);
  /* at the same time: one after the other */
  expect(of, "ports=2,beta=0", 0, A + N * C, A + N * C + M * C);
}

static void test_a_call_begins_when_it_is_made(void **state) {
  (void)state;
  plans_case of[2] = {broadcast(2, 0, NULL), broadcast(2, 0, NULL)};
  expect(of, "", 5000, A + N * B, 5000 + A + M * B);
  expect(of, "", 500, A + N * B, A + N * B + A + M * B); /* the first one has the port */
  expect(of, "rank.0:late=7us", 5000, 7000 + A + N * B, 7000 + A + N * B + A + M * B);
}

/* Plans of other rounds, streams and slices do not get mixed up: each call takes as long as alone. */
static void test_calls_one_after_the_other_are_as_they_are_alone(void **state) {
  (void)state;
  static const char *const params[] = {"[core:2-nomial,xor]", "[core:chain] slice=256", "[node:chain/core:star]",
                                       "form=allgather.reduce-scatter [core:2-nomial,xor]"};
  for (size_t n = 0; n < TT_COUNT(params) * TT_COUNT(params); n++) {
    plans_case of[2];
    for (int c = 0; c < 2; c++)
      of[c] = (plans_case){.problem = {.collective = TT_ALLREDUCE, .rank_count = 8},
                           .params = params[c ? n % TT_COUNT(params) : n / TT_COUNT(params)],
                           .map = "2x4"};
    both made;
    tt_sim_result alone[2], together;
    open_both(of, "node:links=1", (int64_t[]){N, M}, &made);
    for (int c = 0; c < 2; c++)
      assert_int_equal(tt_sim_run_calls(&made.model, &made.call[c], 1, false, &alone[c]), TUTTI_OK);
    double start_ps = alone[0].time_ps + 1000; /* at once, ports that are just free would be asked first */
    made.call[1].start_ns = start_ps / 1000;
    assert_int_equal(tt_sim_run_calls(&made.model, made.call, 2, false, &together), TUTTI_OK);
    assert_true(together.call_ps[0] == alone[0].time_ps);
    if (together.call_ps[1] != start_ps + alone[1].time_ps)
      fail_msg("%s after %s: %.3f ns instead of %.3f", of[1].params, of[0].params,
               (together.call_ps[1] - start_ps) / 1000, alone[1].time_ps / 1000);
    tt_sim_finish(&alone[0]);
    tt_sim_finish(&alone[1]);
    tt_sim_finish(&together);
    close_both(&made);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_calls_share_ports),
      cmocka_unit_test(test_calls_share_links),
      cmocka_unit_test(test_calls_share_the_ranks_time),
      cmocka_unit_test(test_a_call_begins_when_it_is_made),
      cmocka_unit_test(test_calls_one_after_the_other_are_as_they_are_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
