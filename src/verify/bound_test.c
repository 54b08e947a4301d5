/* verify/bound_test.c - lists of a swap of one block between two ranks, in place: right as bound, and each with one
 * thing wrong, refused for the right reason. */
#include "bind/bind.h"
#include "verify/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 2 };

typedef struct swap {
  tt_question question;
  tt_meaning meaning;
  tt_plan *plan[RANKS], *list[RANKS];
  tt_bound_plan *bound[RANKS];
} swap;

/* Rank r's block 0 comes to (out, 0) of the other one: what comes waits in tmp until it is sent. tmp: the receive's
 * cell; from: the copy's. */
static tt_plan *plan_of(int rank, uint32_t tmp, uint32_t from, const char *wait) {
  char text[1024];
  int other = 1 - rank;
  tt_plan *plan;
  snprintf(text, sizeof text,
           "plan rank %d of 2 blocks 2 parts 1 tmp 2 times 2 slice 0 in-place direct\nlevel 0 core\n"
           "lane 0 id 0 send level 0 channel 0\n  0 t0 send ->%d b%d in.%d first last\n"
           "lane 1 id 0 recv level 0 channel 0\n  0 t0 recv <-%d b%d => tmp.%u first last\n"
           "lane 2 id 2 local level 0 channel 0\n  0 t1 copy b%d tmp.%u => out.%d%s\n",
           rank, other, rank, rank, other, other, tmp, other, from, other, wait);
  assert_int_equal(tt_plan_parse(text, &plan), TUTTI_OK);
  return plan;
}

static bool has_in(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)meaning;
  return block == rank;
}

static tt_expected expect(const tt_meaning *meaning, int64_t rank, int64_t block) {
  (void)meaning;
  (void)rank;
  return (tt_expected){.kind = TT_MEANING_COPY, .source = block};
}

static void open_swap(swap *of, tt_class blocks, tt_media able) {
  const tt_bind_facts facts = {.blocks = blocks, .able = able};
  *of = (swap){.question = {.collective = "swap", .rank_count = RANKS, .block_count = 2, .in_place = true}};
  of->meaning = (tt_meaning){.name = "swap",
                             .rank_count = RANKS,
                             .block_count = 2,
                             .in_place = true,
                             .question = &of->question,
                             .expect = expect,
                             .has_in = has_in};
  for (int r = 0; r < RANKS; r++) {
    of->plan[r] = plan_of(r, 0, 0, " wait 1.0");
    assert_int_equal(tt_bind(of->plan[r], &facts, &of->bound[r]), TUTTI_OK);
  }
  assert_int_equal(tt_verify(&of->meaning, (const tt_plan *const *)of->plan), TUTTI_OK);
}

static void close_swap(swap *of) {
  for (int r = 0; r < RANKS; r++) {
    tt_bound_plan_destroy(of->bound[r]);
    tt_plan_destroy(of->list[r]);
    tt_plan_destroy(of->plan[r]);
  }
}

static tutti_status prove(const swap *of) {
  return tt_verify_bound(&of->meaning, (const tt_plan *const *)of->plan, (const tt_bound_plan *const *)of->bound);
}

