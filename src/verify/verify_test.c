/* verify/verify_test.c - plans made by hand are proven, and each of them with one thing wrong is refused for the right
 * reason. */
#include "verify/examples.h"
#include "verify/proof.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Example `of` with text `from` of one rank replaced, and a part of the error. */
static const struct {
  int of, rank;
  const char *from, *to, *reason;
} wrong[] = {
    /* streams */
    {EXCHANGE, 0, "  0 t0 send ->1 b0 in.0 first last\n", "",
     "rank 1 lane 1 step 0 (reduce <-0 b0): rank 0 sends nothing"},
    {EXCHANGE, 0, "  0 t0 reduce <-1 b0 in.0 => out.0 first last finish 2\n", "", "rank 0 never receives it"},
    {EXCHANGE, 0, "lane 0 id 0", "lane 0 id 1", "rank 0 sends nothing (more) in lane id 0"},
    {RING, 1, "  1 t1 send ->2 b0 out.0 first last wait 1.0\n", "", "rank 1 sends nothing (more)"},
    {RING, 0, "send ->1 b2", "send ->2 b2", "rank 0 sends nothing (more)"},
    {RING, 0, "recv <-2 b1 => out.1", "recv <-2 b0 => out.0", "what arrives has another block: rank 2"},
    {RING, 0, "  1 t1 recv", "  1 t0 recv", "what arrives has another round"},
    {MERGED, 0, "b0 in.0 first\n  1 t0 send ->1 b1 in.1 last", "b0 in.0 first last\n  1 t0 send ->1 b1 in.1 first last",
     "another place in its message"},
    {PUBLISH, 1, "readers 0 2", "readers 0", "names other readers than that of rank 1"},
    {PUBLISH, 2, "  0 t0 recv <-1 b0 => out.0 first last\n", "", "rank 2 never receives it"},
    {PUBLISH, 2, " published readers 0 1", "", "only one of its ends calls published"},
    {PUBLISH, 2, "readers 0 1", "readers 1", "names other readers than that of rank 1"},
    /* messages */
    {MERGED, 0, "in.1 last", "in.1", "its message has no end"},
    {MERGED, 0, "in.0 first", "in.0", "no message has begun"},
    {MERGED, 0, "in.1 last", "in.1 first last", "a message begins within another"},
    {CHAIN, 0, "->1 b0 in.0 first last\n  1 t1 send ->1 b1 in.1 first last",
     "->1 b0 in.0 first\n  1 t1 send ->1 b1 in.1 last", "peer or time changes within a message"},
    /* values */
    {EXCHANGE, 0, "reduce <-1 b0 in.0 => out.0 first last finish 2", "recv <-1 b0 => out.0 first last",
     "rank 0 out.0 lacks the input of rank 0"},
    {EXCHANGE, 0, " finish 2", "", "rank 0 out.0 was never finished"},
    {EXCHANGE, 0, " finish 2", " finish 1", "it finishes 2 contributions as if they were 1"},
    {CHAIN, 1, "=> tmp.0 left first last\n", "=> tmp.0 left first last finish 2\n",
     "it combines a result that is already fin"},
    {CHAIN, 1, "recv <-2 b0 => out.0 first last", "recv <-2 b0 => out.0 first last finish 3",
     "it finishes a result that is already fin"},
    {CHAIN, 1, "recv <-2 b0 =>", "reduce <-2 b0 in.0 =>", "it combines a result that is already finished"},
    {CHAIN, 1, "send ->2 b1 tmp.0 first last wait 0.1", "send ->2 b1 in.1 first last wait 0.1",
     "it finishes 2 contributions as if they were 3"},
    {CHAIN, 2, "reduce <-1 b1 in.1 => out.1", "reduce <-1 b1 mid.1 => out.1", "reads what was never written"},
    {CHAIN, 0, "recv <-1 b1 => out.1", "recv <-1 b1 => mid.1", "rank 0 out.1 is never written"},
    {RING, 0, "copy b0 in.0", "copy b0 mid.0", "it reads what was never written"},
    {RING, 0, "copy b0 in.0 => out.0", "copy b1 in.1 => out.1", "reads a block that the rank does not have"},
    {RING, 0, "copy b0 in.0 => out.0", "copy b0 in.0 => mid.0", "rank 0 out.0 is never written"},
    {PUBLISH, 0, "=> out.0", "=> in.0", "it writes where the rank may not write"},
    {SUMS, 0, "send ->1 b1 in.1", "send ->1 b1 out.1", "reads a block that the rank does not have"},
    {SUMS, 0, "in.0 => out.0", "in.0 => in.0", "it writes where the rank may not write"},
    {EXCHANGE, 0, "b0 in.0 first last\n", "b0 mid.0 first last\n", "a direct plan may send only from in"},
    /* meanings */
    {REDUCE, 1, "out.0", "mid.0", "rank 1 out.0 is never written"},
    {REDUCE, 0, "in.0", "out.0", "reads a block that the rank does not have"},
    {REDUCE, 2, " first last\n", " first last\nlane 1 id 0 local level 0 channel 0\n  0 t0 copy b0 in.0 => out.0\n",
     "rank 2 lane 1 step 0 (copy b0): it writes where the rank may not write"},
    {REDUCE, 1, "reduce <-2 b0 tmp.0 => out.0 first last finish 3", "reduce <-2 b0 in.0 => out.0 first last finish 2",
     "rank 1 out.0 lacks the input of rank 0"},
    {REDUCE, 1, "finish 3", "finish 2", "it finishes 3 contributions as if they were 2"},
    {GATHER, 0, "in.0", "out.0", "reads a block that the rank does not have"},
    {GATHER, 1, "=> out.2", "=> mid.2", "rank 1 out.2 is never written"},
    {SCATTER, 0, "copy b0 in.0 => out.0", "copy b1 in.1 => out.1", "it writes where the rank may not write"},
    {SCATTER, 1, "=> out.1", "=> mid.1", "rank 1 out.1 is never written"},
    {ALL_TO_ALL, 0, "=> out.2", "=> mid.2", "rank 0 out.2 is never written"},
    {ALL_TO_ALL, 1, "copy b3 in.3 => out.3", "copy b1 in.1 => out.1", "reads a block that the rank does not have"},
    {ALL_TO_ALL, 1, "copy b3 in.3 => out.3", "copy b3 in.3 => mid.3", "rank 1 out.3 is never written"},
    {SCAN, 2, "reduce <-1 b0 in.0 => out.0 left first last finish 3", "recv <-1 b0 => out.0 first last finish 2",
     "rank 2 out.0 lacks the input of rank 2"},
    {SCAN, 1, "tmp.0 => out.0 finish 2", "tmp.0 => out.0", "rank 1 out.0 was never finished"},
    {SCAN, 1, "tmp.0 => out.0 finish 2", "in.0 => out.0", "rank 1 out.0 lacks the input of rank 0"},
    {EXSCAN, 2, "recv <-1 b0 => out.0 first last finish 2", "reduce <-1 b0 in.0 => out.0 left first last finish 3",
     "rank 2 out.0 also has the input of rank 2"},
    {EXSCAN, 0, " first last\n", " first last\nlane 1 id 0 local level 0 channel 0\n  0 t0 copy b0 in.0 => out.0\n",
     "it writes where the rank may not write"},
    {EXSCAN, 1, "  2 t0 copy b0 tmp.0 => out.0\n", "", "rank 1 out.0 is the input of rank 1 instead of 0"},
    {NEIGHBOR, 1, "copy b3 in.3 => out.3", "copy b1 in.1 => out.1", "reads a block that the rank does not have"},
    {NEIGHBOR, 0, "=> out.2", "=> mid.2", "rank 0 out.2 is never written"},
    /* races */
    {IN_PLACE, 1, " wait 0.0", "", "race: it writes what another step reads without waiting: rank 1 lane 0"},
    {RING, 1, " wait 1.0", "", "race: it reads what another step writes"},
    {RING, 1, "first last wait 1.0\n", "first last wait 2.0*\n", "race: it reads what another step writes"},
    {CHAIN, 1, " wait 1.0*", "", "race: it writes what another step reads"},
    {CHAIN, 1, " wait 0.1", "", "reads b0 instead of its own block"},
    {FAN, 1, "=> mid.0", "=> out.0", "race: it writes what another step writes"},
    /* deadlocks */
    {EXCHANGE, 0, "b0 in.0 first last\n", "b0 in.0 first last wait 0.0\n", "deadlock: it waits for itself"},
    {RING, 0, "copy b0 in.0 => out.0", "copy b0 in.0 => out.0 wait 2.0", "deadlock: it waits for itself"},
    {RING, 0, "b2 => out.2 first last", "b2 => out.2 first last wait 0.1", "deadlock"},
    {FAN, 1, "<-0 b0 => out.0 first last", "<-0 b0 => out.0 first last wait 1.0*", "deadlock: it waits for rank"},
    /* headers */
    {RING, 1, "times 2", "times 3", "plan of rank 1: parts, times"},
    {RING, 1, "slice 0", "slice 8", "plan of rank 1: parts, times"},
    {CHAIN, 0, "rank 0 of 3", "rank 2 of 3", "plan of rank 0: it is the plan of another rank"},
    {RING, 1, "slice 0", "slice 0 in-place", "plan of rank 1: only one of plan and meaning is in place"},
};

