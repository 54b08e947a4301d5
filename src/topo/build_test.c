/* topo/build_test.c - topologies from localities: which levels there are, in which order, and that they always nest. */
#include "topo/topo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 64 };

/* "node 0 0 1 1; core" */
static void print_topo(const tt_topo *topo, char *text, size_t size) {
  size_t used = 0;
  text[0] = '\0';
  for (int n = 0; n < topo->level_count; n++) {
    used += (size_t)snprintf(text + used, size - used, "%s%s", n ? "; " : "", topo->level[n].name);
    for (int64_t r = 0; topo->level[n].group_of && r < topo->rank_count; r++)
      used += (size_t)snprintf(text + used, size - used, " %d", (int)topo->level[n].group_of[r]);
  }
}

static void expect_levels(const tt_locality *locality, int64_t rank_count, const char *levels) {
  tt_arena arena;
  tt_topo *topo;
  char text[1024];
  tt_arena_init(&arena);
  assert_int_equal(tt_topo_build(&arena, locality, rank_count, &topo), TUTTI_OK);
  print_topo(topo, text, sizeof text);
  assert_string_equal(text, levels);
  tt_arena_finish(&arena);
}

static void test_one_rank_has_node_and_core(void **state) {
  (void)state;
  expect_levels(&(tt_locality){.package = -1, .numa = -1, .l3 = -1, .core = -1}, 1, "node 0; core");
}

static void test_levels_that_separate_nothing_are_left_out(void **state) {
  (void)state;
  const tt_locality same[] = {{.node = 7}, {.node = 7}, {.node = 7}};
  const tt_locality apart[] = {{.node = 7, .package = 0}, {.node = 5, .package = 1}, {.node = 9, .package = 0}};
  const tt_locality unbound[] = {{.package = -1, .numa = -1, .l3 = -1}, {.package = -1, .numa = -1, .l3 = -1}};
  expect_levels(same, 3, "node 0 0 0; core");
  expect_levels(apart, 3, "node 0 1 2; core");
  expect_levels(unbound, 2, "node 0 0; core");
}

static void test_equal_levels_are_the_inner_one(void **state) {
  (void)state;
  const tt_locality locality[] = {{.package = 0, .numa = 0, .l3 = 0},
                                  {.package = 0, .numa = 0, .l3 = 1},
                                  {.package = 1, .numa = 1, .l3 = 2},
                                  {.package = 1, .numa = 1, .l3 = 2}};
  expect_levels(locality, 4, "node 0 0 0 0; numa 0 0 1 1; l3 0 1 2 2; core");
}

/* Two NUMA nodes in each package, or two packages in each NUMA node. */
static void test_the_level_of_fewer_groups_is_outside(void **state) {
  (void)state;
  tt_locality locality[8];
  for (int r = 0; r < 8; r++)
    locality[r] = (tt_locality){.package = r / 4, .numa = r / 2, .l3 = 0};
  expect_levels(locality, 8, "node 0 0 0 0 0 0 0 0; package 0 0 0 0 1 1 1 1; numa 0 0 1 1 2 2 3 3; core");
  for (int r = 0; r < 8; r++)
    locality[r] = (tt_locality){.package = r / 2, .numa = r / 4, .l3 = r / 2};
  expect_levels(locality, 8, "node 0 0 0 0 0 0 0 0; numa 0 0 0 0 1 1 1 1; l3 0 0 1 1 2 2 3 3; core");
}

static void test_numbers_mean_something_inside_their_node_only(void **state) {
  (void)state;
  tt_locality locality[8];
  for (int r = 0; r < 8; r++)
    locality[r] = (tt_locality){.node = (uint64_t)(r % 2), .package = r / 4};
  expect_levels(locality, 8, "node 0 1 0 1 0 1 0 1; package 0 1 0 1 2 3 2 3; core");
}

