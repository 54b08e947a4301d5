/* tune/space_test.c - the space has what it should: plans that are right, each once, in one order, and all that ships.
 *
 *     tune_space table    prints how many candidates there are, for people */
#include "support/plans.h"
#include "support/sanitized.h"
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct machine {
  const char *name, *map; /* NULL: one node */
  int64_t ranks;
} machines[] = {{"2 ranks", NULL, 2}, {"3 ranks", NULL, 3},       {"4 ranks", NULL, 4},
                {"8 ranks", NULL, 8}, {"4 nodes of 2", "4x2", 8}, {"uneven", "3,1,2", 6}};

static const struct machine larger[] = {{"16 ranks", NULL, 16},
                                        {"12 ranks", NULL, 12},
                                        {"2 nodes of 8", "2x8", 16},
                                        {"64 ranks", NULL, 64},
                                        {"16 nodes of 4", "16x4", 64}};

static const int64_t sizes[] = {8, 4096, 131072, 16 << 20};

/* cells_bytes: as a job of so many ranks has them. */
static tt_task task_of(tt_collective collective, const struct machine *on, int64_t bytes, plans *all) {
  assert_int_equal(plans_begin(all, on->ranks, on->map, true), TUTTI_OK);
  return (tt_task){.problem = {.collective = collective, .rank_count = on->ranks},
                   .topo = all->topo,
                   .bytes = collective == TT_BARRIER ? 1 : bytes,
                   .slot_bytes = 65536,
                   .cells_bytes = on->map ? 0 : 2048,
                   .read_bytes = on->map ? 0 : 32768};
}

typedef void visit(const tt_task *task, const struct machine *on, const tt_candidates *space);

enum { ONE_OF = SANITIZED ? 30 : 20 };

/* What is visited in a short run: one of so many; each visit begins with another. */
static bool is_left_out(size_t number) {
  static size_t visits;
  return !getenv("TUTTI_TEST_LONG") && (number + visits++ / TT_COUNT(sizes)) % ONE_OF != 0;
}

/* Every machine, collective without a graph, and size. */
static void visit_all(visit *look) {
  for (size_t m = 0; m < TT_COUNT(machines); m++)
    for (size_t n = 0; n < TT_COUNT(sizes) * TT_COLLECTIVE_COUNT; n++) {
      plans all;
      tt_candidates space;
      tt_collective collective = (tt_collective)(n / TT_COUNT(sizes));
      if (tt_compose_info(collective).has_graph || is_left_out(n))
        continue;
      tt_task task = task_of(collective, &machines[m], sizes[n % TT_COUNT(sizes)], &all);
      assert_int_equal(tt_candidates_make(&task, &space), TUTTI_OK);
      look(&task, &machines[m], &space);
      tt_candidates_finish(&space);
      plans_close(&all);
    }
}

static bool has(const tt_candidates *space, uint64_t identity) {
  for (int64_t n = 0; n < space->count; n++)
    if (space->candidate[n].identity == identity)
      return true;
  return false;
}

/* ---- each once, in one order ---- */

static void expect_itself_once(const tt_task *task, const struct machine *on, const tt_candidates *space) {
  (void)on;
  tt_candidates again;
  assert_true(space->count > 0 && space->count + space->refused <= space->tried);
  assert_int_equal(tt_candidates_make(task, &again), TUTTI_OK);
  assert_int_equal(again.count, space->count);
  for (int64_t n = 0; n < space->count; n += 7) {
    uint64_t identity;
    assert_string_equal(again.candidate[n].text, space->candidate[n].text);
    assert_int_equal(tt_candidate_identify(task, space->candidate[n].text, &identity), TUTTI_OK);
    assert_true(identity == space->candidate[n].identity);
    for (int64_t before = 0; before < n; before++)
      assert_true(space->candidate[before].identity != identity);
  }
  tt_candidates_finish(&again);
}

static void test_each_candidate_is_there_once_in_one_order(void **state) {
  (void)state;
  visit_all(expect_itself_once);
}

/* Each text is a candidate, runs like one, or makes no plan. */
static void expect_reasons(const tt_task *task, const struct machine *on, const tt_candidates *space) {
  int64_t refused = 0;
  (void)on;
  assert_int_equal(space->count + space->left_out_count, space->tried);
  for (int64_t n = 0; n < space->left_out_count; n++) {
    const tt_left_out *left = &space->left_out[n];
    uint64_t identity;
    refused += left->like < 0;
    assert_int_equal(left->why == NULL, left->like >= 0);
    assert_true(left->like < space->count);
    if (n % 31 != 0)
      continue;
    assert_int_equal(tt_candidate_identify(task, left->text, &identity), left->why ? TUTTI_ERR_PLAN : TUTTI_OK);
    if (left->why)
      assert_string_equal(tutti_last_error(), left->why);
    else
      assert_true(identity == space->candidate[left->like].identity);
  }
  assert_int_equal(refused, space->refused);
}

static void test_what_is_left_out_has_its_reason(void **state) {
  (void)state;
  visit_all(expect_reasons);
}

