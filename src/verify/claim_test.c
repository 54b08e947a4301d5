/* verify/claim_test.c - plans from a text: what does as it claims is proven, and each text with one thing wrong is
 * refused, with the step that is wrong; so are numbers that would take too much to prove. */
#include "verify/verify.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A ring, in place: reduce-scatter, then allgather. */
static const char ring[] = "plans 1\n"
                           "claim allreduce ranks 3 blocks 3 in-place\n"
                           "plan rank 0 of 3 blocks 3 parts 1 tmp 1 times 4 slice 0 in-place\n"
                           "level 0 core\n"
                           "lane 0 id 0 send level 0 channel 0\n"
                           "  0 t0 send ->2 b1 in.1 first last\n"
                           "  1 t1 send ->2 b2 tmp.0 first last wait 1.0\n"
                           "  2 t2 send ->1 b0 out.0 first last wait 1.1\n"
                           "  3 t3 send ->1 b2 out.2 first last wait 1.2\n"
                           "lane 1 id 0 recv level 0 channel 0\n"
                           "  0 t0 reduce <-1 b2 in.2 => tmp.0 first last\n"
                           "  1 t1 reduce <-1 b0 in.0 => out.0 first last finish 3\n"
                           "  2 t2 recv <-2 b2 => out.2 first last\n"
                           "  3 t3 recv <-2 b1 => out.1 first last wait 0.0\n"
                           "plan rank 1 of 3 blocks 3 parts 1 tmp 1 times 4 slice 0 in-place\n"
                           "level 0 core\n"
                           "lane 0 id 0 send level 0 channel 0\n"
                           "  0 t0 send ->0 b2 in.2 first last\n"
                           "  1 t1 send ->0 b0 tmp.0 first last wait 1.0\n"
                           "  2 t2 send ->2 b1 out.1 first last wait 1.1\n"
                           "  3 t3 send ->2 b0 out.0 first last wait 1.2\n"
                           "lane 1 id 0 recv level 0 channel 0\n"
                           "  0 t0 reduce <-2 b0 in.0 => tmp.0 first last\n"
                           "  1 t1 reduce <-2 b1 in.1 => out.1 first last finish 3\n"
                           "  2 t2 recv <-0 b0 => out.0 first last\n"
                           "  3 t3 recv <-0 b2 => out.2 first last wait 0.0\n"
                           "plan rank 2 of 3 blocks 3 parts 1 tmp 1 times 4 slice 0 in-place\n"
                           "level 0 core\n"
                           "lane 0 id 0 send level 0 channel 0\n"
                           "  0 t0 send ->1 b0 in.0 first last\n"
                           "  1 t1 send ->1 b1 tmp.0 first last wait 1.0\n"
                           "  2 t2 send ->0 b2 out.2 first last wait 1.1\n"
                           "  3 t3 send ->0 b1 out.1 first last wait 1.2\n"
                           "lane 1 id 0 recv level 0 channel 0\n"
                           "  0 t0 reduce <-0 b1 in.1 => tmp.0 first last\n"
                           "  1 t1 reduce <-0 b2 in.2 => out.2 first last finish 3\n"
                           "  2 t2 recv <-1 b1 => out.1 first last\n"
                           "  3 t3 recv <-1 b0 => out.0 first last wait 0.0\n";

static const char edges[] = "plans 1\n"
                            "claim neighbor-allgather ranks 2 blocks 2\n"
                            "edge 0 1->0\n"
                            "edge 1 1->1\n"
                            "plan rank 0 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
                            "level 0 core\n"
                            "lane 0 id 0 recv level 0 channel 0\n"
                            "  0 t0 recv <-1 b0 => out.0 first last\n"
                            "plan rank 1 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
                            "level 0 core\n"
                            "lane 0 id 0 send level 0 channel 0\n"
                            "  0 t0 send ->0 b0 in.0 first last\n"
                            "lane 1 id 0 local level 0 channel 0\n"
                            "  0 t0 copy b1 in.1 => out.1\n";

