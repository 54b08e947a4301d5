/* lower/lower_test.c - what lowering promises beside right results: pure, bounded, silent for ranks that take no part,
 * and clear about parameters that do not fit. */
#include "lower/shape.h"
#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static plans_case case_of(tt_collective collective, int64_t ranks, const char *map, const char *params) {
  return (plans_case){.problem = {.collective = collective, .rank_count = ranks}, .params = params, .map = map};
}

/* ---- refusals ---- */

static void test_parameters_that_do_not_fit_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *params, *error;
  } broken[] = {
      {"[rack:star/core:star]", "the topology has no level 'rack'"},
      {"[core:star/node:star]",
       "level 'core' is inside 'node' in the topology; name levels from the outermost inwards"},
      {"[node:star/node:star/core:star]", "level 'node' is inside 'node'"},
      {"[node:star]", "the last level must be 'core', not 'node'"},
      {"allreduce[node:star] [core:star]", "the last level must be 'core'"},
      {"[node:star/4:star]", "the last level must be 'core', not '4'"},
      {"[2:star/2:star/core:star]", "level '2' has no smaller groups than '2' around it"},
      {"[2:star/4:star/core:star]", "level '4' has no smaller groups than '2' around it"},
      {"[4:star/node:star]", "the last level must be 'core', not 'node'"},
      {"[1:star/core:star]", "'1' is not a size of groups; write a number from 2 to 4096"},
      {"[4x:star/core:star]", "'4x' is not a size of groups"},
      {"[core:star] ring=9", "ring=9 exceeds the 8 groups of level 'core'"},
      {"[node:chain/core:star] ring=4", "ring=4 exceeds the 3 groups of level 'node'"},
      {"[core:star] stripe=4096 channels=2", "stripe=4096 channels=2 cut 1 blocks into too many parts"},
      {"form=split [core:star] stripe=65 channels=64", "stripe=65 channels=64 cut 8 blocks into too many parts"},
      {"[node:exchange/core:star]",
       "stage 'allreduce', level 'node': exchange needs an even number of groups; it has 3 groups"},
      {"[core:exchange,reflect]", "stage 'allreduce', level 'core': exchange has a labelling of its own"},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    plans all;
    plans_case of = case_of(TT_ALLREDUCE, 8, "3,1,4", broken[n].params);
    if (plans_open(&of, &all) != TUTTI_ERR_PLAN)
      fail_msg("'%s' makes a plan", broken[n].params);
    if (!strstr(tutti_last_error(), broken[n].error))
      fail_msg("'%s': expected \"%s\" in \"%s\"", broken[n].params, broken[n].error, tutti_last_error());
    plans_close(&all);
  }
}

static void test_a_topology_of_other_size_is_refused(void **state) {
  (void)state;
  plans all;
  assert_int_equal(plans_begin(&all, 5, NULL, false), TUTTI_OK);
  tt_problem problem = {.collective = TT_ALLREDUCE, .rank_count = 4};
  tt_lowering *lowering = NULL;
  assert_int_equal(tt_compose(&problem, "", &all.composition), TUTTI_OK);
  assert_int_equal(tt_params_parse("linear", &all.params), TUTTI_OK);
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_ERR_PLAN);
  assert_string_equal(tutti_last_error(), "the composition has 4 ranks, but the topology has 5");
  assert_null(lowering);
  plans_close(&all);
}

/* ---- purity ---- */

static void test_a_rank_has_one_plan_in_whatever_order_it_is_made(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLREDUCE, 12, "3,1,8", "two-level-halving stripe=2 channels=2");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering = NULL;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  for (int64_t rank = 11; rank >= 0; rank--) {
    tt_plan *again;
    assert_int_equal(tt_lower_rank(lowering, rank, &again), TUTTI_OK);
    assert_true(tt_plan_equal(all.plan[rank], again));
    tt_plan_destroy(again);
  }
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

/* ---- heads ---- */

static void test_direct_plans_are_stars_of_one_stage_everywhere(void **state) {
  (void)state;
  static const struct {
    const char *params;
    bool direct;
  } texts[] = {{"linear", true},           {"linear form=split", false}, {"linear channels=2", false},
               {"linear stripe=2", false}, {"[core:chain]", false},      {"[node:star/core:star]", false}};
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    plans all;
    plans_case of = case_of(TT_ALLREDUCE, 6, "2x3", texts[n].params);
    assert_int_equal(plans_open(&of, &all), TUTTI_OK);
    for (int64_t r = 0; r < all.count; r++)
      assert_int_equal(all.plan[r]->direct, texts[n].direct);
    plans_close(&all);
  }
}

