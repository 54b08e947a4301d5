/* compose/compose_test.c - every collective in every form is a right composition, and moves what its name says. */
#include "compose/compose.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Every rank to the next one and to itself: for collectives that need a graph. */
static const tt_graph *graph_of(int64_t ranks, tt_arena *arena) {
  tt_graph *graph = tt_arena_alloc(arena, 1, sizeof *graph);
  int32_t *from = tt_arena_alloc(arena, (size_t)(2 * ranks), sizeof *from);
  int32_t *to = tt_arena_alloc(arena, (size_t)(2 * ranks), sizeof *to);
  for (int64_t e = 0; e < 2 * ranks; e++) {
    from[e] = (int32_t)(e / 2);
    to[e] = (int32_t)((e / 2 + e % 2) % ranks);
  }
  *graph = (tt_graph){.rank_count = ranks, .edge_count = 2 * ranks, .from = from, .to = to};
  assert_int_equal(tt_compose_graph(graph, arena), TUTTI_OK);
  return graph;
}

static tt_problem problem_of(tt_collective collective, int64_t ranks, int64_t root, tt_arena *arena) {
  tt_collective_info info = tt_compose_info(collective);
  return (tt_problem){.collective = collective,
                      .rank_count = ranks,
                      .root = info.has_root ? root : 0,
                      .graph = info.has_graph ? graph_of(ranks, arena) : NULL};
}

static int64_t blocks_of(const tt_problem *problem, const char *form) {
  tt_collective_info info = tt_compose_info(problem->collective);
  int64_t ranks = problem->rank_count;
  if (info.has_graph)
    return 2 * ranks;
  if (info.in == TT_LAYOUT_ROW)
    return ranks * ranks;
  bool parts = info.in == TT_LAYOUT_OWN || info.out == TT_LAYOUT_OWN || strstr(form, "scatter");
  return parts ? ranks : 1;
}

static void test_every_form_is_a_right_composition(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    assert_true(info.form_count >= 1);
    for (int f = 0; f < info.form_count; f++)
      for (int64_t ranks = 1; ranks <= 9; ranks++)
        for (int64_t root = 0; root < (info.has_root ? ranks : 1); root++) {
          tt_problem problem = problem_of((tt_collective)c, ranks, root, &arena);
          problem.in_place = ranks % 2 == 0;
          tt_composition composition;
          assert_int_equal(tt_compose(&problem, info.form[f], &composition), TUTTI_OK);
          assert_int_equal(tt_ir_check(&composition), TUTTI_OK);
          assert_int_equal(composition.rank_count, ranks);
          assert_int_equal(composition.in_place, ranks % 2 == 0);
          assert_int_equal(composition.block_count, blocks_of(&problem, info.form[f]));
        }
  }
  tt_arena_finish(&arena);
}

/* A form's name is its stages, the last one first. */
static void test_forms_are_named_after_their_stages(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count; f++) {
      tt_problem problem = problem_of((tt_collective)c, 4, 0, &arena);
      tt_composition composition;
      char name[2 * TT_STAGE_NAME] = "one";
      assert_int_equal(tt_compose(&problem, info.form[f], &composition), TUTTI_OK);
      if (composition.stage_count == 2)
        snprintf(name, sizeof name, "%s.%s", composition.stage[1].name, composition.stage[0].name);
      assert_string_equal(info.form[f], name);
    }
  }
  tt_arena_finish(&arena);
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
      {"reduce", "one", "4 ranks, 1 block\nreduce:\n  R(all, 2, block 0) in -> out\n"},
      {"reduce", "gather.reduce-scatter",
       "4 ranks, 4 blocks\nreduce-scatter:\n  for i < 4: R(all, i, block i) in -> mid\n"
       "fence\ngather:\n  for i < 4: M(i, {2}, block i) mid -> out\n"},
      {"gather", "one", "4 ranks, 4 blocks\ngather:\n  for i < 4: M(i, {2}, block i) in -> out\n"},
      {"scatter", "one", "4 ranks, 4 blocks\nscatter:\n  for i < 4: M(2, {i}, block i) in -> out\n"},
      {"all-to-all", "one", "4 ranks, 16 blocks\nall-to-all:\n  for i < 4, j < 4: M(i, {j}, block 4i+j) in -> out\n"},
      {"scan", "one", "4 ranks, 1 block\nscan:\n  for i < 4: R({0 .. i}, i, block 0, ordered) in -> out\n"},
      {"exscan", "one", "4 ranks, 1 block\nexscan:\n  for i < 3: R({0 .. i}, i+1, block 0, ordered) in -> out\n"},
      {"neighbor-all-to-all", "one",
       "4 ranks, 8 blocks\nexchange:\n  M(0, {0}, block 0) in -> out\n  M(0, {1}, block 1) in -> out\n"
       "  M(1, {1}, block 2) in -> out\n  M(1, {2}, block 3) in -> out\n  M(2, {2}, block 4) in -> out\n"
       "  M(2, {3}, block 5) in -> out\n  M(3, {3}, block 6) in -> out\n  M(3, {0}, block 7) in -> out\n"},
  };
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    tt_arena arena;
    tt_arena_init(&arena);
    tt_collective collective = tt_compose_find(texts[n].collective);
    tt_problem problem = problem_of(collective, 4, 2, &arena);
    tt_composition composition;
    assert_int_equal(tt_compose(&problem, texts[n].form, &composition), TUTTI_OK);
    assert_string_equal(tt_ir_print(&composition, &arena), texts[n].text);
    tt_arena_finish(&arena);
  }
}