static const char broadcast[] = "plans 1\n"
                                "claim broadcast ranks 2 blocks 1 root 1\n"
                                "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\n"
                                "level 0 core\n"
                                "lane 0 id 0 recv level 0 channel 0\n"
                                "  0 t0 recv <-1 b0 => out.0 first last\n"
                                "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0\n"
                                "level 0 core\n"
                                "lane 0 id 0 send level 0 channel 0\n"
                                "  0 t0 send ->0 b0 in.0 first last\n"
                                "lane 1 id 0 local level 0 channel 0\n"
                                "  0 t0 copy b0 in.0 => out.0\n";

/* If b0 needs several slots and b1 shares one with b2: the send of b0 needs its reader, which waits for b1, which goes
 * out with b2, which waits for the send of b0. */
static const char mixed[] = "plans 1\n"
                            "claim neighbor-all-to-allv ranks 2 blocks 3\n"
                            "edge 0 0->1\n"
                            "edge 1 0->1\n"
                            "edge 2 0->1\n"
                            "plan rank 0 of 2 blocks 3 parts 1 tmp 0 times 1 slice 0\n"
                            "level 0 core\n"
                            "lane 0 id 0 send level 0 channel 0\n"
                            "  0 t0 send ->1 b0 in.0 first last\n"
                            "lane 1 id 2 send level 0 channel 0\n"
                            "  0 t0 send ->1 b1 in.1 first\n"
                            "  1 t0 send ->1 b2 in.2 last wait 0.0*\n"
                            "plan rank 1 of 2 blocks 3 parts 1 tmp 0 times 1 slice 0\n"
                            "level 0 core\n"
                            "lane 0 id 0 recv level 0 channel 0\n"
                            "  0 t0 recv <-0 b0 => out.0 first last wait 1.0*\n"
                            "lane 1 id 2 recv level 0 channel 0\n"
                            "  0 t0 recv <-0 b1 => out.1 first\n"
                            "  1 t0 recv <-0 b2 => out.2 last\n";