/* In place is a matter of the collective: the verifier says which. */
static void test_one_rank_alone_copies_or_does_nothing(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int in_place = 0; in_place < 2; in_place++) {
      plans all;
      plans_case of = case_of((tt_collective)c, 1, NULL, "ring ring=1");
      of.problem.in_place = in_place;
      if (tt_compose_info((tt_collective)c).has_graph)
        continue;
      assert_int_equal(plans_open(&of, &all), TUTTI_OK);
      assert_int_equal(tt_plan_sent(all.plan[0], -1).messages, 0);
      if (plans_verify(&of, &all) != TUTTI_OK && !strstr(tutti_last_error(), "cannot be in place"))
        fail_msg("%s", tutti_last_error());
      plans_close(&all);
    }
}

static void test_a_stage_without_primitives_is_empty(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_EXSCAN, 1, "1", "[node:chain/core:star] ring=1 stripe=2");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  assert_int_equal(all.plan[0]->step_count, 0);
  assert_int_equal(plans_verify(&of, &all), TUTTI_OK);
  plans_close(&all);
}

/* ---- rank order ---- */

static void test_what_does_not_keep_rank_order_is_refused(void **state) {
  (void)state;
  static const struct {
    tt_collective collective;
    int64_t ranks, root;
    const char *map, *params, *error; /* error NULL: keeps it */
  } cases[] = {
      {TT_ALLREDUCE, 7, 0, NULL, "linear", NULL},
      {TT_ALLREDUCE, 7, 0, NULL, "ordered-doubling", NULL},
      {TT_ALLREDUCE, 2, 0, NULL, "bruck", NULL},
      {TT_ALLREDUCE, 3, 0, NULL, "recursive-doubling", NULL},
      {TT_ALLREDUCE, 7, 0, NULL, "recursive-doubling", "level 'core': 2-nomial,xor does not keep rank order"},
      {TT_ALLREDUCE, 7, 0, NULL, "form=split [core:chain]",
       "stage 'reduce-scatter', level 'core': chain,rotate does not keep rank order"},
      {TT_ALLREDUCE, 7, 0, NULL, "form=broadcast.reduce [core:chain]", NULL},
      {TT_REDUCE, 7, 6, NULL, "chain", NULL},
      {TT_REDUCE, 7, 3, NULL, "chain", "stage 'reduce', level 'core': chain,rotate does not keep rank order"},
      {TT_REDUCE, 7, 0, NULL, "binomial", NULL},
      {TT_REDUCE, 7, 1, NULL, "binomial", "level 'core': 2-nomial,rotate,far does not keep rank order"},
      {TT_REDUCE, 7, 1, NULL, "[core:4-nomial,xor,far]", NULL},
      {TT_REDUCE, 7, 6, NULL, "[core:3-nomial,xor,far]", "level 'core': 3-nomial,xor,far does not keep rank order"},
      {TT_REDUCE, 7, 6, NULL, "[core:3-nomial,reflect,far]", NULL},
      {TT_REDUCE, 9, 0, "3x3", "[node:chain/core:chain]", NULL},
      {TT_REDUCE, 9, 8, "3x3", "[node:chain/core:chain]", NULL},
      {TT_REDUCE, 9, 2, "3x3", "[node:chain/core:chain]", NULL},
      {TT_REDUCE, 9, 1, "3x3", "[node:chain/core:chain]", "level 'core': chain,rotate does not keep rank order"},
      {TT_REDUCE, 9, 1, "3x3", "[node:chain/core:chain] stripe=1", NULL},
      {TT_REDUCE, 9, 1, "3x3", "[node:chain/core:chain] stripe=2", "level 'core': chain,rotate does not"},
      {TT_REDUCE, 9, 3, "3x3", "[node:chain/core:star]", "level 'node': chain,rotate does not keep rank order"},
      {TT_REDUCE, 9, 0, "3x3", "[core:chain] ring=3", NULL},
      {TT_REDUCE, 9, 4, "3x3", "[core:star] ring=3", "level 'core.ring': chain,rotate does not keep rank order"},
      {TT_ALLREDUCE, 9, 0, "3x3", "[node:star/core:2-nomial,xor,far] stripe=2", NULL},
      {TT_ALLREDUCE, 9, 0, "cyclic:3", "[node:star/core:star]",
       "stage 'allreduce': rank order needs consecutive ranks in each group, but level 'node' has other groups"},
      {TT_ALLREDUCE, 9, 0, "cyclic:3", "[node:star/core:star] reproducible", NULL},
      {TT_ALLREDUCE, 9, 0, "cyclic:3", "ring reproducible", NULL},
      {TT_SCAN, 9, 0, NULL, "scan", NULL},
      {TT_SCAN, 9, 0, NULL, "pipelined-scan", NULL},
      {TT_EXSCAN, 9, 0, NULL, "scan channels=2 stripe=2", NULL},
      {TT_SCAN, 9, 0, NULL, "bruck", "stage 'scan', level 'core': 2-nomial,rotate does not keep rank order"},
      {TT_SCAN, 9, 0, NULL, "[core:2-nomial,reflect]", "level 'core': 2-nomial,reflect does not keep rank order"},
      {TT_SCAN, 9, 0, "3x3", "two-level-scan", NULL},
      {TT_SCAN, 9, 0, "3x3", "[node:chain,reflect/core:chain,reflect]",
       "level 'core': chain,reflect does not keep rank order"},
      {TT_SCAN, 9, 0, "cyclic:3", "two-level-scan", "level 'node' has other groups"},
  };
  for (size_t n = 0; n < TT_COUNT(cases); n++) {
    plans all;
    plans_case of = case_of(cases[n].collective, cases[n].ranks, cases[n].map, cases[n].params);
    of.problem.root = cases[n].root;
    of.problem.ordered = true;
    tutti_status status = plans_open(&of, &all);
    if (status != (cases[n].error ? TUTTI_ERR_PLAN : TUTTI_OK))
      fail_msg("case %d, '%s': %s", (int)n, cases[n].params, status != TUTTI_OK ? tutti_last_error() : "makes a plan");
    if (cases[n].error && !strstr(tutti_last_error(), cases[n].error))
      fail_msg("'%s': expected \"%s\" in \"%s\"", cases[n].params, cases[n].error, tutti_last_error());
    if (status == TUTTI_OK && plans_verify(&of, &all) != TUTTI_OK)
      fail_msg("'%s': %s", cases[n].params, tutti_last_error());
    plans_close(&all);
  }
}