static void test_unbound_ranks_of_a_node_are_a_group(void **state) {
  (void)state;
  const tt_locality locality[] = {{.package = 0}, {.package = -1}, {.package = 1}, {.package = -1}, {.package = 0}};
  expect_levels(locality, 5, "node 0 0 0 0 0; package 0 1 2 1 0; core");
}

/* L3 0 lies in both packages: it is two groups. */
static void test_levels_that_cross_are_made_to_nest(void **state) {
  (void)state;
  const tt_locality locality[] = {{.package = 0, .l3 = 0}, {.package = 0, .l3 = 1}, {.package = 1, .l3 = 1},
                                  {.package = 1, .l3 = 0}, {.package = 0, .l3 = 0}, {.package = 1, .l3 = 0}};
  expect_levels(locality, 6, "node 0 0 0 0 0 0; package 0 0 1 1 0 1; l3 0 1 2 3 0 3; core");
}

static tt_locality under(uint64_t node, uint64_t outermost, uint64_t leaf) {
  return (tt_locality){.node = node, .switch_of = {outermost, leaf}, .switch_count = 2};
}

static void test_switches_stand_outside_nodes(void **state) {
  (void)state;
  const tt_locality locality[] = {under(1, 100, 10), under(1, 100, 10), under(2, 100, 10), under(3, 100, 11),
                                  under(4, 200, 12), under(5, 200, 13), under(5, 200, 13)};
  expect_levels(locality, 7, "switch2 0 0 0 0 1 1 1; switch 0 0 0 1 2 3 3; node 0 0 1 2 3 4 4; core");
}

static void test_switches_of_one_node_each_or_above_all_are_left_out(void **state) {
  (void)state;
  const tt_locality locality[] = {under(1, 100, 10), under(1, 100, 10), under(2, 100, 11), under(3, 100, 12)};
  expect_levels(locality, 4, "node 0 0 1 2; core");
}

/* Node 3 hangs on the outermost switch itself. */
static void test_paths_may_have_different_lengths(void **state) {
  (void)state;
  const tt_locality locality[] = {under(1, 100, 10),
                                  under(2, 100, 10),
                                  {.node = 3, .switch_of = {100}, .switch_count = 1},
                                  {.node = 4, .switch_of = {100}, .switch_count = 1},
                                  under(5, 200, 12),
                                  under(5, 200, 12)};
  expect_levels(locality, 6, "switch2 0 0 0 0 1 1; switch 0 0 1 1 2 2; node 0 1 2 3 4 4; core");
}

/* Ranks of one machine that were given different files. */
static void test_a_node_is_never_parted(void **state) {
  (void)state;
  const tt_locality locality[] = {under(1, 100, 10),
                                  under(1, 200, 20),
                                  under(2, 100, 11),
                                  under(2, 300, 30),
                                  {.node = 3, .switch_of = {500}, .switch_count = 1},
                                  {.node = 3, .switch_count = 40}};
  expect_levels(locality, 6, "switch2 0 0 0 0 1 1; node 0 0 1 1 2 2; core");
}

/* Each level has two groups in each of the one before: all of them separate, most of all switch5. */
static void test_levels_that_do_not_fit_are_those_of_the_smallest_groups(void **state) {
  (void)state;
  static const int size[TT_TOPO_SWITCHES] = {512, 128, 64, 32, 16, 8};
  tt_locality locality[1024];
  for (int r = 0; r < 1024; r++) {
    locality[r] = (tt_locality){.node = (uint64_t)r / 4, .switch_count = TT_TOPO_SWITCHES, .package = r / 2};
    for (int n = 0; n < TT_TOPO_SWITCHES; n++)
      locality[r].switch_of[n] = (uint64_t)(r / size[n]);
  }
  tt_arena arena;
  tt_topo *topo;
  tt_arena_init(&arena);
  assert_int_equal(tt_topo_build(&arena, locality, 1024, &topo), TUTTI_OK);
  static const char *const kept[] = {"switch6", "switch3", "switch2", "switch", "node", "package", "core"};
  assert_int_equal(topo->level_count, TT_TOPO_LEVELS);
  for (int n = 0; n < topo->level_count; n++)
    assert_string_equal(topo->level[n].name, kept[n]);
  tt_arena_finish(&arena);
}