static const struct wrong {
  const char *text, *from, *to; /* the first `from` replaced */
  tutti_status status;
  const char *reason; /* a part of the error */
} wrong[] = {
    /* a wait dropped */
    {ring, "b0 out.0 first last wait 1.1", "b0 out.0 first last", TUTTI_ERR_PLAN,
     "rank 0 lane 1 step 1 (reduce <-1 b0): race: it writes what another step reads without waiting: rank 0 lane 0 "
     "step 2 (send ->1 b0)"},
    {ring, "=> out.1 first last wait 0.0", "=> out.1 first last", TUTTI_ERR_PLAN,
     "rank 0 lane 1 step 3 (recv <-2 b1): race: it writes what another step reads"},
    /* one too many */
    {ring, "b1 in.1 first last", "b1 in.1 first last wait 1.3", TUTTI_ERR_PLAN,
     "rank 0 lane 0 step 0 (send ->2 b1): "
     "deadlock"},
    {mixed, "wait 1.0*", "wait 1.0*", TUTTI_ERR_PLAN,
     "rank 0 lane 1 step 1 (send ->1 b2): deadlock: it waits for rank 0 lane 0 step 0 (send ->1 b0), and that for"},
    /* another place */
    {ring, "b2 in.2 => tmp.0", "b2 in.2 => out.2", TUTTI_ERR_PLAN,
     "rank 0 lane 0 step 1 (send ->2 b2): it reads what "
     "was never written"},
    {ring, "in.0 => out.0 first last finish 3", "in.0 => mid.0 first last finish 3", TUTTI_ERR_PLAN,
     "rank 0 out.0 lacks the input of rank 1"},
    {ring, "b1 => out.1", "b1 => mid.1", TUTTI_ERR_PLAN, "rank 0 out.1 lacks the input of rank 1"},
    {ring, "b1 => out.1", "b1 => out.2", TUTTI_ERR_PLAN, "rank 0 lane 1 step 3: it refers to another block"},
    /* a receive that is missing, a send that is missing, to another rank */
    {ring, "  3 t3 recv <-2 b1 => out.1 first last wait 0.0\n", "", TUTTI_ERR_PLAN,
     "rank 2 lane 0 step 3 (send ->0 b1): rank 0 never receives it"},
    {ring, "  3 t3 send ->1 b2 out.2 first last wait 1.2\n", "", TUTTI_ERR_PLAN,
     "rank 1 lane 1 step 3 (recv <-0 b2): rank 0 sends nothing (more) in lane id 0"},
    {ring, "3 t3 send ->1 b2", "3 t3 send ->2 b2", TUTTI_ERR_PLAN, "rank 1 lane 1 step 3 (recv <-0 b2): rank 0 sends"},
    {ring, "3 t3 send ->1 b2", "3 t3 send ->0 b2", TUTTI_ERR_PLAN, "rank 0 lane 0 step 3: its peer is invalid"},
    /* finished as fewer, not at all */
    {ring, "finish 3", "finish 2", TUTTI_ERR_PLAN,
     "rank 0 lane 1 step 1 (reduce <-1 b0): it finishes 3 contributions as if they were 2"},
    {ring, " finish 3", "", TUTTI_ERR_PLAN, "rank 0 out.0 was never finished"},
    /* another claim */
    {ring, "allreduce ranks 3 blocks 3 in-place", "allreduce ranks 3 blocks 3", TUTTI_ERR_PLAN, "in place"},
    {ring, "blocks 3 in-place", "blocks 1 in-place", TUTTI_ERR_PLAN, "plan of rank 0: its block count differs"},
    {ring, "in-place\n", "in-place ordered\n", TUTTI_ERR_PLAN, "which is not rank order"},
    {ring, "in-place\n", "in-place reproducible\n", TUTTI_ERR_PLAN, "one rank after the other"},
    {ring, "claim allreduce", "claim reduce-scatter", TUTTI_ERR_PLAN, "reduce-scatter: rank 0 lane"},
    {ring, "claim allreduce", "claim scan", TUTTI_ERR_PLAN, "rank 0 out.0 combines inputs of several ranks"},
    {ring, "claim allreduce", "claim gossip", TUTTI_ERR_ARGUMENT, "'gossip' has no meaning"},
    {ring, "claim allreduce", "claim all-to-all", TUTTI_ERR_ARGUMENT, "does not have 3 blocks"},
    {ring, "blocks 3 in-place\n", "blocks 3 root 1 in-place\n", TUTTI_ERR_ARGUMENT, "allreduce has no root"},
    {ring, "in-place\n", "in-place\nedge 0 0->1\n", TUTTI_ERR_ARGUMENT, "allreduce has no edges"},
    {edges, "edge 0 1->0\n", "edge 0 0->0\n", TUTTI_ERR_PLAN, "rank 1 lane 0 step 0 (send ->0 b0): it reads a block"},
    {edges, "edge 1 1->1\n", "", TUTTI_ERR_ARGUMENT, "does not have 2 blocks"},
    {broadcast, "root 1", "root 0", TUTTI_ERR_PLAN, "rank 1 lane"},
    {broadcast, " root 1", "", TUTTI_ERR_PLAN, "rank 1 lane"},
    /* numbers that nothing in the text bounds */
    {ring, "tmp 1", "tmp 4294967295", TUTTI_ERR_UNSUPPORTED, "16 GiB of memory; the limit is 4"},
    {ring, "blocks 3 parts 1", "blocks 4294967295 parts 1", TUTTI_ERR_UNSUPPORTED, "too large to prove"},
    {ring, "times 4", "times 4294967295", TUTTI_ERR_PLAN, "plan of rank 1: parts, times"},
    {ring, "slice 0", "slice 9223372036854775807", TUTTI_ERR_PLAN, "plan of rank 1: parts, times, slice"},
    {ring, "parts 1", "parts 4294967295", TUTTI_ERR_PLAN, "the blocks do not divide into parts"},
    {ring, "id 0 send", "id 4294967295 send", TUTTI_ERR_PLAN, "sends nothing (more) in lane id 0"},
};

static tutti_status prove(const char *text) {
  tt_plan_set *set = NULL;
  tutti_status status = tt_plan_set_parse(text, strlen(text), &set);
  if (status != TUTTI_OK)
    fail_msg("the text does not parse: %s", tutti_last_error());
  status = tt_verify_claim(set);
  tt_plan_set_destroy(set);
  return status;
}