/* ---- reproducible ---- */

static void test_reproducible_stages_are_flat_stars_whatever_is_said_of_them(void **state) {
  (void)state;
  static const char *const maps[] = {NULL, "cyclic:3", "2,5,1"};
  size_t presets;
  const tt_preset *preset = tt_preset_table(&presets);
  plans star;
  plans_case of = case_of(TT_ALLREDUCE, 8, NULL, "linear form=one reproducible");
  assert_int_equal(plans_open(&of, &star), TUTTI_OK);
  for (size_t n = 0; n < presets * TT_COUNT(maps); n++) {
    const char *map = maps[n / presets];
    char text[256];
    snprintf(text, sizeof text, "%s form=one ring=2 slice=0 channels=1 reproducible", preset[n % presets].text);
    if (!map && strstr(text, "node:"))
      continue;
    plans all;
    of = case_of(TT_ALLREDUCE, 8, map, text);
    if (plans_open(&of, &all) != TUTTI_OK)
      fail_msg("%s: %s", text, tutti_last_error());
    for (int64_t r = 0; r < all.count && !strstr(text, "stripe"); r++)
      assert_true(tt_plan_equal(all.plan[r], star.plan[r]));
    plans_close(&all);
  }
  plans_close(&star);
}

static void test_reproducible_leaves_other_stages_as_they_are(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLREDUCE, 8, "2x4", "[node:chain/core:2-ary] form=split stripe=2 reproducible");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  assert_int_equal(tt_lowering_level_count(lowering, 0), 1);
  assert_ptr_equal(tt_lowering_level(lowering, 0, 0).params.shape, &tt_shape_star);
  assert_false(tt_lowering_level(lowering, 0, 0).striped);
  assert_int_equal(tt_lowering_level_count(lowering, 1), 2);
  assert_ptr_equal(tt_lowering_level(lowering, 1, 0).params.shape, &tt_shape_chain);
  assert_true(tt_lowering_level(lowering, 1, 0).striped);
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

/* ---- relays ---- */

/* Whether a rank sends a block of a gather or an all-to-all that is not its own. */
static bool passes_on(const plans *all, bool square) {
  int64_t parts = all->plan[0]->part_count;
  for (int64_t r = 0; r < all->count; r++)
    for (uint32_t n = 0; n < all->plan[r]->step_count; n++) {
      const tt_step *step = &all->plan[r]->step[n];
      int64_t block = step->block / parts, owner = square ? block / all->count : block;
      if (step->kind == TT_STEP_SEND && owner != r)
        return true;
    }
  return false;
}

