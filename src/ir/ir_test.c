/* ir/ir_test.c - compositions: what stands in them is in its range or named, and their text says what moves. */
#include "ir/ir.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* for i < 4: R(all, i, block i) in -> out */
static tt_composition reduce_scatter(void) {
  tt_family family = {.primitive = TT_REDUCTION,
                      .count_i = 4,
                      .count_j = 1,
                      .root = {0, 1, 0},
                      .block = {0, 1, 0},
                      .ends = {.kind = TT_ENDS_ALL},
                      .from = TT_IN,
                      .to = TT_OUT};
  tt_composition made = {.rank_count = 4, .block_count = 4, .stage_count = 1};
  strcpy(made.stage[0].name, "combine");
  made.stage[0].family_count = 1;
  made.stage[0].family[0] = family;
  return made;
}

static void expect_error(const tt_composition *composition, const char *text) {
  assert_int_equal(tt_ir_check(composition), TUTTI_ERR_PLAN);
  if (!strstr(tutti_last_error(), text))
    fail_msg("expected \"%s\" in \"%s\"", text, tutti_last_error());
}

static void test_affine_forms_have_values(void **state) {
  (void)state;
  assert_int_equal(tt_ir_at((tt_affine){5, 3, -2}, 4, 7), 3);
  assert_int_equal(tt_ir_at((tt_affine){5, 0, 0}, 4, 7), 5);
}

static void test_ends_say_who_they_are(void **state) {
  (void)state;
  static const int64_t list[] = {1, 4, 9};
  tt_composition composition = reduce_scatter();
  tt_family all = {.ends = {.kind = TT_ENDS_ALL}}, one = {.ends = {.kind = TT_ENDS_ONE, .one = {1, 2, 0}}},
            listed = {.ends = {.kind = TT_ENDS_LIST, .list = list, .list_count = 3}},
            range = {.ends = {.kind = TT_ENDS_RANGE, .one = {1, 2, 0}}};
  assert_true(tt_ir_has_end(&all, 0, 0, 3));
  assert_true(tt_ir_has_end(&one, 3, 0, 7));
  assert_false(tt_ir_has_end(&one, 3, 0, 6));
  for (int64_t rank = 0; rank < 12; rank++)
    assert_int_equal(tt_ir_has_end(&listed, 0, 0, rank), rank == 1 || rank == 4 || rank == 9);
  for (int64_t rank = 0; rank < 12; rank++)
    assert_int_equal(tt_ir_has_end(&range, 3, 0, rank), rank <= 7);
  assert_int_equal(tt_ir_end_count(&composition, &all, 0, 0), 4);
  assert_int_equal(tt_ir_end_count(&composition, &one, 0, 0), 1);
  assert_int_equal(tt_ir_end_count(&composition, &listed, 0, 0), 3);
  assert_int_equal(tt_ir_end_count(&composition, &range, 3, 0), 8);
}

static void test_a_right_composition_passes(void **state) {
  (void)state;
  tt_composition composition = reduce_scatter();
  assert_int_equal(tt_ir_check(&composition), TUTTI_OK);
}

static void test_counts_out_of_range_are_named(void **state) {
  (void)state;
  tt_composition composition = reduce_scatter();
  composition.rank_count = 0;
  expect_error(&composition, "the composition has 0 ranks");
  composition.rank_count = (int64_t)INT32_MAX + 1;
  expect_error(&composition, "the composition has 2147483648 ranks");
  composition = reduce_scatter();
  composition.block_count = -1;
  expect_error(&composition, "the composition has -1 blocks");
  composition = reduce_scatter();
  composition.stage_count = TT_STAGES + 1;
  expect_error(&composition, "the composition has 9 stages; it may have 1 to 8");
  composition.stage_count = 0;
  expect_error(&composition, "the composition has 0 stages");
  composition = reduce_scatter();
  composition.stage[0].family_count = 9;
  expect_error(&composition, "stage 'combine' has 9 families; it may have 0 to 4");
}

/* Each takes a right composition and breaks one thing of its family. */
static void break_count(tt_family *family) { family->count_j = 0; }
static void break_root(tt_family *family) { family->root.base = 1; }
static void break_root_below(tt_family *family) { family->root = (tt_affine){2, -1, 0}; }
static void break_block(tt_family *family) { family->block.i = 2; }
static void break_from(tt_family *family) { family->from = TT_BUFFER_COUNT; }
static void break_to(tt_family *family) { family->to = TT_IN; }
static void break_one(tt_family *family) { family->ends = (tt_ends){.kind = TT_ENDS_ONE, .one = {4, 0, 0}}; }
static void break_empty(tt_family *family) { family->ends = (tt_ends){.kind = TT_ENDS_LIST}; }
static void break_order(tt_family *family) {
  static const int64_t list[] = {0, 2, 2};
  family->ends = (tt_ends){.kind = TT_ENDS_LIST, .list = list, .list_count = 3};
}
static void break_list(tt_family *family) {
  static const int64_t list[] = {0, 4};
  family->ends = (tt_ends){.kind = TT_ENDS_LIST, .list = list, .list_count = 2};
}

