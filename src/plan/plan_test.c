/* plan/plan_test.c - comparison of plans and counts of what they send. */
#include "plan/plan.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char text[] = "plan rank 0 of 3 blocks 2 parts 1 tmp 1 times 2 slice 0\n"
                           "level 0 node\n"
                           "level 1 core\n"
                           "lane 0 id 1 send level 1 channel 0\n"
                           "  0 t0 send ->1 b0 in.0 first\n"
                           "  1 t0 send ->1 b1 in.1 last\n"
                           "  2 t1 send ->2 b1 in.1 first last\n"
                           "lane 1 id 2 send level 0 channel 0 published readers 1 2\n"
                           "  0 t1 send ->* b0 in.0 first last wait 0.0 0.1*\n";

static tt_plan *parsed(const char *from) {
  tt_plan *plan = NULL;
  assert_int_equal(tt_plan_parse(from, &plan), TUTTI_OK);
  return plan;
}

static void test_sent_counts_messages_and_blocks_of_a_level(void **state) {
  (void)state;
  tt_plan *plan = parsed(text);
  static const struct {
    int level;
    int64_t messages, blocks;
  } wanted[] = {{-1, 3, 4}, {0, 1, 1}, {1, 2, 3}};
  for (size_t n = 0; n < TT_COUNT(wanted); n++) {
    tt_plan_counts counts = tt_plan_sent(plan, wanted[n].level);
    assert_int_equal(counts.messages, wanted[n].messages);
    assert_int_equal(counts.blocks, wanted[n].blocks);
  }
  tt_plan_destroy(plan);
}

static void test_equal_sees_every_difference(void **state) {
  (void)state;
  static const char *const change[][2] = {
      {"rank 0", "rank 1"},  {"times 2", "times 3"}, {"node", "rack"},
      {"id 2", "id 3"},      {"t1 send", "t0 send"}, {"wait 0.0 0.1*", "wait 0.0 0.0*"},
      {"1 2\n", "2\n"},      {" 0.1*", ""},          {"slice 0", "slice 0 direct"},
      {"slice 0", "slice 9"}};
  tt_plan *plan = parsed(text), *same = parsed(text);
  assert_true(tt_plan_equal(plan, same));
  for (size_t n = 0; n < TT_COUNT(change); n++) {
    char changed[sizeof text + 16];
    const char *at = strstr(text, change[n][0]);
    size_t before = (size_t)(at - text);
    memcpy(changed, text, before);
    strcpy(changed + before, change[n][1]);
    strcat(changed, at + strlen(change[n][0]));
    tt_plan *other = NULL;
    if (tt_plan_parse(changed, &other) == TUTTI_OK)
      assert_false(tt_plan_equal(plan, other));
    else
      assert_int_equal(n, 0); /* rank 1 is its own reader */
    tt_plan_destroy(other);
  }
  tt_plan_destroy(same);
  tt_plan_destroy(plan);
}

static void test_bytes_covers_the_tables(void **state) {
  (void)state;
  tt_plan *plan = parsed(text);
  assert_true(tt_plan_bytes(plan) >= sizeof *plan + plan->step_count * sizeof *plan->step);
  tt_plan_destroy(plan);
  tt_plan_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sent_counts_messages_and_blocks_of_a_level),
      cmocka_unit_test(test_equal_sees_every_difference),
      cmocka_unit_test(test_bytes_covers_the_tables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
