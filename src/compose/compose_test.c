/* compose/compose_test.c - every collective in every form is a right composition, and moves what its name says. */
#include "compose/compose.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_every_form_is_a_right_composition(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    assert_true(info.form_count >= 1);
    for (int f = 0; f < info.form_count; f++)
      for (int64_t ranks = 1; ranks <= 9; ranks++)
        for (int64_t root = 0; root < (info.has_root ? ranks : 1); root++) {
          tt_problem problem = {(tt_collective)c, ranks, root, ranks % 2 == 0};
          tt_composition composition;
          assert_int_equal(tt_compose(&problem, info.form[f], &composition), TUTTI_OK);
          assert_int_equal(tt_ir_check(&composition), TUTTI_OK);
          assert_int_equal(composition.rank_count, ranks);
          assert_int_equal(composition.in_place, ranks % 2 == 0);
          assert_true(composition.block_count == 1 || composition.block_count == ranks);
        }
  }
}

/* A form's name is its stages, the last one first. */
static void test_forms_are_named_after_their_stages(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count; f++) {
      tt_problem problem = {(tt_collective)c, 4, 0, false};
      tt_composition composition;
      char name[2 * TT_STAGE_NAME] = "one";
      assert_int_equal(tt_compose(&problem, info.form[f], &composition), TUTTI_OK);
      if (composition.stage_count == 2)
        snprintf(name, sizeof name, "%s.%s", composition.stage[1].name, composition.stage[0].name);
      assert_string_equal(info.form[f], name);
    }
  }
}

static void test_texts_are_the_definitions(void **state) {
  (void)state;
  static const struct {
    const char *collective, *form, *text;
  } texts[] = {
      {"allreduce", "one", "4 ranks, 1 block\nallreduce:\n  for i < 4: R(all, i, block 0) in -> out\n"},
      {"allreduce", "allgather.reduce-scatter",
       "4 ranks, 4 blocks\nreduce-scatter:\n  for i < 4: R(all, i, block i) in -> out\n"
       "fence\nallgather:\n  for i < 4: M(i, all, block i) out -> out\n"},
      {"allreduce", "broadcast.reduce",
       "4 ranks, 1 block\nreduce:\n  R(all, 0, block 0) in -> out\nfence\nbroadcast:\n  M(0, all, block 0) out -> "
       "out\n"},
      {"broadcast", "one", "4 ranks, 1 block\nbroadcast:\n  M(2, all, block 0) in -> out\n"},
      {"broadcast", "allgather.scatter",
       "4 ranks, 4 blocks\nscatter:\n  for i < 4: M(2, {i}, block i) in -> out\n"
       "fence\nallgather:\n  for i < 4: M(i, all, block i) out -> out\n"},
      {"allgather", "one", "4 ranks, 4 blocks\nallgather:\n  for i < 4: M(i, all, block i) in -> out\n"},
      {"allgather", "broadcast.gather",
       "4 ranks, 4 blocks\ngather:\n  for i < 4: M(i, {0}, block i) in -> out\n"
       "fence\nbroadcast:\n  for i < 4: M(0, all, block i) out -> out\n"},
      {"reduce-scatter", "one", "4 ranks, 4 blocks\nreduce-scatter:\n  for i < 4: R(all, i, block i) in -> out\n"},
      {"reduce-scatter", "scatter.reduce",
       "4 ranks, 4 blocks\nreduce:\n  for i < 4: R(all, 0, block i) in -> mid\n"
       "fence\nscatter:\n  for i < 4: M(0, {i}, block i) mid -> out\n"},
      {"barrier", "one", "4 ranks, 1 block\nallreduce:\n  for i < 4: R(all, i, block 0) in -> out\n"},
      {"barrier", "broadcast.reduce",
       "4 ranks, 1 block\nreduce:\n  R(all, 0, block 0) in -> out\nfence\nbroadcast:\n  M(0, all, block 0) out -> "
       "out\n"},
  };
  int forms = 0;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    forms += tt_compose_info((tt_collective)c).form_count;
  assert_int_equal(forms, TT_COUNT(texts));
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    tt_arena arena;
    tt_arena_init(&arena);
    tt_collective collective = tt_compose_find(texts[n].collective);
    tt_problem problem = {collective, 4, tt_compose_info(collective).has_root ? 2 : 0, false};
    tt_composition composition;
    assert_int_equal(tt_compose(&problem, texts[n].form, &composition), TUTTI_OK);
    assert_string_equal(tt_ir_print(&composition, &arena), texts[n].text);
    tt_arena_finish(&arena);
  }
}

static void test_collectives_are_found_by_name(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    assert_int_equal(tt_compose_find(tt_compose_info((tt_collective)c).name), c);
  assert_int_equal(tt_compose_find("all"), TT_COLLECTIVE_COUNT);
  assert_int_equal(tt_compose_find(""), TT_COLLECTIVE_COUNT);
  assert_null(tt_compose_info(TT_COLLECTIVE_COUNT).name);
  assert_null(tt_compose_info((tt_collective)-1).name);
}

static void test_form_names_stand_for_forms(void **state) {
  (void)state;
  static const char *const split[TT_COLLECTIVE_COUNT] = {"allgather.reduce-scatter", "allgather.scatter", "one", "one",
                                                         "one"};
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    assert_string_equal(tt_compose_form((tt_collective)c, NULL), "one");
    assert_string_equal(tt_compose_form((tt_collective)c, ""), "one");
    assert_string_equal(tt_compose_form((tt_collective)c, "split"), split[c]);
    assert_null(tt_compose_form((tt_collective)c, "splits"));
  }
}

static void test_an_unknown_form_is_refused_with_those_there_are(void **state) {
  (void)state;
  tt_problem problem = {TT_BROADCAST, 4, 0, false};
  tt_composition composition;
  assert_int_equal(tt_compose(&problem, "allgather.reduce-scatter", &composition), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(),
                      "broadcast has no form 'allgather.reduce-scatter'; it has one, allgather.scatter");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_form_is_a_right_composition),
      cmocka_unit_test(test_forms_are_named_after_their_stages),
      cmocka_unit_test(test_texts_are_the_definitions),
      cmocka_unit_test(test_collectives_are_found_by_name),
      cmocka_unit_test(test_form_names_stand_for_forms),
      cmocka_unit_test(test_an_unknown_form_is_refused_with_those_there_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