static void test_relays_are_foretold(void **state) {
  (void)state;
  static const struct {
    const char *map, *params;
    bool relays;
  } cases[] = {
      {NULL, "linear", false},
      {NULL, "linear stripe=4 channels=3", false},
      {NULL, "chain", true},
      {NULL, "bruck", true},
      {NULL, "recursive-doubling", true},
      {NULL, "linear ring=2", true},
      {"2x4", "linear", false},
      {"2x4", "[node:star/core:star]", true},
      {"1x8", "[node:chain/core:star]", false},
      {"1x8", "[node:chain/core:chain]", true},
      {"8x1", "[node:star/core:chain]", false},
      {"8x1", "[node:chain/core:star]", true},
      {"2x4", "node-aware", true},
  };
  for (size_t n = 0; n < TT_COUNT(cases); n++)
    for (int square = 0; square < 2; square++) {
      plans all;
      plans_case of = case_of(square ? TT_ALL_TO_ALL : TT_GATHER, 8, cases[n].map, cases[n].params);
      assert_int_equal(plans_open(&of, &all), TUTTI_OK);
      tt_lowering *lowering;
      assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
      if (tt_lowering_relays(lowering) != cases[n].relays || passes_on(&all, square) != cases[n].relays)
        fail_msg("%s on %s: foretold %d, happens %d", cases[n].params, cases[n].map ? cases[n].map : "one node",
                 tt_lowering_relays(lowering), passes_on(&all, square));
      tt_lowering_destroy(lowering);
      plans_close(&all);
    }
}

static void test_what_goes_to_all_is_relayed_by_nobody(void **state) {
  (void)state;
  static const tt_collective collectives[] = {TT_ALLREDUCE, TT_BROADCAST, TT_ALLGATHER};
  for (size_t n = 0; n < TT_COUNT(collectives); n++) {
    plans all;
    plans_case of = case_of(collectives[n], 8, "2x4", "[node:chain/core:2-ary] stripe=2");
    assert_int_equal(plans_open(&of, &all), TUTTI_OK);
    tt_lowering *lowering;
    assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
    assert_false(tt_lowering_relays(lowering));
    tt_lowering_destroy(lowering);
    plans_close(&all);
  }
}

/* ---- compositions that no collective has ---- */

static const int64_t list[] = {1, 4, 5};

/* for i < count_i, j < count_j */
static tt_family *add_family(tt_composition *to, tt_primitive primitive, int64_t count_i, int64_t count_j) {
  tt_family *family = &to->stage[0].family[to->stage[0].family_count++];
  *family = (tt_family){.primitive = primitive, .count_i = count_i, .count_j = count_j, .from = TT_IN, .to = TT_OUT};
  to->stage_count = 1;
  strcpy(to->stage[0].name, "part");
  return family;
}

/* The root is none of the ends. */
static void write_listed(tt_composition *to, tt_primitive primitive) {
  *to = (tt_composition){.rank_count = 7, .block_count = 1};
  tt_family *family = add_family(to, primitive, 1, 1);
  family->root = (tt_affine){2, 0, 0};
  family->ends = (tt_ends){.kind = TT_ENDS_LIST, .list = list, .list_count = 3};
}

static void listed_multicast(tt_composition *to) { write_listed(to, TT_MULTICAST); }
static void listed_reduction(tt_composition *to) { write_listed(to, TT_REDUCTION); }

/* From or to rank 3, those up to 1, 2, ..., 6; a block each. */
static void write_ranges(tt_composition *to, tt_primitive primitive) {
  *to = (tt_composition){.rank_count = 7, .block_count = 6};
  tt_family *family = add_family(to, primitive, 6, 1);
  family->root = (tt_affine){3, 0, 0};
  family->block = (tt_affine){0, 1, 0};
  family->ends = (tt_ends){.kind = TT_ENDS_RANGE, .one = {1, 1, 0}};
}

static void ranged_multicast(tt_composition *to) { write_ranges(to, TT_MULTICAST); }
static void ranged_reduction(tt_composition *to) { write_ranges(to, TT_REDUCTION); }

/* Sums over ever fewer ranks, to ranks that go up: ends before and after the root. */
static void falling_ranges(tt_composition *to) {
  *to = (tt_composition){.rank_count = 7, .block_count = 1};
  tt_family *family = add_family(to, TT_REDUCTION, 6, 1);
  family->root = (tt_affine){0, 1, 0};
  family->ends = (tt_ends){.kind = TT_ENDS_RANGE, .one = {6, -1, 0}};
}

/* Neighbors in a line exchange blocks, both ways. */
static void halo(tt_composition *to) {
  *to = (tt_composition){.rank_count = 7, .block_count = 12};
  tt_family *up = add_family(to, TT_MULTICAST, 6, 1), *down = add_family(to, TT_MULTICAST, 6, 1);
  up->root = (tt_affine){0, 1, 0};
  up->ends = (tt_ends){.kind = TT_ENDS_ONE, .one = {1, 1, 0}};
  up->block = (tt_affine){0, 1, 0};
  down->root = (tt_affine){1, 1, 0};
  down->ends = (tt_ends){.kind = TT_ENDS_ONE, .one = {0, 1, 0}};
  down->block = (tt_affine){6, 1, 0};
}