typedef struct plans {
  tt_plan *plan[EXAMPLE_RANKS];
} plans;

/* Text of one rank, with the first `from` replaced; the caller frees it. */
static char *text_of(const example *of, int rank, const char *from, const char *to) {
  char *text = example_text(of, rank), *made = NULL;
  const char *at = from != NULL ? strstr(text, from) : text;
  assert_non_null(at);
  int size = asprintf(&made, "%.*s%s%s", (int)(at - text), text, to, at + (from != NULL ? strlen(from) : 0));
  assert_true(size >= 0);
  free(text);
  return made;
}

static tutti_status read_plans(const example *of, int changed, const char *from, const char *to, plans *made) {
  tutti_status status = TUTTI_OK;
  *made = (plans){{NULL}};
  for (int rank = 0; rank < of->rank_count && status == TUTTI_OK; rank++) {
    char *text = text_of(of, rank, rank == changed ? from : NULL, rank == changed ? to : "");
    status = tt_plan_parse(text, &made->plan[rank]);
    free(text);
  }
  return status;
}

static tutti_status prove_question(tt_question question, const plans *made, tt_facts *facts) {
  tt_meaning meaning;
  assert_int_equal(tt_verify_meaning(&question, &meaning), TUTTI_OK);
  return tt_verify_facts(&meaning, (const tt_plan *const *)made->plan, facts);
}

