/* topo/topo_test.c - levels nest and are numbered by first appearance; group maps from text, right and wrong. */
#include "topo/topo.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 64 };

static void expect_map(const char *text, int64_t rank_count, const char *groups) {
  int64_t map[RANKS];
  char printed[4 * RANKS] = "";
  if (tt_topo_parse_map(text, rank_count, map) != TUTTI_OK)
    fail_msg("'%s': %s", text, tutti_last_error());
  for (int64_t r = 0; r < rank_count; r++)
    snprintf(printed + strlen(printed), sizeof printed - strlen(printed), "%s%d", r ? " " : "", (int)map[r]);
  assert_string_equal(printed, groups);
}

static void test_maps_give_each_rank_its_group(void **state) {
  (void)state;
  expect_map("2x3", 6, "0 0 0 1 1 1");
  expect_map("1x4", 4, "0 0 0 0");
  expect_map("4x1", 4, "0 1 2 3");
  expect_map("3,1,2", 6, "0 0 0 1 2 2");
  expect_map("1,1,1", 3, "0 1 2");
  expect_map("5", 5, "0 0 0 0 0");
  expect_map("1", 1, "0");
  expect_map("cyclic:2", 5, "0 1 0 1 0");
  expect_map("cyclic:9", 3, "0 1 2");
  expect_map("0,1,0,2:", 4, "0 1 0 2");
  expect_map("7,7,7:", 3, "7 7 7");
  expect_map("0:", 1, "0");
}

static void test_wrong_maps_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t rank_count;
  } broken[] = {
      {"", 4},
      {"x", 4},
      {"2x", 4},
      {"x2", 4},
      {"2x3", 4},
      {"0x4", 4},
      {"2x2x1", 4},
      {"-2x-2", 4},
      {"2 x2", 4},
      {"3,2", 4},
      {"3", 4},
      {"5", 4},
      {"4,0", 4},
      {"-1,5", 4},
      {"1,1,1,1,1", 4},
      {"1,,3", 4},
      {"1,3,", 4},
      {",4", 4},
      {"1;3", 4},
      {"cyclic:", 4},
      {"cyclic:0", 4},
      {"cyclic:-1", 4},
      {"cyclic:2x", 4},
      {"cyclic", 4},
      {"0,1,0:", 4},
      {"0,1,0,1,0:", 4},
      {"0,1,0,1:1", 4},
      {"0,1,-1,1:", 4},
      {":", 4},
      {"9223372036854775807,9223372036854775807", 4},
      {"99999999999999999999,1", 4},
      {"4294967296x4294967296", 4},
      {"9223372036854775807x9223372036854775807", 1},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    int64_t map[RANKS];
    if (tt_topo_parse_map(broken[n].text, broken[n].rank_count, map) != TUTTI_ERR_ARGUMENT)
      fail_msg("'%s' is accepted", broken[n].text);
    char expected[128];
    snprintf(expected, sizeof expected, "group map '%s' does not place %d ranks", broken[n].text,
             (int)broken[n].rank_count);
    assert_non_null(strstr(tutti_last_error(), expected));
  }
}

static void test_maps_never_write_behind_their_ranks(void **state) {
  (void)state;
  static const char *const texts[] = {"1,1,1,1,1,1,1,1", "0,1,2,3,4,5,6,7:", "8x1", "cyclic:3", "4,4"};
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    int64_t map[RANKS];
    for (int r = 0; r < RANKS; r++)
      map[r] = -7;
    tt_topo_parse_map(texts[n], 4, map);
    for (int r = 4; r < RANKS; r++)
      assert_int_equal(map[r], -7);
  }
}

static void test_maps_say_how_many_ranks_they_have(void **state) {
  (void)state;
  assert_int_equal(tt_topo_map_size("4x8"), 32);
  assert_int_equal(tt_topo_map_size("7,8,3,1"), 19);
  assert_int_equal(tt_topo_map_size("5"), 5);
  assert_int_equal(tt_topo_map_size("0,0,1,2:"), 4);
  assert_int_equal(tt_topo_map_size("cyclic:4"), 0);
  assert_int_equal(tt_topo_map_size("0,x:"), 0);
}