/* Root and end change along both i and j: rank i + j sends to rank i + 2 j. */
static void skewed(tt_composition *to) {
  *to = (tt_composition){.rank_count = 7, .block_count = 9};
  tt_family *family = add_family(to, TT_MULTICAST, 3, 3);
  family->root = (tt_affine){0, 1, 1};
  family->ends = (tt_ends){.kind = TT_ENDS_ONE, .one = {0, 1, 2}};
  family->block = (tt_affine){0, 3, 1};
}

/* One root, every second rank, backwards: j = 0, 1, 2, 3 goes to rank 6, 4, 2, 0. */
static void backward_ends(tt_composition *to) {
  *to = (tt_composition){.rank_count = 7, .block_count = 8};
  tt_family *family = add_family(to, TT_MULTICAST, 2, 4);
  family->root = (tt_affine){1, 4, 0};
  family->ends = (tt_ends){.kind = TT_ENDS_ONE, .one = {6, 0, -2}};
  family->block = (tt_affine){0, 4, 1};
}

/* Two ranks exchange one block, in place: what one gets must not overwrite what it still has to send. */
static void swap(tt_composition *to) {
  *to = (tt_composition){.rank_count = 7, .block_count = 1, .in_place = true};
  tt_family *there = add_family(to, TT_MULTICAST, 1, 1), *back = add_family(to, TT_MULTICAST, 1, 1);
  there->root = back->ends.one = (tt_affine){1, 0, 0};
  back->root = there->ends.one = (tt_affine){5, 0, 0};
  there->ends.kind = back->ends.kind = TT_ENDS_ONE;
}

/* A rank has a block in its out and, a fence later, keeps it elsewhere where another comes. */
static void keep_and_get(tt_composition *to) {
  *to = (tt_composition){.rank_count = 7, .block_count = 1};
  tt_family *get = add_family(to, TT_MULTICAST, 1, 1), *keep = add_family(to, TT_MULTICAST, 1, 1);
  get->root = (tt_affine){5, 0, 0};
  get->ends = keep->ends = (tt_ends){.kind = TT_ENDS_ONE, .one = {1, 0, 0}};
  keep->root = (tt_affine){1, 0, 0};
  to->stage[1] = to->stage[0];
  to->stage[1].family[1].from = TT_OUT;
  to->stage[1].family[1].to = TT_MID;
  to->stage[0].family[0] = *keep;
  to->stage[0].family[0].ends = (tt_ends){.kind = TT_ENDS_LIST, .list = list, .list_count = 3};
  to->stage[0].family_count = 1;
  to->stage_count = 2;
}

static const struct {
  const char *name;
  void (*write)(tt_composition *to);
} compositions[] = {
    {"listed multicast", listed_multicast},
    {"listed reduction", listed_reduction},
    {"ranged multicast", ranged_multicast},
    {"ranged reduction", ranged_reduction},
    {"falling ranges", falling_ranges},
    {"halo", halo},
    {"skewed", skewed},
    {"backward ends", backward_ends},
    {"swap", swap},
    {"keep and get", keep_and_get},
};

static const char *const any_params[] = {
    "[core:star]",
    "[core:chain]",
    "[core:chain,reflect]",
    "[core:2-nomial,xor]",
    "[core:2-nomial,xor,far]",
    "[core:3-nomial,far]",
    "[core:2-nomial,reflect]",
    "[core:2-nomial,reflect,far]",
    "[core:2-ary]",
    "[core:3-planted,reflect]",
    "[node:chain/core:star]",
    "[node:2-nomial,xor/core:chain] stripe=2",
    "[node:star/core:2-nomial,reflect] stripe=1",
    "[node:exchange/core:2-nomial,xor,far]",
    "[core:2-nomial] ring=2",
    "[core:star] channels=3",
    "[node:2-ary/core:2-nomial,xor] stripe=3 channels=2",
};

static void open_composition(plans *all, size_t which, const char *params, const char *map) {
  assert_int_equal(plans_begin(all, 7, map, false), TUTTI_OK);
  compositions[which].write(&all->composition);
  assert_int_equal(tt_ir_check(&all->composition), TUTTI_OK);
  assert_int_equal(tt_params_parse(params, &all->params), TUTTI_OK);
  if (plans_lower(all) != TUTTI_OK)
    fail_msg("%s, %s: %s", compositions[which].name, params, tutti_last_error());
}

