/* plan/set_test.c - the plans of all ranks and their claim as text: what prints parses back, and broken texts are
 * refused with their line, or with the ranks whose plans are missing. */
#include "plan/plan.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANK(r, p)                                                                                                     \
  "plan rank " #r " of 3 blocks 2 parts 1 tmp 0 times 1 slice 0\n"                                                     \
  "level 0 core\n"                                                                                                     \
  "lane 0 id 0 send level 0 channel 0\n"                                                                               \
  "  0 t0 send ->" #p " b0 in.0 first last\n"

static const char three_ranks[] = "plans 1\n"
                                  "claim neighbor-all-to-all ranks 3 blocks 2 root 2 in-place ordered reproducible\n"
                                  "edge 0 0->2\n"
                                  "edge 1 2->0\n" RANK(0, 1) RANK(1, 2) RANK(2, 0);

static const struct {
  const char *from, *to, *reason; /* three_ranks with `from` replaced, and a part of the error */
} broken[] = {
    {"plans 1", "plans 2", "line 1: expected 'plans 1' at 'plans 2'"},
    {"plans 1\n", "", "line 1: expected 'plans 1' at 'claim"},
    {"claim neighbor-all-to-all", "claim Neighbor", "line 2: expected 'a collective's name'"},
    {"neighbor-all-to-all", "a-name-of-thirty-two-characters-", "line 2: expected 'a collective's name'"},
    {"ranks 3", "ranks 0", "line 2: expected 'a number from 1 to 1048576'"},
    {"ranks 3", "ranks 999999999999", "line 2: expected 'a number from 1 to 1048576' at '999999999999 blocks"},
    {"ranks 3", "ranks 4", "line 5: the plan is of 3 ranks, but the claim has 4"},
    {"blocks 2 root", "blocks 2147483648 root", "line 2: expected 'a number from 0 to 2147483647'"},
    {"blocks 2 root", "blocks -1 root", "line 2"},
    {"root 2", "root 3", "line 2: expected 'a number from 0 to 2' at '3"},
    {"in-place ordered", "ordered in-place", "line 2: expected 'the end of the line' at ' in-place"},
    {"edge 1", "edge 2", "line 4: expected 'the next edge's number'"},
    {"0->2\n", "0->3\n", "line 3: expected 'a number from 0 to 2'"},
    {"0->2\n", "0-2\n", "line 3: expected '->'"},
    {"edge 0", "hedge 0", "line 3: expected 'plan rank '"},
    {"  0 t0 send ->2", "  0 t0 sent ->2", "line 12: expected"},
    {"rank 1 of 3", "rank 1 of 4", "line 9: the plan is of 4 ranks, but the claim has 3"},
    {"rank 1 of 3", "rank 3 of 3", "line 9: rank 3 is not one of 3"},
    {"rank 1 of 3", "rank 0 of 3", "line 9: the plan of rank 0 follows that of rank 0"},
    {"rank 1 of 3", "rank 2 of 3", "line 13: the plan of rank 2 follows that of rank 2"},
    {RANK(0, 1), "", "the plans of ranks 0 of 3 are missing"},
    {RANK(1, 2), "", "the plans of ranks 1 of 3 are missing"},
    {RANK(1, 2) RANK(2, 0), "", "the plans of ranks 1 to 2 of 3 are missing"},
    {RANK(0, 1) RANK(1, 2) RANK(2, 0), "", "the plans of ranks 0 to 2 of 3 are missing"},
    {"plan rank 2", "plan tank 2", "line 13: expected 'plan rank '"},
    {"plan rank 2", "plans 2", "line 13: expected 'a lane, a step or the end'"},
    {"ordered", "\033[31m", "line 2: expected 'the end of the line' at ' ?[31m"},
};

static char *print_set(const tt_plan_set *set) {
  char *text = NULL, *part = tt_plan_claim_print(&set->claim);
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  fputs(part, out);
  free(part);
  for (int64_t r = 0; r < set->plan_count; r++) {
    part = tt_plan_print(set->plan[r]);
    fputs(part, out);
    free(part);
  }
  fclose(out);
  return text;
}