/* tt_topo_add refuses what does not nest; the same localities in any order give the same groups. */
static void test_any_localities_nest(void **state) {
  (void)state;
  tt_random random;
  tt_random_init(&random, 20260101);
  for (int n = 0; n < 2000; n++) {
    tt_locality locality[RANKS];
    int64_t ranks = 1 + (int64_t)tt_random_below(&random, RANKS);
    uint64_t spread = 1 + tt_random_below(&random, 6);
    for (int64_t r = 0; r < ranks; r++) {
      locality[r] = (tt_locality){.node = tt_random_below(&random, spread),
                                  .switch_count = (int32_t)tt_random_below(&random, TT_TOPO_SWITCHES + 1),
                                  .package = (int32_t)tt_random_below(&random, spread) - 1,
                                  .numa = (int32_t)tt_random_below(&random, spread) - 1,
                                  .l3 = (int32_t)tt_random_below(&random, spread) - 1};
      for (int s = 0; s < locality[r].switch_count; s++)
        locality[r].switch_of[s] = tt_random_below(&random, spread);
    }
    tt_arena arena;
    tt_topo *topo;
    tt_arena_init(&arena);
    if (tt_topo_build(&arena, locality, ranks, &topo) != TUTTI_OK)
      fail_msg("case %d: %s", n, tutti_last_error());
    int nodes = 0;
    for (int l = 0; l < topo->level_count; l++)
      nodes += strcmp(topo->level[l].name, "node") == 0;
    assert_int_equal(nodes, 1);
    for (int64_t r = 0; r < ranks; r++)
      for (int l = 0; l < topo->level_count; l++)
        if (strcmp(topo->level[l].name, "node") == 0)
          for (int64_t other = 0; other < ranks; other++)
            assert_int_equal(topo->level[l].group_of[r] == topo->level[l].group_of[other],
                             locality[r].node == locality[other].node);
    tt_arena_finish(&arena);
  }
}

static void test_the_own_locality_needs_no_file(void **state) {
  (void)state;
  tt_locality locality = {.node = 77};
  assert_int_equal(tt_topo_locality("", "", &locality), TUTTI_OK);
  assert_int_equal(locality.node, 77);
  assert_int_equal(locality.switch_count, 0);
  assert_true(locality.package >= -1 && locality.numa >= -1 && locality.l3 >= -1 && locality.core >= -1);
  assert_int_equal(tt_topo_locality("/not/there", "", &locality), TUTTI_ERR_ARGUMENT);
  assert_non_null(strstr(tutti_last_error(), "'/not/there'"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_rank_has_node_and_core),
      cmocka_unit_test(test_levels_that_separate_nothing_are_left_out),
      cmocka_unit_test(test_equal_levels_are_the_inner_one),
      cmocka_unit_test(test_the_level_of_fewer_groups_is_outside),
      cmocka_unit_test(test_numbers_mean_something_inside_their_node_only),
      cmocka_unit_test(test_unbound_ranks_of_a_node_are_a_group),
      cmocka_unit_test(test_levels_that_cross_are_made_to_nest),
      cmocka_unit_test(test_switches_stand_outside_nodes),
      cmocka_unit_test(test_switches_of_one_node_each_or_above_all_are_left_out),
      cmocka_unit_test(test_paths_may_have_different_lengths),
      cmocka_unit_test(test_a_node_is_never_parted),
      cmocka_unit_test(test_levels_that_do_not_fit_are_those_of_the_smallest_groups),
      cmocka_unit_test(test_any_localities_nest),
      cmocka_unit_test(test_the_own_locality_needs_no_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