static void test_compositions_that_no_collective_has_are_right(void **state) {
  (void)state;
  static const char *const maps[] = {"3,4", "cyclic:2", "0,1,1,0,0,1,0:"};
  for (size_t n = 0; n < TT_COUNT(compositions) * TT_COUNT(any_params) * TT_COUNT(maps); n++) {
    size_t which = n % TT_COUNT(compositions);
    const char *params = any_params[n / TT_COUNT(compositions) % TT_COUNT(any_params)];
    const char *map = maps[n / TT_COUNT(compositions) / TT_COUNT(any_params)];
    tt_meaning meaning;
    plans all;
    open_composition(&all, which, params, map);
    if (tt_verify_primitives(&all.composition, &all.arena, &meaning) != TUTTI_OK ||
        tt_verify(&meaning, (const tt_plan *const *)all.plan) != TUTTI_OK)
      fail_msg("%s, %s on %s: %s", compositions[which].name, params, map, tutti_last_error());
    plans_close(&all);
  }
}

/* "2" and "3" before the nodes 0 2 4 6 | 1 3 5: ends up to a rank are not in the first groups, all others are served.
 */
static void test_groups_of_a_size_around_the_machine_s_serve_what_does_not_go_up_to_a_rank(void **state) {
  (void)state;
  static const char *const params[] = {"[3:star/node:star/core:star]", "[2:chain/node:chain/core:star]"};
  for (size_t n = 0; n < TT_COUNT(compositions) * TT_COUNT(params); n++) {
    tt_meaning meaning;
    plans all;
    assert_int_equal(plans_begin(&all, 7, "cyclic:2", false), TUTTI_OK);
    compositions[n % TT_COUNT(compositions)].write(&all.composition);
    assert_int_equal(tt_params_parse(params[n / TT_COUNT(compositions)], &all.params), TUTTI_OK);
    tutti_status status = plans_lower(&all);
    bool ranged = tt_ir_family(&all.composition.stage[0], 0)->ends.kind == TT_ENDS_RANGE;
    if (ranged ? status != TUTTI_ERR_PLAN || !strstr(tutti_last_error(), "groups in the order of their ranks")
               : status != TUTTI_OK)
      fail_msg("%s, %s: %s", compositions[n % TT_COUNT(compositions)].name, params[n / TT_COUNT(compositions)],
               status == TUTTI_OK ? "is served" : tutti_last_error());
    if (status == TUTTI_OK && (tt_verify_primitives(&all.composition, &all.arena, &meaning) != TUTTI_OK ||
                               tt_verify(&meaning, (const tt_plan *const *)all.plan) != TUTTI_OK))
      fail_msg("%s", tutti_last_error());
    plans_close(&all);
  }
}

static void test_ranks_that_take_no_part_are_silent(void **state) {
  (void)state;
  static const int64_t absent[] = {0, 3, 6};
  for (size_t n = 0; n < 2 * TT_COUNT(any_params); n++) {
    plans all;
    open_composition(&all, n % 2, any_params[n / 2], "cyclic:2");
    for (size_t m = 0; m < TT_COUNT(absent); m++)
      assert_int_equal(all.plan[absent[m]]->step_count, 0);
    for (int64_t r = 0; r < all.count; r++)
      for (uint32_t m = 0; m < all.plan[r]->step_count; m++) {
        int32_t peer = all.plan[r]->step[m].peer;
        assert_true(peer < 0 || peer == 1 || peer == 2 || peer == 4 || peer == 5);
      }
    plans_close(&all);
  }
}

/* ---- bounds ---- */

static void expect_small_plan(const tt_problem *problem, const char *text, int64_t stripe, plans *all) {
  tt_lowering *lowering;
  tt_plan *plan;
  assert_int_equal(tt_params_parse(text, &all->params), TUTTI_OK);
  all->params.stripe = stripe;
  assert_int_equal(tt_compose(problem, "split", &all->composition), TUTTI_OK);
  assert_int_equal(tt_lowering_create(&all->composition, all->topo, &all->params, &lowering), TUTTI_OK);
  assert_int_equal(tt_lower_rank(lowering, 2049, &plan), TUTTI_OK);
  if (tt_plan_bytes(plan) > (size_t)8 << 20)
    fail_msg("%s, %s: %zu bytes", tt_compose_info(problem->collective).name, text, tt_plan_bytes(plan));
  assert_true(tt_plan_bytes(plan) <= 16384 + plan->step_count * (sizeof(tt_step) + 2 * sizeof(tt_wait)));
  tt_plan_destroy(plan);
  tt_lowering_destroy(lowering);
}

/* 512 nodes of 8 ranks: 8 MiB is the promise for each. Scans keep rank order, which some shapes do not. An all-to-all
 * is 16 million blocks, of which trees other than stars have a rank pass on ever more. */