static void test_what_does_as_it_claims_is_proven(void **state) {
  (void)state;
  const char *const text[] = {ring, edges, broadcast};
  for (size_t n = 0; n < TT_COUNT(text); n++)
    if (prove(text[n]) != TUTTI_OK)
      fail_msg("%s", tutti_last_error());
}

static bool is_refused(const struct wrong *one) {
  const char *at = strstr(one->text, one->from);
  char *text = NULL;
  assert_non_null(at);
  assert_true(asprintf(&text, "%.*s%s%s", (int)(at - one->text), one->text, one->to, at + strlen(one->from)) >= 0);
  tt_fail_clear();
  tutti_status status = prove(text);
  free(text);
  if (status == one->status && strstr(tutti_last_error(), one->reason) != NULL)
    return true;
  print_error("'%s' for '%s': wanted '%s', got status %d, '%s'\n", one->to, one->from, one->reason, (int)status,
              tutti_last_error());
  return false;
}

static void test_each_wrong_text_is_refused_for_its_reason(void **state) {
  (void)state;
  size_t refused = 0;
  for (size_t n = 0; n < TT_COUNT(wrong); n++)
    refused += is_refused(&wrong[n]);
  assert_int_equal(refused, TT_COUNT(wrong));
}

static void test_each_wait_of_a_circle_alone_is_proven(void **state) {
  (void)state;
  static const char *const waits[] = {" wait 0.0*", " wait 1.0*"};
  for (size_t n = 0; n < TT_COUNT(waits); n++) {
    char text[sizeof mixed], *at = strcpy(text, mixed) + (strstr(mixed, waits[n]) - mixed);
    memmove(at, at + strlen(waits[n]), strlen(at + strlen(waits[n])) + 1);
    if (prove(text) != TUTTI_OK)
      fail_msg("without%s: %s", waits[n], tutti_last_error());
  }
}

/* Lanes times steps of one rank is what clocks take: a text of 2 MB would have them take 7 GiB. */
static void test_many_lanes_are_refused_before_they_take_memory(void **state) {
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, "plans 1\nclaim barrier ranks 1 blocks 1\nplan rank 0 of 1 blocks 1 parts 1 tmp 0 times 1 slice 0\n");
  fprintf(out, "level 0 core\n");
  for (int lane = 0; lane < 30000; lane++)
    fprintf(out, "lane %d id 0 local level 0 channel 0\n  0 t0 copy b0 in.0 => out.0\n", lane);
  fclose(out);
  assert_int_equal(prove(text), TUTTI_ERR_UNSUPPORTED);
  assert_non_null(strstr(tutti_last_error(), "7 GiB of memory; the limit is 4"));
  free(text);
}

/* A copy that combines reads two places, so there can be more readers than steps. */
static void test_lanes_that_all_combine_one_block_are_proven(void **state) {
  (void)state;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, "plans 1\nclaim allreduce ranks 2 blocks 1\n");
  for (int rank = 0; rank < 2; rank++) {
    fprintf(out, "plan rank %d of 2 blocks 1 parts 1 tmp 21 times 1 slice 0\nlevel 0 core\n", rank);
    fprintf(out, "lane 0 id 0 send level 0 channel 0\n  0 t0 send ->%d b0 in.0 first last\n", 1 - rank);
    fprintf(out, "lane 1 id 0 recv level 0 channel 0\n  0 t0 recv <-%d b0 => tmp.0 first last\n", 1 - rank);
    for (int n = 0; n <= 20; n++) {
      char into[16];
      snprintf(into, sizeof into, n == 20 ? "out.0" : "tmp.%d", n + 1);
      fprintf(out, "lane %d id 0 local level 0 channel 0\n  0 t0 copy b0 in.0 => %s\n", n + 2, into);
      fprintf(out, "  1 t0 copy b0 tmp.0 => %s onto%s wait 1.0\n", into, n == 20 ? " finish 2" : "");
    }
  }
  fclose(out);
  if (prove(text) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_does_as_it_claims_is_proven),
      cmocka_unit_test(test_each_wrong_text_is_refused_for_its_reason),
      cmocka_unit_test(test_each_wait_of_a_circle_alone_is_proven),
      cmocka_unit_test(test_lanes_that_all_combine_one_block_are_proven),
      cmocka_unit_test(test_many_lanes_are_refused_before_they_take_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