static tutti_status prove(const example *of, bool ordered, const plans *made, tt_facts *facts) {
  return prove_question(example_question(of, ordered), made, facts);
}

static void drop(plans *made) {
  for (int rank = 0; rank < EXAMPLE_RANKS; rank++)
    tt_plan_destroy(made->plan[rank]);
}

static void test_examples_are_proven(void **state) {
  (void)state;
  for (int n = 0; n < EXAMPLES; n++) {
    plans made;
    tt_facts facts;
    if (read_plans(&examples[n], -1, NULL, "", &made) != TUTTI_OK ||
        prove(&examples[n], false, &made, &facts) != TUTTI_OK)
      fail_msg("example %d: %s", n, tutti_last_error());
    assert_int_equal(facts.rendezvous, examples[n].rendezvous);
    assert_int_equal(facts.ordered, examples[n].ordered);
    drop(&made);
  }
}

static void test_each_wrong_step_is_refused_for_its_reason(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(wrong); n++) {
    plans made;
    tt_facts facts;
    const example *of = &examples[wrong[n].of];
    tutti_status status = read_plans(of, wrong[n].rank, wrong[n].from, wrong[n].to, &made);
    if (status == TUTTI_OK)
      status = prove(of, false, &made, &facts);
    if (status != TUTTI_ERR_PLAN || strstr(tutti_last_error(), wrong[n].reason) == NULL)
      fail_msg("example %d, '%s' for '%s': wanted '%s', got '%s'", wrong[n].of, wrong[n].to, wrong[n].from,
               wrong[n].reason, status == TUTTI_OK ? "proven" : tutti_last_error());
    drop(&made);
  }
}

