/* bind/bind_test.c - what bind writes for small plans. That it is right is proven elsewhere; here, that it is what the
 * machine and the class of blocks allow. */
#include "bind/bind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char one_round[] = "plan rank 0 of 3 blocks 2 parts 1 tmp 0 times 1 slice 0 direct\nlevel 0 core\n"
                                "lane 0 id 0 send level 0 channel 0\n"
                                "  0 t0 send ->2 b0 in.0 first last\n"
                                "  1 t0 send ->1 b1 in.1 first\n"
                                "  2 t0 send ->1 b0 in.0 last\n"
                                "lane 1 id 0 recv level 0 channel 0\n"
                                "  0 t0 recv <-2 b1 => out.1 first last\n"
                                "  1 t0 reduce <-1 b0 in.0 => out.0 first last finish 2\n"
                                "lane 2 id 2 local level 0 channel 0\n"
                                "  0 t0 copy b1 in.1 => out.1 onto wait 1.0\n";

static const char relay[] = "plan rank 1 of 3 blocks 1 parts 1 tmp 0 times 2 slice 0\nlevel 0 core\n"
                            "lane 0 id 0 recv level 0 channel 0\n  0 t0 recv <-0 b0 => out.0 first last\n"
                            "lane 1 id 0 send level 0 channel 0\n  0 t1 send ->2 b0 out.0 first last wait 0.0\n";

static const char waited[] = "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 2 slice 0 in-place\nlevel 0 core\n"
                             "lane 0 id 0 send level 0 channel 0\n  0 t0 send ->1 b0 in.0 first last\n"
                             "lane 1 id 0 recv level 0 channel 0\n  0 t1 recv <-1 b0 => out.0 first last wait 0.0\n";

static tt_bound_plan *bind(const char *text, tt_plan **plan, tt_bind_facts facts) {
  tt_bound_plan *bound = NULL;
  assert_int_equal(tt_plan_parse(text, plan), TUTTI_OK);
  if (tt_bind(*plan, &facts, &bound) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_OK);
  return bound;
}

static void finish(tt_bound_plan *bound, tt_plan *plan) {
  tt_bound_plan_destroy(bound);
  tt_plan_destroy(plan);
}

/* Whether its text, line by line, has all of `lines`. */
static void assert_lines(const tt_bound_plan *bound, const char *lines) {
  char *text = tt_bound_plan_print(bound), *copy = strdup(lines), *rest = copy, *line;
  assert_non_null(text);
  while ((line = strsep(&rest, "\n")))
    if (!strstr(text, line))
      fail_msg("no line '%s' in\n%s", line, text);
  free(copy);
  free(text);
}

static void test_cells_carry_everything_where_all_know_that_it_fits(void **state) {
  (void)state;
  tt_plan *plan;
  tt_bound_plan *bound = bind(one_round, &plan, (tt_bind_facts){.blocks = TT_CLASS_CELLS, .able = TT_MEDIA_LENT});
  assert_lines(bound, "bound cells\n"
                      "  0 t0 send ->2 b0 in.0 first last via cell\n"
                      "  1 t0 reduce <-1 b0 in.0 => out.0 first last finish 2 via cell\n"
                      "put 2 1 0\ntake 4 3\norder 3 4 5\nreleased 2");
  assert_int_equal(bound->settle_count, 0);
  finish(bound, plan);
}

static void test_ends_choose_between_cells_and_streams(void **state) {
  (void)state;
  tt_plan *plan;
  tt_bound_plan *bound = bind(one_round, &plan, (tt_bind_facts){.blocks = TT_CLASS_ENDS});
  assert_lines(bound, "bound ends\n"
                      "  0 t0 send ->2 b0 in.0 first last via cell|slot\n"
                      "  0 t0 recv <-2 b1 => out.1 first last via cell|slot\n"
                      "put 2 1 0\ntake 4 3\norder 3 4 5\nreleased 2");
  finish(bound, plan);
}