static void assert_right(const swap *of) {
  if (prove(of) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
}

static void assert_refused(const swap *of, const char *reason) {
  assert_int_equal(prove(of), TUTTI_ERR_PLAN);
  if (!strstr(tutti_last_error(), reason))
    fail_msg("no '%s' in: %s", reason, tutti_last_error());
}

/* Another list for rank 1, bound as the plan was. */
static void set_list(swap *of, tt_plan *list) {
  of->list[1] = list;
  of->bound[1]->list = list;
}

static void test_as_bound_it_is_right_in_every_class(void **state) {
  (void)state;
  for (int n = 0; n < TT_CLASS_COUNT; n++)
    for (int lends = 0; lends < 2; lends++) {
      swap of;
      open_swap(&of, (tt_class)n, lends ? TT_MEDIA_LENT : 0);
      assert_right(&of);
      close_swap(&of);
    }
}

static void test_what_comes_and_what_is_copied_are_of_one_memory(void **state) {
  (void)state;
  for (int n = 0; n < TT_CLASS_COUNT; n++) {
    swap of;
    open_swap(&of, (tt_class)n, TT_MEDIA_LENT);
    set_list(&of, plan_of(1, 0, 1, " wait 1.0")); /* as two executors did, each with a tmp of its own */
    assert_refused(&of, "rank 1 lane 2 step 0 (copy b0): it reads what was never written");
    close_swap(&of);
    open_swap(&of, (tt_class)n, TT_MEDIA_LENT);
    set_list(&of, plan_of(1, 1, 1, " wait 1.0")); /* both in the other one */
    assert_right(&of);
    close_swap(&of);
  }
}

static void test_what_was_never_waited_for_is_a_race(void **state) {
  (void)state;
  swap of;
  open_swap(&of, TT_CLASS_STREAMS, 0);
  set_list(&of, plan_of(1, 0, 0, ""));
  assert_int_equal(prove(&of), TUTTI_ERR_PLAN);
  close_swap(&of);
}

static void test_media_of_both_ends_agree(void **state) {
  (void)state;
  swap of;
  open_swap(&of, TT_CLASS_STREAMS, TT_MEDIA_LENT);
  of.bound[1]->step[1].media = TT_MEDIA(TT_MEDIUM_SLOT);
  assert_refused(&of, "rank 1 lane 1 step 0 (recv <-0 b0): its sender may pick a medium that it does not admit");
  of.bound[0]->step[0].media = TT_MEDIA(TT_MEDIUM_SLOT);
  assert_right(&of);
  of.bound[1]->step[0].media = TT_MEDIA(TT_MEDIUM_MESSAGE);
  assert_int_equal(prove(&of), TUTTI_ERR_PLAN);
  close_swap(&of);
  open_swap(&of, TT_CLASS_CELLS, 0);
  of.bound[0]->step[0].media = TT_MEDIA(TT_MEDIUM_SLOT);
  assert_int_equal(prove(&of), TUTTI_ERR_PLAN);
  close_swap(&of);
}

static void test_what_is_lent_is_settled(void **state) {
  (void)state;
  swap of;
  open_swap(&of, TT_CLASS_STREAMS, TT_MEDIA_LENT);
  assert_int_equal(of.bound[0]->settle_count, 1);
  of.bound[0]->settle_count = 0;
  assert_refused(&of, "rank 0 lane 0 step 0 (send ->1 b0): it is lent, but the run does not wait until it is released");
  close_swap(&of);
}

static void test_cells_are_released_after_the_last_take(void **state) {
  (void)state;
  swap of;
  open_swap(&of, TT_CLASS_CELLS, 0);
  assert_int_equal(of.bound[1]->released, 1);
  of.bound[1]->released = 2;
  assert_right(&of);
  of.bound[1]->released = 0;
  assert_refused(&of, "it takes from a released cell");
  close_swap(&of);
}

static void test_the_order_of_cells_keeps_operands(void **state) {
  (void)state;
  swap of;
  open_swap(&of, TT_CLASS_CELLS, 0);
  uint32_t first = of.bound[1]->order[0];
  of.bound[1]->order[0] = of.bound[1]->order[1];
  of.bound[1]->order[1] = first;
  of.bound[1]->released = 2;
  assert_refused(&of, "walked in the order of cells, its place gets another result");
  close_swap(&of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_as_bound_it_is_right_in_every_class),
      cmocka_unit_test(test_what_comes_and_what_is_copied_are_of_one_memory),
      cmocka_unit_test(test_what_was_never_waited_for_is_a_race),
      cmocka_unit_test(test_media_of_both_ends_agree),
      cmocka_unit_test(test_what_is_lent_is_settled),
      cmocka_unit_test(test_cells_are_released_after_the_last_take),
      cmocka_unit_test(test_the_order_of_cells_keeps_operands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