/* ---- what runs alike ---- */

static void test_what_runs_alike_is_one_candidate(void **state) {
  (void)state;
  static const struct {
    const char *a, *b;
    int64_t bytes;
    bool alike;
  } pairs[] = {
      {"[core:star]", "linear", 131072, true},
      {"[core:chain]", "[core:chain] ring=8", 131072, true},
      {"[core:chain] slice=64K", "[core:chain]", 1 << 20, true}, /* a slot */
      {"[core:chain] slice=16K", "[core:chain]", 1 << 20, false},
      {"[core:chain] slice=16K", "[core:chain] slice=32K", 8192, true}, /* longer than the block */
      {"[core:chain] slice=1K", "[core:chain]", 2048, true},            /* cells know no slices */
      {"linear single-copy", "linear", 1 << 20, false},
      {"linear single-copy", "linear", 16384, true}, /* too short to be read */
      {"form=split linear single-copy", "form=split linear", 131072, true},
      {"linear channels=2", "linear", 1 << 20, false},
      {"[core:2-nomial,xor]", "[core:2-nomial]", 1 << 20, false},
      {"[2:star/core:star]", "[4:star/core:star]", 1 << 20, false},
  };
  for (size_t n = 0; n < TT_COUNT(pairs); n++) {
    plans all;
    uint64_t a, b;
    tt_task task = task_of(TT_ALLREDUCE, &machines[3], pairs[n].bytes, &all);
    assert_int_equal(tt_candidate_identify(&task, pairs[n].a, &a), TUTTI_OK);
    assert_int_equal(tt_candidate_identify(&task, pairs[n].b, &b), TUTTI_OK);
    if ((a == b) != pairs[n].alike)
      fail_msg("'%s' and '%s' of %" PRId64 " bytes", pairs[n].a, pairs[n].b, pairs[n].bytes);
    plans_close(&all);
  }
}

static void test_what_makes_no_plan_is_refused_with_the_reason(void **state) {
  (void)state;
  plans all;
  uint64_t identity;
  tt_task task = task_of(TT_GATHERV, &machines[3], 4096, &all);
  assert_int_equal(tt_candidate_identify(&task, "binomial", &identity), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(), "ranks would pass on blocks whose length they do not know");
  assert_int_equal(tt_candidate_identify(&task, "[rack:star/core:star]", &identity), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(), "the topology has no level 'rack'");
  plans_close(&all);
}

/* ---- what it has ---- */

static tt_profile *shipped;

static void expect_the_rule(const tt_task *task, const struct machine *on, const tt_candidates *space) {
  const tt_topo_level *node = on->map ? &task->topo->level[0] : NULL;
  uint64_t identity;
  tt_region region = {.collective = task->problem.collective,
                      .bytes = task->bytes,
                      .rank_count = on->ranks,
                      .node_count = node ? node->group_count : 1,
                      .ranks_per_node = node ? node->most : on->ranks,
                      .nic_count = 1};
  const tt_rule *rule = tt_profile_find(shipped, &region);
  if (!rule || tt_candidate_identify(task, rule->text, &identity) != TUTTI_OK)
    return;
  if (!has(space, identity))
    fail_msg("%s, %s, %" PRId64 " bytes: nothing runs as rule %" PRId64 ", '%s'", on->name,
             tt_compose_info(region.collective).name, task->bytes, rule->number, rule->text);
}

static void test_what_the_shipped_rules_choose_is_in_it(void **state) {
  (void)state;
  assert_int_equal(tt_profile_open(NULL, &shipped), TUTTI_OK);
  visit_all(expect_the_rule);
  tt_profile_close(shipped);
}

static void test_8_ranks_have_hundreds_from_128_KiB_on(void **state) {
  (void)state;
  static const tt_collective many[] = {TT_ALLREDUCE, TT_BROADCAST, TT_ALLGATHER, TT_REDUCE_SCATTER, TT_REDUCE};
  for (size_t n = 0; n < TT_COUNT(many); n++) {
    plans all;
    tt_candidates space;
    tt_task task = task_of(many[n], &machines[3], 131072, &all);
    assert_int_equal(tt_candidates_make(&task, &space), TUTTI_OK);
    assert_true(space.count >= 200);
    tt_candidates_finish(&space);
    plans_close(&all);
  }
}