static void test_what_nobody_waits_for_may_be_lent(void **state) {
  (void)state;
  tt_plan *plan;
  tt_bind_facts facts = {.blocks = TT_CLASS_STREAMS, .able = TT_MEDIA_LENT};
  tt_bound_plan *bound = bind(one_round, &plan, facts);
  assert_lines(bound, "bound streams\n  0 t0 send ->2 b0 in.0 first last via slot|lent|read\nsettle 0 1 2");
  assert_int_equal(bound->order_count + bound->put_count + bound->take_count, 0);
  finish(bound, plan);
  bound = bind(waited, &plan, facts);
  assert_lines(bound, "  0 t0 send ->1 b0 in.0 first last via slot");
  assert_int_equal(bound->step[0].media, TT_MEDIA(TT_MEDIUM_SLOT));
  assert_int_equal(bound->settle_count, 0);
  finish(bound, plan);
}

static void test_messages_go_to_other_machines(void **state) {
  (void)state;
  static const int64_t machine[] = {0, 0, 7};
  tt_plan *plan;
  tt_bound_plan *bound =
      bind(relay, &plan, (tt_bind_facts){.blocks = TT_CLASS_STREAMS, .able = TT_MEDIA_LENT, .machine = machine});
  assert_int_equal(bound->step[0].media, TT_MEDIA(TT_MEDIUM_SLOT) | TT_MEDIA_LENT);
  assert_int_equal(bound->step[1].media, TT_MEDIA(TT_MEDIUM_MESSAGE));
  assert_false(bound->step[0].final); /* it is passed on */
  finish(bound, plan);
}

static void test_wide_runs_widen_what_is_read_and_round_what_is_written(void **state) {
  (void)state;
  tt_plan *plan;
  tt_bound_plan *bound = bind(one_round, &plan, (tt_bind_facts){.blocks = TT_CLASS_STREAMS, .wide = true});
  assert_lines(bound, "widen in.0 in.1\nnarrow out.1 out.0");
  finish(bound, plan);
}

static void test_what_was_not_there_at_the_start_does_not_go_in_cells(void **state) {
  (void)state;
  tt_plan *plan;
  tt_bound_plan *bound;
  tt_bind_facts facts = {.blocks = TT_CLASS_CELLS};
  assert_int_equal(tt_plan_parse(relay, &plan), TUTTI_OK);
  assert_int_equal(tt_bind(plan, &facts, &bound), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "rank 1 step 1 of a direct plan sends data that it did not have"));
  tt_plan_destroy(plan);
}

static void test_indices_out_of_range_are_refused(void **state) {
  (void)state;
  tt_plan *plan;
  tt_bound_plan *bound = bind(one_round, &plan, (tt_bind_facts){.blocks = TT_CLASS_CELLS});
  bound->order[0] = 99;
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_ERR_PLAN);
  bound->order[0] = 0; /* a send */
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_ERR_PLAN);
  bound->order[0] = bound->order[1];
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_ERR_PLAN);
  bound->order[0] = 3;
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_OK);
  bound->released = 4;
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_ERR_PLAN);
  bound->released = 2;
  bound->take_count = 1;
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_ERR_PLAN);
  bound->take_count = 2;
  bound->step[0].media = 0;
  assert_int_equal(tt_bound_plan_check(bound), TUTTI_ERR_PLAN);
  finish(bound, plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cells_carry_everything_where_all_know_that_it_fits),
      cmocka_unit_test(test_ends_choose_between_cells_and_streams),
      cmocka_unit_test(test_what_nobody_waits_for_may_be_lent),
      cmocka_unit_test(test_messages_go_to_other_machines),
      cmocka_unit_test(test_wide_runs_widen_what_is_read_and_round_what_is_written),
      cmocka_unit_test(test_what_was_not_there_at_the_start_does_not_go_in_cells),
      cmocka_unit_test(test_indices_out_of_range_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
