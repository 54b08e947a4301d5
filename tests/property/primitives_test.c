/* tests/property/primitives_test.c - the meaning that is derived from a composition's primitives is the one that the
 * definition of the collective gives, for every collective, form, root, and number of ranks. */
#include "../../tools/verify/random.h"
#include "support/question.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static int64_t size_of(const tt_expected *sum) { return sum->list ? sum->list_count : sum->last - sum->first + 1; }

static int64_t member_of(const tt_expected *sum, int64_t n) { return sum->list ? sum->list[n] : sum->first + n; }

/* A sum may be ordered where it need not. */
static bool agree(const tt_expected *definition, const tt_expected *derived) {
  if (definition->kind != derived->kind)
    return false;
  if (definition->kind == TT_MEANING_COPY)
    return definition->source == derived->source;
  if (definition->kind == TT_MEANING_NOTHING)
    return true;
  bool same = size_of(definition) == size_of(derived) && derived->ordered >= definition->ordered;
  for (int64_t n = 0; same && n < size_of(definition); n++)
    same = member_of(definition, n) == member_of(derived, n);
  return same;
}

static void compare(const tt_meaning *definition, const tt_meaning *derived) {
  for (int64_t rank = 0; rank < definition->rank_count; rank++)
    for (int64_t block = 0; block < definition->block_count; block++) {
      tt_expected one = definition->expect(definition, rank, block), other = derived->expect(derived, rank, block);
      bool taken = derived->has_in(derived, rank, block); /* an exscan does not take all that is there */
      if (!agree(&one, &other) || (taken && !definition->has_in(definition, rank, block)))
        fail_msg("%s of %" PRId64 " ranks: rank %" PRId64 " block %" PRId64 " means another thing", definition->name,
                 definition->rank_count, rank, block);
    }
}

static void check_form(const tt_problem *problem, const char *form) {
  tt_arena arena;
  tt_composition composition;
  tt_meaning definition, derived;
  tt_arena_init(&arena);
  assert_int_equal(tt_compose(problem, form, &composition), TUTTI_OK);
  tt_question question = question_of(problem, &composition);
  if (tt_verify_meaning(&question, &definition) != TUTTI_OK ||
      tt_verify_primitives(&composition, &arena, &derived) != TUTTI_OK)
    fail_msg("%s form=%s: %s", question.collective, form, tutti_last_error());
  compare(&definition, &derived);
  assert_int_equal(derived.in_place, problem->in_place);
  tt_arena_finish(&arena);
}

static int check_forms(const tt_problem *problem) {
  tt_collective_info info = tt_compose_info(problem->collective);
  for (int form = 0; form < info.form_count; form++)
    check_form(problem, info.form[form]);
  return info.form_count;
}

static bool may_be_in_place(tt_collective collective) {
  tt_collective_info info = tt_compose_info(collective);
  return !info.has_graph && info.in != TT_LAYOUT_ROW;
}

static void test_every_form_means_what_its_collective_is(void **state) {
  (void)state;
  int checked = 0;
  tt_random random;
  tt_random_init(&random, 5);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int64_t ranks = 1; ranks <= 17; ranks++)
      for (int variant = 0; variant < 4; variant++) {
        tt_arena arena;
        tt_graph graph;
        tt_arena_init(&arena);
        tt_collective_info info = tt_compose_info((tt_collective)c);
        assert_int_equal(random_graph(&random, ranks, &arena, &graph), TUTTI_OK);
        tt_problem problem = {.collective = (tt_collective)c,
                              .rank_count = ranks,
                              .root = info.has_root ? random_number(&random, ranks) : 0,
                              .in_place = variant % 2 && may_be_in_place((tt_collective)c),
                              .ordered = variant / 2,
                              .graph = info.has_graph ? &graph : NULL};
        checked += check_forms(&problem);
        tt_arena_finish(&arena);
      }
  print_message("%d compositions\n", checked);
}

/* ---- by hand ---- */

static const int64_t low[] = {0, 1}, high[] = {2, 3}, roots[] = {1, 2}, all[] = {0, 1, 2, 3};

/* Four ranks, one block, a family a stage. */
static tt_composition composition_of(const tt_family *family, int count) {
  tt_composition made = {.rank_count = 4, .block_count = 1, .stage_count = count};
  for (int n = 0; n < count; n++) {
    made.stage[n].family_count = 1;
    made.stage[n].family[0] = family[n];
  }
  return made;
}