static tutti_status parse(const char *text, tt_plan_set **set) { return tt_plan_set_parse(text, strlen(text), set); }

static void test_printed_set_parses_back(void **state) {
  (void)state;
  tt_plan_set *set = NULL;
  assert_int_equal(parse(three_ranks, &set), TUTTI_OK);
  assert_int_equal(set->plan_count, 3);
  assert_string_equal(set->claim.collective, "neighbor-all-to-all");
  assert_int_equal(set->claim.root, 2);
  assert_true(set->claim.in_place && set->claim.ordered && set->claim.reproducible);
  assert_int_equal(set->claim.edge_count, 2);
  assert_int_equal(set->claim.to[0], 2);
  char *printed = print_set(set);
  assert_string_equal(printed, three_ranks);
  free(printed);
  tt_plan_set_destroy(set);
}

static void test_broken_texts_are_refused_with_the_reason(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    const char *at = strstr(three_ranks, broken[n].from);
    char *text = NULL;
    assert_non_null(at);
    assert_true(asprintf(&text, "%.*s%s%s", (int)(at - three_ranks), three_ranks, broken[n].to,
                         at + strlen(broken[n].from)) >= 0);
    tt_plan_set *set = NULL;
    if (parse(text, &set) != TUTTI_ERR_PLAN || strstr(tutti_last_error(), broken[n].reason) == NULL)
      fail_msg("'%s' for '%s': wanted '%s', got '%s'", broken[n].to, broken[n].from, broken[n].reason,
               tutti_last_error());
    assert_null(set);
    free(text);
  }
}

static void test_one_plan_alone_is_refused_with_what_is_missing(void **state) {
  (void)state;
  tt_plan_set *set = NULL;
  assert_int_equal(parse(RANK(1, 2), &set), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(),
                      "plan text, line 1: expected 'plans 1', then a claim; the plans of ranks 0, 2 of 3 are missing");
  assert_null(set);
}

static void test_many_missing_ranks_are_cut_short(void **state) {
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, "plans 1\nclaim barrier ranks 1048576 blocks 1\n");
  for (int r = 1; r < 1048576; r += 2 * 65536)
    fprintf(out, "plan rank %d of 1048576 blocks 1 parts 1 tmp 0 times 0 slice 0\n", r);
  fclose(out);
  tt_plan_set *set = NULL;
  assert_int_equal(parse(text, &set), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "the plans of ranks 0, 2 to 131072, 131074 to 262144, "));
  assert_non_null(strstr(tutti_last_error(), ", ... of 1048576 are missing"));
  free(text);
}

static void test_zero_byte_is_refused(void **state) {
  (void)state;
  tt_plan_set *set = NULL;
  assert_int_equal(tt_plan_set_parse(three_ranks, sizeof three_ranks, &set), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(), "plan text, line 17: a zero byte");
}

/* At the end of a line of the last plan, what is left is a text too. */
static void test_every_cut_is_refused_or_prints_back(void **state) {
  (void)state;
  int refused = 0;
  for (size_t length = 0; length < sizeof three_ranks; length++) {
    char *text = strndup(three_ranks, length), *printed = NULL;
    tt_plan_set *set = NULL;
    if (parse(text, &set) == TUTTI_OK)
      assert_string_equal(printed = print_set(set), text);
    else
      refused++;
    tt_plan_set_destroy(set);
    free(printed);
    free(text);
  }
  assert_int_equal(refused, sizeof three_ranks - 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_printed_set_parses_back),
      cmocka_unit_test(test_broken_texts_are_refused_with_the_reason),
      cmocka_unit_test(test_one_plan_alone_is_refused_with_what_is_missing),
      cmocka_unit_test(test_many_missing_ranks_are_cut_short),
      cmocka_unit_test(test_zero_byte_is_refused),
      cmocka_unit_test(test_every_cut_is_refused_or_prints_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