/* What a person may write, and no shipped rule says. */
static void test_what_may_be_written_is_in_it(void **state) {
  (void)state;
  static const struct {
    tt_collective collective;
    struct machine on;
    const char *text;
  } known[] = {
      {TT_ALLREDUCE, {"8 ranks", NULL, 8}, "[4:star/2:star/core:star]"},
      {TT_ALLREDUCE, {"12 ranks", NULL, 12}, "[6:chain/core:star] stripe=all"},
      {TT_ALLREDUCE, {"12 ranks", NULL, 12}, "form=split [6:2-nomial/3:star/core:star]"},
      {TT_BROADCAST, {"16 ranks", NULL, 16}, "[core:16-nomial,xor]"},
      {TT_BROADCAST, {"8 ranks", NULL, 8}, "[core:2-planted] channels=2 slice=16K"},
      {TT_REDUCE, {"8 ranks", NULL, 8}, "[core:chain] channels=4"},
      {TT_ALLREDUCE, {"2 nodes of 8", "2x8", 16}, "[node:chain/4:star/2:star/core:star] even"},
      {TT_BROADCAST, {"8 nodes of 2", "8x2", 16}, "[node:2-planted/core:star] channels=2 slice=16K"},
      {TT_BROADCAST, {"8 nodes of 2", "8x2", 16}, "[node:8-nomial/core:star] stripe=1"},
      {TT_ALLGATHER, {"16 nodes of 2", "16x2", 32}, "[node:star/core:star] ring=8"},
      {TT_SCAN, {"8 nodes of 2", "8x2", 16}, "[node:2-nomial,reflect,far/core:2-nomial,xor,far] slice=8K"},
      {TT_SCAN, {"8 nodes of 2", "8x2", 16}, "[node:chain,reflect/core:2-nomial,xor,far]"},
  };
  for (size_t n = 0; n < TT_COUNT(known); n++) {
    plans all;
    tt_candidates space;
    uint64_t identity;
    tt_task task = task_of(known[n].collective, &known[n].on, 1 << 20, &all);
    if (tt_candidate_identify(&task, known[n].text, &identity) != TUTTI_OK)
      fail_msg("'%s': %s", known[n].text, tutti_last_error());
    assert_int_equal(tt_candidates_make(&task, &space), TUTTI_OK);
    if (!has(&space, identity))
      fail_msg("%s: nothing runs as '%s'", known[n].on.name, known[n].text);
    tt_candidates_finish(&space);
    plans_close(&all);
  }
}

/* Operands that combine in rank order have trees that keep it. */
static void test_most_texts_of_a_scan_make_plans(void **state) {
  (void)state;
  plans all;
  tt_candidates space;
  tt_task task = task_of(TT_SCAN, &machines[4], 131072, &all);
  assert_int_equal(tt_candidates_make(&task, &space), TUTTI_OK);
  assert_true(space.refused * 4 < space.tried);
  tt_candidates_finish(&space);
  plans_close(&all);
}

/* ---- what it has is right ---- */

static int64_t proven;

/* Every so manieth: all of them take minutes. */
static void prove_some(const tt_task *task, const struct machine *on, const tt_candidates *space) {
  for (int64_t n = proven % 17; n < space->count && task->bytes == 4096; n += 17) {
    plans all;
    plans_case of = {.problem = task->problem, .params = space->candidate[n].text, .map = on->map, .publish = true};
    if (plans_open(&of, &all) != TUTTI_OK || plans_verify(&of, &all) != TUTTI_OK)
      fail_msg("%s, %s, '%s': %s", on->name, tt_compose_info(task->problem.collective).name, of.params,
               tutti_last_error());
    plans_close(&all);
    proven++;
  }
}

static void test_candidates_are_proven(void **state) {
  (void)state;
  visit_all(prove_some);
  assert_true(proven > 200 / ONE_OF);
}

/* ---- for people ---- */

static void print_count(const tt_task *task, const struct machine *on, const tt_candidates *space) {
  printf("%-14s %-16s %9" PRId64 " bytes: %5" PRId64 " of %5" PRId64 " texts, %4" PRId64 " refused\n", on->name,
         tt_compose_info(task->problem.collective).name, task->bytes, space->count, space->tried, space->refused);
}

static void print_larger(void) {
  static const tt_collective some[] = {TT_ALLREDUCE, TT_BROADCAST, TT_ALLGATHER, TT_ALL_TO_ALL};
  for (size_t n = 0; n < TT_COUNT(larger) * TT_COUNT(some); n++) {
    plans all;
    tt_candidates space;
    const struct machine *on = &larger[n / TT_COUNT(some)];
    tt_task task = task_of(some[n % TT_COUNT(some)], on, 1 << 20, &all);
    int64_t start_ns = tt_clock_ns();
    assert_int_equal(tt_candidates_make(&task, &space), TUTTI_OK);
    printf("%5" PRId64 " ms: ", (tt_clock_ns() - start_ns) / 1000000);
    print_count(&task, on, &space);
    tt_candidates_finish(&space);
    plans_close(&all);
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "table") == 0)
    return visit_all(print_count), print_larger(), 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_candidate_is_there_once_in_one_order),
      cmocka_unit_test(test_what_is_left_out_has_its_reason),
      cmocka_unit_test(test_what_runs_alike_is_one_candidate),
      cmocka_unit_test(test_what_makes_no_plan_is_refused_with_the_reason),
      cmocka_unit_test(test_what_the_shipped_rules_choose_is_in_it),
      cmocka_unit_test(test_what_may_be_written_is_in_it),
      cmocka_unit_test(test_most_texts_of_a_scan_make_plans),
      cmocka_unit_test(test_8_ranks_have_hundreds_from_128_KiB_on),
      cmocka_unit_test(test_candidates_are_proven),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