static void test_a_plan_of_4096_ranks_fits_8_MiB(void **state) {
  (void)state;
  static const char *const any[] = {"[node:chain/core:star]", "[node:2-nomial,xor/core:star]"},
                           *const scans[] = {"two-level-scan", "[node:chain,reflect/core:star]"},
                           *const square[] = {"[core:star]", "[node:star/core:star]"};
  plans all;
  assert_int_equal(plans_begin(&all, 4096, "512x8", true), TUTTI_OK);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_problem problem = {.collective = (tt_collective)c, .rank_count = 4096};
    tt_collective_info info = tt_compose_info(problem.collective);
    bool is_scan = c == TT_SCAN || c == TT_EXSCAN;
    const char *const *texts = is_scan ? scans : info.in == TT_LAYOUT_ROW ? square : any;
    for (int n = 0; n < 4 && !info.has_graph; n++)
      expect_small_plan(&problem, texts[n % 2], n / 2 * (info.in == TT_LAYOUT_ROW ? 1 : 8), &all);
  }
  plans_close(&all);
}

/* ---- lanes ---- */

/* Whether a step that goes slice by slice waits for one that stands behind another one of its block and round. */
static bool is_held_up(const tt_plan *plan, const tt_step *step) {
  for (uint32_t n = 0; n < step->wait_count; n++) {
    const tt_wait *wait = &plan->wait[step->wait_first + n];
    const tt_lane *lane = &plan->lane[wait->lane];
    const tt_step *other = &plan->step[lane->first_step + wait->step];
    if (lane->role == TT_ROLE_LOCAL && !wait->whole && wait->step > 0 && other[-1].block == other->block &&
        other[-1].time == other->time)
      return true;
  }
  return false;
}

/* A chain of nodes would else pass on a vector only when all of it has come. */
static void test_combinations_of_a_block_go_on_side_by_side(void **state) {
  (void)state;
  static const char *const texts[] = {"[core:chain,reflect]", "[node:chain,reflect/core:star]", "[node:star/core:star]",
                                      "two-level-scan", "[node:chain,reflect/core:star] stripe=all channels=2"};
  for (size_t n = 0; n < 2 * TT_COUNT(texts); n++) {
    plans all;
    plans_case of = case_of(n % 2 ? TT_SCAN : TT_EXSCAN, 9, "3x3", texts[n / 2]);
    assert_int_equal(plans_open(&of, &all), TUTTI_OK);
    for (int64_t r = 0; r < all.count; r++)
      for (uint32_t s = 0; s < all.plan[r]->step_count; s++)
        if (all.plan[r]->step[s].kind == TT_STEP_SEND && is_held_up(all.plan[r], &all.plan[r]->step[s]))
          fail_msg("'%s', rank %d, step %u is held up", texts[n / 2], (int)r, s);
    plans_close(&all);
  }
}

/* ---- descriptions ---- */

static void test_levels_are_described_after_the_passes(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLREDUCE, 11, "4,1,6", "[node:2-nomial,xor/core:star] ring=2");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  static const struct {
    const char *name;
    const tt_shape *shape;
    int64_t groups, fewest, most;
    bool fold;
  } levels[] = {
      {"node.ring", &tt_shape_chain, 2, 2, 2, false},
      {"node", &tt_shape_nomial, 3, 1, 2, false},
      {"core", &tt_shape_star, 11, 1, 6, false},
  };
  assert_int_equal(tt_lowering_level_count(lowering, 0), TT_COUNT(levels));
  for (int n = 0; n < (int)TT_COUNT(levels); n++) {
    tt_level_info info = tt_lowering_level(lowering, 0, n);
    assert_string_equal(info.name, levels[n].name);
    assert_ptr_equal(info.params.shape, levels[n].shape);
    assert_int_equal(info.group_count, levels[n].groups);
    assert_int_equal(info.fewest, levels[n].fewest);
    assert_int_equal(info.most, levels[n].most);
    assert_int_equal(info.fold, levels[n].fold);
    assert_string_equal(all.plan[0]->level[info.plan_level], levels[n].name);
  }
  assert_int_equal(tt_lowering_round(lowering, 0), 0);
  assert_int_equal(tt_lowering_round(lowering, 1), all.plan[0]->time_count);
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

/* The texts of all ranks' plans are equal but for the level's name. */
static void expect_equal_plans(const plans *a, const plans *b, const char *name_a, const char *name_b) {
  for (int64_t rank = 0; rank < a->composition.rank_count; rank++) {
    for (uint32_t level = 0; level < a->plan[rank]->level_count; level++)
      if (strncmp(a->plan[rank]->level[level], name_a, strlen(name_a)) == 0) {
        assert_memory_equal(b->plan[rank]->level[level], name_b, strlen(name_b));
        strcpy(a->plan[rank]->level[level], b->plan[rank]->level[level]);
      }
    assert_true(tt_plan_equal(a->plan[rank], b->plan[rank]));
  }
}