static void test_families_out_of_range_are_named(void **state) {
  (void)state;
  static const struct {
    void (*apply)(tt_family *);
    const char *text;
  } broken[] = {
      {break_count, "stage 'combine', family 0: counts 4 x 0 are not positive"},
      {break_root, "family 0: a root is not a rank below 4"},
      {break_root_below, "family 0: a root is not a rank below 4"},
      {break_block, "family 0: a block is not below 4"},
      {break_from, "family 0: invalid move from buffer 3 to buffer 1"},
      {break_to, "family 0: invalid move from buffer 0 to buffer 0"},
      {break_one, "family 0: an end is not a rank below 4"},
      {break_empty, "family 0: there are no ends"},
      {break_order, "family 0: ends[2] is 2; expected ascending ranks below 4"},
      {break_list, "family 0: ends[1] is 4; expected ascending ranks below 4"},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    tt_composition composition = reduce_scatter();
    broken[n].apply(&composition.stage[0].family[0]);
    expect_error(&composition, broken[n].text);
  }
}

static void test_the_text_has_a_line_a_family(void **state) {
  (void)state;
  static const int64_t list[] = {1, 2, 3};
  tt_arena arena;
  tt_arena_init(&arena);
  tt_composition composition = reduce_scatter();
  composition.in_place = true;
  composition.stage_count = 2;
  tt_stage *second = &composition.stage[1];
  strcpy(second->name, "spread");
  second->family_count = 2;
  second->family[0] = (tt_family){.primitive = TT_MULTICAST,
                                  .count_i = 2,
                                  .count_j = 2,
                                  .root = {3, -1, 0},
                                  .block = {1, -1, 2},
                                  .ends = {.kind = TT_ENDS_ONE, .one = {0, 0, 3}},
                                  .from = TT_OUT,
                                  .to = TT_MID};
  second->family[1] = (tt_family){.primitive = TT_MULTICAST,
                                  .count_i = 1,
                                  .count_j = 1,
                                  .root = {2, 1, 0},
                                  .block = {0, 1, 1},
                                  .ends = {.kind = TT_ENDS_LIST, .list = list, .list_count = 3},
                                  .from = TT_MID,
                                  .to = TT_OUT};
  assert_int_equal(tt_ir_check(&composition), TUTTI_OK);
  assert_string_equal(tt_ir_print(&composition, &arena), "4 ranks, 4 blocks, in place\n"
                                                         "combine:\n"
                                                         "  for i < 4: R(all, i, block i) in -> out\n"
                                                         "fence\n"
                                                         "spread:\n"
                                                         "  for i < 2, j < 2: M(-i+3, {3j}, block -i+2j+1) out -> mid\n"
                                                         "  M(2, {1 ... 3: 3 ranks}, block 0) mid -> out\n");
  tt_arena_finish(&arena);
}

static void test_many_families_stand_in_a_list(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  tt_composition composition = reduce_scatter();
  tt_family list[TT_STAGE_FAMILIES + 2];
  for (size_t n = 0; n < TT_COUNT(list); n++) {
    list[n] = composition.stage[0].family[0];
    list[n].count_i = 1;
    list[n].block = (tt_affine){(int64_t)n % 4, 0, 0};
    list[n].ends = (tt_ends){.kind = TT_ENDS_RANGE, .one = {(int64_t)n % 4, 0, 0}};
    list[n].ordered = n == 2;
  }
  composition.stage[0].family_count = TT_COUNT(list);
  expect_error(&composition, "stage 'combine' has 6 families; it may have 0 to 4");
  composition.stage[0].list = list;
  assert_int_equal(tt_ir_check(&composition), TUTTI_OK);
  assert_ptr_equal(tt_ir_family(&composition.stage[0], 5), &list[5]);
  assert_non_null(strstr(tt_ir_print(&composition, &arena), "  R({0 .. 2}, 0, block 2, ordered) in -> out\n"));
  list[5].ends.one.base = 4;
  expect_error(&composition, "family 5: an end is not a rank below 4");
  tt_arena_finish(&arena);
}

static void test_a_stage_may_do_nothing(void **state) {
  (void)state;
  tt_composition composition = reduce_scatter();
  composition.stage[0].family_count = 0;
  assert_int_equal(tt_ir_check(&composition), TUTTI_OK);
}

static void test_one_rank_and_one_block_are_singular(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  tt_composition composition = reduce_scatter();
  composition.rank_count = composition.block_count = composition.stage[0].family[0].count_i = 1;
  assert_string_equal(tt_ir_print(&composition, &arena), "1 rank, 1 block\ncombine:\n  R(all, 0, block 0) in -> out\n");
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_affine_forms_have_values),
      cmocka_unit_test(test_ends_say_who_they_are),
      cmocka_unit_test(test_a_right_composition_passes),
      cmocka_unit_test(test_counts_out_of_range_are_named),
      cmocka_unit_test(test_families_out_of_range_are_named),
      cmocka_unit_test(test_the_text_has_a_line_a_family),
      cmocka_unit_test(test_many_families_stand_in_a_list),
      cmocka_unit_test(test_a_stage_may_do_nothing),
      cmocka_unit_test(test_one_rank_and_one_block_are_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