/* Sizes that no machine has are no sizes. */
static void test_sizes_out_of_reach_are_none(void **state) {
  (void)state;
  static const char *const texts[] = {
      "4294967296x4294967296", "9223372036854775807,9223372036854775807", "-4", "-1,-1", "99999999999999999999x1",
      "2x99999999999999999999"};
  for (size_t n = 0; n < TT_COUNT(texts); n++)
    if (tt_topo_map_size(texts[n]) != 0)
      fail_msg("'%s': %" PRId64 " ranks", texts[n], tt_topo_map_size(texts[n]));
}

static void test_a_flat_topology_has_only_cores(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = tt_topo_flat(&arena, 5);
  assert_int_equal(topo->level_count, 1);
  assert_string_equal(topo->level[0].name, "core");
  assert_int_equal(topo->level[0].group_count, 5);
  assert_null(topo->level[0].group_of);
  tt_arena_finish(&arena);
}

static void test_groups_are_numbered_by_first_appearance(void **state) {
  (void)state;
  static const int64_t any[] = {900, -5, 900, INT64_MAX, -5, INT64_MIN, 900};
  static const int32_t numbers[] = {0, 1, 0, 2, 1, 3, 0};
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = tt_topo_flat(&arena, 7);
  assert_int_equal(tt_topo_add(topo, &arena, "node", any), TUTTI_OK);
  assert_int_equal(topo->level_count, 2);
  assert_string_equal(topo->level[0].name, "node");
  assert_string_equal(topo->level[1].name, "core");
  assert_int_equal(topo->level[0].group_count, 4);
  assert_memory_equal(topo->level[0].group_of, numbers, sizeof numbers);
  tt_arena_finish(&arena);
}

static void test_levels_go_inside_those_before(void **state) {
  (void)state;
  static const int64_t node[] = {0, 0, 0, 0, 1, 1}, socket[] = {0, 0, 1, 1, 2, 2}, across[] = {0, 0, 1, 1, 1, 2};
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = tt_topo_flat(&arena, 6);
  assert_int_equal(tt_topo_add(topo, &arena, "node", node), TUTTI_OK);
  assert_int_equal(tt_topo_add(topo, &arena, "across", across), TUTTI_ERR_ARGUMENT);
  assert_string_equal(tutti_last_error(),
                      "rank 4: its group of level 'across' is not inside one group of level 'node'");
  assert_int_equal(topo->level_count, 2);
  assert_int_equal(tt_topo_add(topo, &arena, "socket", socket), TUTTI_OK);
  assert_string_equal(topo->level[1].name, "socket");
  assert_int_equal(topo->level[1].group_count, 3);
  tt_arena_finish(&arena);
}

static void test_too_many_levels_and_long_names_are_refused(void **state) {
  (void)state;
  static const int64_t all[] = {0, 0};
  tt_arena arena;
  tt_arena_init(&arena);
  tt_topo *topo = tt_topo_flat(&arena, 2);
  assert_int_equal(tt_topo_add(topo, &arena, "sixteen-letters-", all), TUTTI_ERR_ARGUMENT);
  for (int n = 1; n < TT_TOPO_LEVELS; n++) {
    const char name[] = {'l', (char)('0' + n), '\0'};
    assert_int_equal(tt_topo_add(topo, &arena, name, all), TUTTI_OK);
  }
  assert_int_equal(tt_topo_add(topo, &arena, "more", all), TUTTI_ERR_ARGUMENT);
  assert_non_null(strstr(tutti_last_error(), "level 'more'"));
  assert_int_equal(topo->level_count, TT_TOPO_LEVELS);
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_maps_give_each_rank_its_group),
      cmocka_unit_test(test_wrong_maps_are_refused),
      cmocka_unit_test(test_maps_never_write_behind_their_ranks),
      cmocka_unit_test(test_maps_say_how_many_ranks_they_have),
      cmocka_unit_test(test_sizes_out_of_reach_are_none),
      cmocka_unit_test(test_a_flat_topology_has_only_cores),
      cmocka_unit_test(test_groups_are_numbered_by_first_appearance),
      cmocka_unit_test(test_levels_go_inside_those_before),
      cmocka_unit_test(test_too_many_levels_and_long_names_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