/* Each rank sends the second half of its message after it has received the first half: fine where blocks fill slots,
 * but small blocks share one, which is not sent before it is complete. */
static void test_message_that_waits_for_its_own_answer_is_a_deadlock(void **state) {
  (void)state;
  static const char found[] = "in.1 last\n", put[] = "in.1 last wait 1.0*\n";
  example late = examples[MERGED];
  char text[4096];
  size_t used = 0;
  for (const char *at = late.text; *at != '\0';) {
    bool here = strncmp(at, found, strlen(found)) == 0;
    memcpy(text + used, here ? put : at, here ? strlen(put) : 1);
    used += here ? strlen(put) : 1;
    at += here ? strlen(found) : 1;
  }
  text[used] = '\0';
  late.text = text;
  plans made;
  tt_facts facts;
  assert_int_equal(read_plans(&late, -1, NULL, "", &made), TUTTI_OK);
  assert_int_equal(prove(&late, false, &made, &facts), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "deadlock"));
  drop(&made);
}

static void test_plans_for_another_meaning_are_refused(void **state) {
  (void)state;
  example other = examples[PUBLISH];
  other.root = 0;
  plans made;
  tt_facts facts;
  assert_int_equal(read_plans(&other, -1, NULL, "", &made), TUTTI_OK);
  assert_int_equal(prove(&other, false, &made, &facts), TUTTI_ERR_PLAN);
  drop(&made);
}

/* ---- operators that do not commute ---- */

static void expect_refused(const example *of, const plans *made, const char *reason) {
  tt_facts facts;
  tutti_status status = prove(of, true, made, &facts);
  if (status != TUTTI_ERR_PLAN || strstr(tutti_last_error(), reason) == NULL)
    fail_msg("%s: wanted '%s', got '%s'", of->collective, reason, status != TUTTI_OK ? tutti_last_error() : "proven");
}

static void test_what_combines_in_rank_order_serves_operators_that_do_not_commute(void **state) {
  (void)state;
  for (int n = 0; n < EXAMPLES; n++) {
    plans made;
    tt_facts facts;
    assert_int_equal(read_plans(&examples[n], -1, NULL, "", &made), TUTTI_OK);
    if (!examples[n].ordered)
      expect_refused(&examples[n], &made, "rank 1 is left of rank 0, which is not rank order");
    else if (prove(&examples[n], true, &made, &facts) != TUTTI_OK)
      fail_msg("example %d: %s", n, tutti_last_error());
    drop(&made);
  }
}

static void test_operands_the_wrong_way_round_are_refused_where_order_counts(void **state) {
  (void)state;
  static const struct {
    int of, rank;
    const char *reason;
  } turned[] = {
      {EXCHANGE, 1, "rank 1 lane 1 step 0 (reduce <-0 b0): rank 1 is left of rank 0"},
      {REDUCE, 1, "rank 1 lane 0 step 0 (reduce <-0 b0): rank 1 is left of rank 0"},
      {SCAN, 2, "rank 2 lane 0 step 0 (reduce <-1 b0): rank 2 is left of rank 0"},
  };
  for (size_t n = 0; n < TT_COUNT(turned); n++) {
    const example *of = &examples[turned[n].of];
    plans made;
    tt_facts facts;
    assert_int_equal(read_plans(of, turned[n].rank, " left", "", &made), TUTTI_OK);
    expect_refused(of, &made, turned[n].reason);
    assert_int_equal(prove(of, false, &made, &facts), TUTTI_OK);
    assert_false(facts.ordered);
    drop(&made);
  }
}