static void test_a_sum_of_sums_has_these_as_members(void **state) {
  (void)state;
  const tt_family families[] = {family_of_list(TT_REDUCTION, 1, low, 2, TT_IN, TT_MID),
                                family_of_list(TT_REDUCTION, 2, high, 2, TT_IN, TT_MID),
                                family_of_list(TT_REDUCTION, 3, roots, 2, TT_MID, TT_MID),
                                family_of_list(TT_MULTICAST, 3, low, 2, TT_MID, TT_OUT)};
  tt_composition composition = composition_of(families, 4);
  tt_meaning meaning;
  tt_arena arena;
  tt_arena_init(&arena);
  assert_int_equal(tt_verify_primitives(&composition, &arena, &meaning), TUTTI_OK);
  assert_int_equal(meaning.sum_count, 3);
  for (int64_t rank = 0; rank < 4; rank++) {
    tt_expected expected = meaning.expect(&meaning, rank, 0);
    assert_int_equal(expected.kind, rank < 2 ? TT_MEANING_SUM : TT_MEANING_NOTHING);
    assert_true(rank >= 2 || (size_of(&expected) == 2 && member_of(&expected, 0) == 4 && member_of(&expected, 1) == 5));
    assert_true(meaning.has_in(&meaning, rank, 0));
  }
  assert_int_equal(meaning.sum[1].first, 2);
  assert_int_equal(meaning.sum[1].last, 3);
  tt_arena_finish(&arena);
}

/* Rank 0's block goes to rank 1, and what rank 1 has in to rank 2: in place, that is rank 0's by then. */
static void test_in_place_a_later_stage_takes_what_an_earlier_one_has_brought(void **state) {
  (void)state;
  static const int64_t one[] = {1}, two[] = {2};
  const tt_family families[] = {family_of_list(TT_MULTICAST, 0, one, 1, TT_IN, TT_OUT),
                                family_of_list(TT_MULTICAST, 1, two, 1, TT_IN, TT_OUT)};
  tt_composition composition = composition_of(families, 2);
  for (int in_place = 0; in_place < 2; in_place++) {
    tt_meaning meaning;
    tt_arena arena;
    tt_arena_init(&arena);
    composition.in_place = in_place;
    assert_int_equal(tt_verify_primitives(&composition, &arena, &meaning), TUTTI_OK);
    assert_int_equal(meaning.expect(&meaning, 2, 0).source, in_place ? 0 : 1);
    tt_arena_finish(&arena);
  }
}

static void test_compositions_without_a_meaning_are_refused(void **state) {
  (void)state;
  tt_family ordered[] = {family_of_list(TT_MULTICAST, 0, high, 2, TT_IN, TT_MID),
                         family_of_list(TT_MULTICAST, 3, low, 2, TT_IN, TT_MID),
                         family_of_list(TT_REDUCTION, 0, roots, 2, TT_MID, TT_OUT)};
  ordered[2].ordered = true;
  const tt_family absent[] = {family_of_list(TT_MULTICAST, 0, low, 2, TT_MID, TT_OUT)};
  const tt_family twice[] = {family_of_list(TT_MULTICAST, 0, all, 4, TT_IN, TT_MID),
                             family_of_list(TT_REDUCTION, 0, low, 2, TT_MID, TT_OUT)};
  const tt_family sums[] = {family_of_list(TT_REDUCTION, 1, low, 2, TT_IN, TT_MID),
                            family_of_list(TT_MULTICAST, 1, high, 2, TT_MID, TT_MID),
                            family_of_list(TT_REDUCTION, 0, high, 2, TT_MID, TT_OUT)};
  const struct {
    tt_composition composition;
    const char *reason;
  } none[] = {
      {composition_of(ordered, 3), "the operands of an ordered reduction do not ascend (rank 2, mid 0)"},
      {composition_of(absent, 1), "it takes a value that is not there (rank 0, mid 0)"},
      {composition_of(twice, 2), "a value is combined twice (rank 1, mid 0)"},
      {composition_of(sums, 3), "a value is combined twice (rank 3, mid 0)"},
  };
  for (size_t n = 0; n < TT_COUNT(none); n++) {
    tt_meaning meaning;
    tt_arena arena;
    tt_arena_init(&arena);
    assert_int_equal(tt_verify_primitives(&none[n].composition, &arena, &meaning), TUTTI_ERR_PLAN);
    assert_non_null(strstr(tutti_last_error(), none[n].reason));
    tt_arena_finish(&arena);
  }
}

static void test_two_primitives_do_not_bring_to_one_place(void **state) {
  (void)state;
  const tt_family families[] = {family_of_list(TT_MULTICAST, 0, low, 2, TT_IN, TT_OUT)};
  tt_composition composition = composition_of(families, 1);
  tt_meaning meaning;
  tt_arena arena;
  tt_arena_init(&arena);
  composition.stage[0].family_count = 2;
  composition.stage[0].family[1] = family_of_list(TT_REDUCTION, 1, high, 2, TT_IN, TT_OUT);
  assert_int_equal(tt_verify_primitives(&composition, &arena, &meaning), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "two primitives write to one place (rank 1, out 0)"));
  composition.layout[TT_OUT] = TT_LAYOUT_OWN;
  assert_int_equal(tt_verify_primitives(&composition, &arena, &meaning), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "it brings a block to a rank that has no place for it (rank 1, out 0)"));
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_form_means_what_its_collective_is),
      cmocka_unit_test(test_a_sum_of_sums_has_these_as_members),
      cmocka_unit_test(test_in_place_a_later_stage_takes_what_an_earlier_one_has_brought),
      cmocka_unit_test(test_compositions_without_a_meaning_are_refused),
      cmocka_unit_test(test_two_primitives_do_not_bring_to_one_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