/* What differs is who knows the lengths, and a composition has none. */
static void test_counts_of_their_own_change_no_composition(void **state) {
  (void)state;
  static const tt_collective pairs[][2] = {
      {TT_ALLGATHERV, TT_ALLGATHER},
      {TT_REDUCE_SCATTERV, TT_REDUCE_SCATTER},
      {TT_GATHERV, TT_GATHER},
      {TT_SCATTERV, TT_SCATTER},
      {TT_ALL_TO_ALLV, TT_ALL_TO_ALL},
      {TT_ALL_TO_ALLW, TT_ALL_TO_ALL},
      {TT_NEIGHBOR_ALLGATHER, TT_NEIGHBOR_ALL_TO_ALL},
      {TT_NEIGHBOR_ALLGATHERV, TT_NEIGHBOR_ALL_TO_ALL},
      {TT_NEIGHBOR_ALL_TO_ALLV, TT_NEIGHBOR_ALL_TO_ALL},
      {TT_NEIGHBOR_ALL_TO_ALLW, TT_NEIGHBOR_ALL_TO_ALL},
  };
  tt_arena arena;
  tt_arena_init(&arena);
  for (size_t n = 0; n < TT_COUNT(pairs); n++) {
    tt_collective_info info = tt_compose_info(pairs[n][0]);
    for (int f = 0; f < info.form_count; f++) {
      tt_composition composition[2];
      for (int side = 0; side < 2; side++) {
        tt_problem problem = problem_of(pairs[n][side], 5, 3, &arena);
        assert_int_equal(tt_compose(&problem, info.form[f], &composition[side]), TUTTI_OK);
      }
      assert_string_equal(tt_ir_print(&composition[0], &arena), tt_ir_print(&composition[1], &arena));
    }
  }
  tt_arena_finish(&arena);
}

static void test_an_operator_that_does_not_commute_orders_reductions(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count && info.reduces; f++) {
      tt_problem problem = {.collective = (tt_collective)c, .rank_count = 4, .ordered = true};
      tt_composition composition;
      assert_int_equal(tt_compose(&problem, info.form[f], &composition), TUTTI_OK);
      for (int s = 0; s < composition.stage_count; s++) {
        const tt_family *family = tt_ir_family(&composition.stage[s], 0);
        assert_int_equal(family->ordered, family->primitive == TT_REDUCTION);
      }
    }
  }
}

static void test_a_graph_goes_with_neighbors_only(void **state) {
  (void)state;
  tt_arena arena;
  tt_arena_init(&arena);
  tt_composition composition;
  tt_problem with = {.collective = TT_GATHER, .rank_count = 4, .graph = graph_of(4, &arena)};
  tt_problem without = {.collective = TT_NEIGHBOR_ALLGATHER, .rank_count = 4};
  assert_int_equal(tt_compose(&with, NULL, &composition), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(), "gather does not use a graph");
  assert_int_equal(tt_compose(&without, NULL, &composition), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(), "neighbor-allgather needs a graph");
  tt_arena_finish(&arena);
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
  static const char *const split[TT_COLLECTIVE_COUNT] = {[TT_ALLREDUCE] = "allgather.reduce-scatter",
                                                         [TT_BROADCAST] = "allgather.scatter",
                                                         [TT_REDUCE] = "gather.reduce-scatter"};
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    assert_string_equal(tt_compose_form((tt_collective)c, NULL), "one");
    assert_string_equal(tt_compose_form((tt_collective)c, ""), "one");
    assert_string_equal(tt_compose_form((tt_collective)c, "split"), split[c] ? split[c] : "one");
    assert_null(tt_compose_form((tt_collective)c, "splits"));
  }
}

static void test_an_unknown_form_is_refused_with_those_there_are(void **state) {
  (void)state;
  tt_problem problem = {.collective = TT_BROADCAST, .rank_count = 4};
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
      cmocka_unit_test(test_counts_of_their_own_change_no_composition),
      cmocka_unit_test(test_an_operator_that_does_not_commute_orders_reductions),
      cmocka_unit_test(test_a_graph_goes_with_neighbors_only),
      cmocka_unit_test(test_collectives_are_found_by_name),
      cmocka_unit_test(test_form_names_stand_for_forms),
      cmocka_unit_test(test_an_unknown_form_is_refused_with_those_there_are),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