/* Rank 1 puts rank 2 in front of rank 0: ranges that overlap are in no order. */
static void test_a_rank_between_two_others_cannot_come_later(void **state) {
  (void)state;
  plans made;
  tt_facts facts;
  const example *of = &examples[REDUCE];
  assert_int_equal(read_plans(of, 1,
                              "  0 t0 reduce <-0 b0 in.0 => tmp.0 left first last\n"
                              "  1 t1 reduce <-2 b0 tmp.0 => out.0 first last finish 3\n",
                              "  0 t0 recv <-0 b0 => tmp.0 first last\n"
                              "  1 t1 reduce <-2 b0 tmp.0 => tmp.0 first last\n"
                              "lane 1 id 0 local level 0 channel 0\n"
                              "  0 t1 copy b0 tmp.0 => out.0 wait 0.1\n"
                              "  1 t1 copy b0 in.0 => out.0 onto finish 3\n",
                              &made),
                   TUTTI_OK);
  expect_refused(of, &made, "rank 1 lane 1 step 1 (copy b0): rank 2 is left of rank 1");
  assert_int_equal(prove(of, false, &made, &facts), TUTTI_OK);
  drop(&made);
}

/* 0 (1 2) is in rank order; (0 1) 2 is what everybody has to make of it. */
static void test_reproducible_sums_take_one_rank_after_the_other(void **state) {
  (void)state;
  plans made;
  tt_facts facts;
  const example *of = &examples[REDUCE];
  tt_question question = example_question(of, true);
  question.reproducible = true;
  assert_int_equal(read_plans(of, -1, NULL, "", &made), TUTTI_OK);
  assert_int_equal(prove_question(question, &made, &facts), TUTTI_OK);
  drop(&made);
  assert_int_equal(read_plans(of, 1,
                              "  0 t0 reduce <-0 b0 in.0 => tmp.0 left first last\n"
                              "  1 t1 reduce <-2 b0 tmp.0 => out.0 first last finish 3\n",
                              "  0 t0 recv <-0 b0 => tmp.0 first last\n"
                              "  1 t1 reduce <-2 b0 in.0 => out.0 first last\n"
                              "lane 1 id 0 local level 0 channel 0\n"
                              "  0 t1 copy b0 out.0 => tmp.0 onto wait 0.1\n"
                              "  1 t1 copy b0 tmp.0 => out.0 finish 3\n",
                              &made),
                   TUTTI_OK);
  assert_int_equal(prove(of, true, &made, &facts), TUTTI_OK);
  assert_int_equal(prove_question(question, &made, &facts), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "it does not combine one rank after the other: 1 on the left, 2 on the"));
  drop(&made);
}

static void test_meaning_refuses_what_no_form_has(void **state) {
  (void)state;
  static const int32_t edge[] = {3};
  static const tt_question none[] = {
      {.collective = "allgather", .rank_count = 3, .block_count = 1},
      {.collective = "allreduce", .rank_count = 3, .block_count = 0},
      {.collective = "broadcast", .rank_count = 3, .block_count = 1, .root = 3},
      {.collective = "all-to-all", .rank_count = 3, .block_count = 3},
      {.collective = "all-to-all", .rank_count = 3, .block_count = 9, .in_place = true},
      {.collective = "neighbor-allgather",
       .rank_count = 3,
       .block_count = 1,
       .edge_count = 1,
       .from = edge,
       .to = edge},
      {.collective = "gossip", .rank_count = 3, .block_count = 1},
  };
  tt_meaning meaning;
  for (size_t n = 0; n < TT_COUNT(none); n++)
    assert_int_equal(tt_verify_meaning(&none[n], &meaning), TUTTI_ERR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples_are_proven),
      cmocka_unit_test(test_each_wrong_step_is_refused_for_its_reason),
      cmocka_unit_test(test_message_that_waits_for_its_own_answer_is_a_deadlock),
      cmocka_unit_test(test_plans_for_another_meaning_are_refused),
      cmocka_unit_test(test_what_combines_in_rank_order_serves_operators_that_do_not_commute),
      cmocka_unit_test(test_operands_the_wrong_way_round_are_refused_where_order_counts),
      cmocka_unit_test(test_a_rank_between_two_others_cannot_come_later),
      cmocka_unit_test(test_reproducible_sums_take_one_rank_after_the_other),
      cmocka_unit_test(test_meaning_refuses_what_no_form_has),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