static void test_a_level_of_a_size_is_as_one_of_the_topology(void **state) {
  (void)state;
  static const struct {
    tt_collective collective;
    int64_t ranks;
    const char *map, *of_topology, *of_size;
  } equal[] = {
      {TT_ALLREDUCE, 8, "4x2", "[node:2-nomial,xor/core:chain]", "[2:2-nomial,xor/core:chain]"},
      {TT_ALLREDUCE, 7, "3,3,1", "form=split [node:chain/core:star] stripe=2",
       "form=split [3:chain/core:star] stripe=2"},
      {TT_BROADCAST, 10, "4,4,2", "[node:2-nomial,far/core:2-nomial] ring=2", "[4:2-nomial,far/core:2-nomial] ring=2"},
      {TT_ALLGATHER, 8, "2x4", "[node:chain/core:chain] channels=2", "[4:chain/core:chain] channels=2"},
  };
  for (size_t n = 0; n < TT_COUNT(equal); n++) {
    plans a, b;
    plans_case of_topology = case_of(equal[n].collective, equal[n].ranks, equal[n].map, equal[n].of_topology);
    plans_case of_size = case_of(equal[n].collective, equal[n].ranks, NULL, equal[n].of_size);
    assert_int_equal(plans_open(&of_topology, &a), TUTTI_OK);
    assert_int_equal(plans_open(&of_size, &b), TUTTI_OK);
    char size[2] = {strchr(equal[n].of_size, '[')[1], '\0'};
    expect_equal_plans(&a, &b, "node", size);
    plans_close(&a);
    plans_close(&b);
  }
}

static void test_groups_of_a_size_are_cut_inside_those_around_them(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLGATHER, 12, "5,7", "[node:star/4:star/2:star/core:star]");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering = NULL;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  assert_int_equal(tt_lowering_level_count(lowering, 0), 4);
  assert_int_equal(tt_lowering_level(lowering, 0, 1).group_count, 4); /* 4 1 | 4 3 */
  assert_int_equal(tt_lowering_level(lowering, 0, 2).group_count, 7); /* 2 2 | 1 | 2 2 | 2 1 */
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

static void test_groups_that_are_no_power_of_two_fold_into_pairs(void **state) {
  (void)state;
  plans all;
  plans_case of = case_of(TT_ALLREDUCE, 7, NULL, "recursive-doubling");
  assert_int_equal(plans_open(&of, &all), TUTTI_OK);
  tt_lowering *lowering;
  assert_int_equal(tt_lowering_create(&all.composition, all.topo, &all.params, &lowering), TUTTI_OK);
  tt_level_info folded = tt_lowering_level(lowering, 0, 0), pair = tt_lowering_level(lowering, 0, 1);
  assert_true(folded.fold && folded.group_count == 4 && !pair.fold);
  assert_string_equal(pair.name, "core.pair");
  assert_true(pair.group_count == 7 && pair.fewest == 1 && pair.most == 2 && pair.params.shape == &tt_shape_star);
  tt_lowering_destroy(lowering);
  plans_close(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parameters_that_do_not_fit_are_refused),
      cmocka_unit_test(test_a_topology_of_other_size_is_refused),
      cmocka_unit_test(test_a_rank_has_one_plan_in_whatever_order_it_is_made),
      cmocka_unit_test(test_direct_plans_are_stars_of_one_stage_everywhere),
      cmocka_unit_test(test_one_rank_alone_copies_or_does_nothing),
      cmocka_unit_test(test_a_stage_without_primitives_is_empty),
      cmocka_unit_test(test_what_does_not_keep_rank_order_is_refused),
      cmocka_unit_test(test_reproducible_stages_are_flat_stars_whatever_is_said_of_them),
      cmocka_unit_test(test_reproducible_leaves_other_stages_as_they_are),
      cmocka_unit_test(test_relays_are_foretold),
      cmocka_unit_test(test_what_goes_to_all_is_relayed_by_nobody),
      cmocka_unit_test(test_compositions_that_no_collective_has_are_right),
      cmocka_unit_test(test_groups_of_a_size_around_the_machine_s_serve_what_does_not_go_up_to_a_rank),
      cmocka_unit_test(test_ranks_that_take_no_part_are_silent),
      cmocka_unit_test(test_a_plan_of_4096_ranks_fits_8_MiB),
      cmocka_unit_test(test_combinations_of_a_block_go_on_side_by_side),
      cmocka_unit_test(test_levels_are_described_after_the_passes),
      cmocka_unit_test(test_a_level_of_a_size_is_as_one_of_the_topology),
      cmocka_unit_test(test_groups_of_a_size_are_cut_inside_those_around_them),
      cmocka_unit_test(test_groups_that_are_no_power_of_two_fold_into_pairs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
