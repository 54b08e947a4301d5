/* Twins: each collective's composition written by hand, with stages of other names, compiles to the built-in one's
 * plans, byte for byte. So lowering sees what moves and nothing else. */
#include "support/plans.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---- the twins ---- */

static tt_ends everyone(void) { return (tt_ends){.kind = TT_ENDS_ALL}; }
static tt_ends only(tt_affine rank) { return (tt_ends){.kind = TT_ENDS_ONE, .one = rank}; }
static tt_affine each(void) { return (tt_affine){0, 1, 0}; }
static tt_affine always(int64_t value) { return (tt_affine){value, 0, 0}; }

static tt_family family_of(tt_primitive primitive, int64_t count, tt_affine root, tt_ends ends, tt_affine block) {
  return (tt_family){
      .primitive = primitive, .count_i = count, .count_j = 1, .root = root, .block = block, .ends = ends};
}

static tt_stage *add_stage(tt_composition *to) {
  tt_stage *stage = &to->stage[to->stage_count++];
  snprintf(stage->name, sizeof stage->name, "act-%d", to->stage_count);
  return stage;
}

static tt_family *add(tt_composition *to, tt_primitive primitive, int64_t count, tt_affine root, tt_ends ends,
                      tt_affine block, tt_buffer from, tt_buffer into) {
  tt_stage *stage = add_stage(to);
  stage->family_count = count > 0;
  stage->family[0] = family_of(primitive, count, root, ends, block);
  stage->family[0].from = from;
  stage->family[0].to = into;
  return &stage->family[0];
}

/* p ranks, root r. */
typedef void (*writer)(tt_composition *to, int64_t p, int64_t r);

static void all_to_each(tt_composition *to, int64_t p, int64_t r) {
  (void)r;
  add(to, TT_REDUCTION, p, each(), everyone(), always(0), TT_IN, TT_OUT);
}
static void parts_then_all(tt_composition *to, int64_t p, int64_t r) {
  (void)r;
  add(to, TT_REDUCTION, p, each(), everyone(), each(), TT_IN, TT_OUT);
  add(to, TT_MULTICAST, p, each(), everyone(), each(), TT_OUT, TT_OUT);
}
static void up_then_down(tt_composition *to, int64_t p, int64_t r) {
  (void)p;
  add(to, TT_REDUCTION, 1, always(r), everyone(), always(0), TT_IN, TT_OUT);
  add(to, TT_MULTICAST, 1, always(r), everyone(), always(0), TT_OUT, TT_OUT);
}
static void one_to_all(tt_composition *to, int64_t p, int64_t r) {
  (void)p;
  add(to, TT_MULTICAST, 1, always(r), everyone(), always(0), TT_IN, TT_OUT);
}
static void deal_then_all(tt_composition *to, int64_t p, int64_t r) {
  add(to, TT_MULTICAST, p, always(r), only(each()), each(), TT_IN, TT_OUT);
  add(to, TT_MULTICAST, p, each(), everyone(), each(), TT_OUT, TT_OUT);
}
static void each_to_all(tt_composition *to, int64_t p, int64_t r) {
  (void)r;
  add(to, TT_MULTICAST, p, each(), everyone(), each(), TT_IN, TT_OUT);
}
static void collect_then_down(tt_composition *to, int64_t p, int64_t r) {
  add(to, TT_MULTICAST, p, each(), only(always(r)), each(), TT_IN, TT_OUT);
  add(to, TT_MULTICAST, p, always(r), everyone(), each(), TT_OUT, TT_OUT);
}
static void parts(tt_composition *to, int64_t p, int64_t r) {
  (void)r;
  add(to, TT_REDUCTION, p, each(), everyone(), each(), TT_IN, TT_OUT);
}
static void up_then_deal(tt_composition *to, int64_t p, int64_t r) {
  add(to, TT_REDUCTION, p, always(r), everyone(), each(), TT_IN, TT_MID);
  add(to, TT_MULTICAST, p, always(r), only(each()), each(), TT_MID, TT_OUT);
}

static void up(tt_composition *to, int64_t p, int64_t r) {
  (void)p;
  add(to, TT_REDUCTION, 1, always(r), everyone(), always(0), TT_IN, TT_OUT);
}
static void parts_then_collect(tt_composition *to, int64_t p, int64_t r) {
  add(to, TT_REDUCTION, p, each(), everyone(), each(), TT_IN, TT_MID);
  add(to, TT_MULTICAST, p, each(), only(always(r)), each(), TT_MID, TT_OUT);
}
static void collect(tt_composition *to, int64_t p, int64_t r) {
  add(to, TT_MULTICAST, p, each(), only(always(r)), each(), TT_IN, TT_OUT);
}
static void deal(tt_composition *to, int64_t p, int64_t r) {
  add(to, TT_MULTICAST, p, always(r), only(each()), each(), TT_IN, TT_OUT);
}
static void each_to_each(tt_composition *to, int64_t p, int64_t r) {
  (void)r;
  tt_affine pair = {0, p, 1}, other = {0, 0, 1};
  add(to, TT_MULTICAST, p, each(), only(other), pair, TT_IN, TT_OUT)->count_j = p;
}
static void upto_each(tt_composition *to, int64_t p, int64_t r) {
  (void)r;
  tt_ends upto = {.kind = TT_ENDS_RANGE, .one = each()};
  add(to, TT_REDUCTION, p, each(), upto, always(0), TT_IN, TT_OUT)->ordered = true;
}
static void upto_the_one_before(tt_composition *to, int64_t p, int64_t r) {
  (void)r;
  tt_affine next = {1, 1, 0};
  tt_ends upto = {.kind = TT_ENDS_RANGE, .one = each()};
  add(to, TT_REDUCTION, p - 1, next, upto, always(0), TT_IN, TT_OUT)->ordered = true;
}

/* Of neighbor collectives: to the next rank and to the one with twice the number. */
enum { MOST_RANKS = 16 };

static const tt_graph *graph_of(int64_t p) {
  static int32_t from[2 * MOST_RANKS], to[2 * MOST_RANKS];
  static tt_graph graph;
  static tt_arena arena;
  for (int64_t e = 0; e < 2 * p; e++) {
    from[e] = (int32_t)(e / 2);
    to[e] = (int32_t)((e % 2 ? e / 2 + 1 : e / 2 * 2) % p);
  }
  tt_arena_finish(&arena);
  tt_arena_init(&arena);
  graph = (tt_graph){.rank_count = p, .edge_count = 2 * p, .from = from, .to = to};
  assert_int_equal(tt_compose_graph(&graph, &arena), TUTTI_OK);
  return &graph;
}

static void along_edges(tt_composition *to, int64_t p, int64_t r) {
  static tt_family family[2 * MOST_RANKS];
  tt_stage *stage = add_stage(to);
  (void)r;
  for (int64_t e = 0; e < 2 * p; e++) {
    int64_t end = e % 2 ? (e / 2 + 1) % p : e / 2 * 2 % p;
    family[e] = family_of(TT_MULTICAST, 1, always(e / 2), only(always(end)), always(e));
    family[e].to = TT_OUT;
  }
  stage->list = family;
  stage->family_count = (int)(2 * p);
}

enum cut { WHOLE, SPLIT, SQUARE, EDGES };

static const struct twin {
  tt_collective collective;
  const char *form;
  writer write;
  enum cut cut;
  tt_layout in, out;
} twins[] = {
    {TT_ALLREDUCE, "one", all_to_each, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_ALLREDUCE, "allgather.reduce-scatter", parts_then_all, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_ALLREDUCE, "broadcast.reduce", up_then_down, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_BROADCAST, "one", one_to_all, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_BROADCAST, "allgather.scatter", deal_then_all, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_ALLGATHER, "one", each_to_all, SPLIT, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_ALLGATHER, "broadcast.gather", collect_then_down, SPLIT, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_REDUCE_SCATTER, "one", parts, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_REDUCE_SCATTER, "scatter.reduce", up_then_deal, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_BARRIER, "one", all_to_each, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_BARRIER, "broadcast.reduce", up_then_down, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_REDUCE, "one", up, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_REDUCE, "gather.reduce-scatter", parts_then_collect, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_GATHER, "one", collect, SPLIT, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_SCATTER, "one", deal, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_ALL_TO_ALL, "one", each_to_each, SQUARE, TT_LAYOUT_ROW, TT_LAYOUT_COLUMN},
    {TT_SCAN, "one", upto_each, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_EXSCAN, "one", upto_the_one_before, WHOLE, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_ALLGATHERV, "one", each_to_all, SPLIT, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_ALLGATHERV, "broadcast.gather", collect_then_down, SPLIT, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_REDUCE_SCATTERV, "one", parts, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_REDUCE_SCATTERV, "scatter.reduce", up_then_deal, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_GATHERV, "one", collect, SPLIT, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_SCATTERV, "one", deal, SPLIT, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_ALL_TO_ALLV, "one", each_to_each, SQUARE, TT_LAYOUT_ROW, TT_LAYOUT_COLUMN},
    {TT_ALL_TO_ALLW, "one", each_to_each, SQUARE, TT_LAYOUT_ROW, TT_LAYOUT_COLUMN},
    {TT_NEIGHBOR_ALLGATHER, "one", along_edges, EDGES, TT_LAYOUT_TOUCHED, TT_LAYOUT_TOUCHED},
    {TT_NEIGHBOR_ALLGATHERV, "one", along_edges, EDGES, TT_LAYOUT_TOUCHED, TT_LAYOUT_TOUCHED},
    {TT_NEIGHBOR_ALL_TO_ALL, "one", along_edges, EDGES, TT_LAYOUT_TOUCHED, TT_LAYOUT_TOUCHED},
    {TT_NEIGHBOR_ALL_TO_ALLV, "one", along_edges, EDGES, TT_LAYOUT_TOUCHED, TT_LAYOUT_TOUCHED},
    {TT_NEIGHBOR_ALL_TO_ALLW, "one", along_edges, EDGES, TT_LAYOUT_TOUCHED, TT_LAYOUT_TOUCHED},
};

static void write_twin(const struct twin *twin, const tt_problem *problem, tt_composition *to) {
  int64_t p = problem->rank_count;
  const int64_t blocks[] = {[WHOLE] = 1, [SPLIT] = p, [SQUARE] = p * p, [EDGES] = 2 * p};
  *to = (tt_composition){.rank_count = p,
                         .block_count = blocks[twin->cut],
                         .layout = {twin->in, twin->out},
                         .in_place = problem->in_place};
  twin->write(to, p, problem->root);
  for (int s = 0; s < to->stage_count && problem->ordered; s++)
    to->stage[s].family[0].ordered = to->stage[s].family[0].primitive == TT_REDUCTION;
}

/* The twin's stages have other names; parameters of their own go with them. */
static void rename_stages(const tt_composition *built_in, tt_params *params) {
  for (int n = 0; n < params->stage_count; n++)
    for (int s = 0; s < built_in->stage_count; s++)
      if (strcmp(params->stage[n].stage, built_in->stage[s].name) == 0)
        snprintf(params->stage[n].stage, sizeof params->stage[n].stage, "act-%d", s + 1);
}

/* ---- the tests ---- */

static int64_t compared, refused;

static void expect_equal(const tt_plan *built_in, const tt_plan *twin, const char *what) {
  char *a = tt_plan_print(built_in), *b = tt_plan_print(twin);
  bool equal = strcmp(a, b) == 0;
  free(a);
  free(b);
  if (!equal || !tt_plan_equal(built_in, twin))
    fail_msg("%s, rank %d: the plans differ", what, (int)built_in->rank);
}

static void compare(const plans *built_in, const plans *hand, const char *what) {
  for (int64_t r = 0; r < hand->count; r++)
    expect_equal(built_in->plan[r], hand->plan[r], what);
  compared += hand->count;
}

/* What does not fit the one does not fit the other. */
static void check(const struct twin *twin, const plans_case *of) {
  plans built_in, hand;
  char what[200];
  snprintf(what, sizeof what, "%s, form %s, %s, %d ranks on %s, root %d", tt_compose_info(twin->collective).name,
           twin->form, of->params, (int)of->problem.rank_count, of->map ? of->map : "one node", (int)of->problem.root);
  tutti_status expected = plans_open(of, &built_in);
  if (expected != TUTTI_OK && expected != TUTTI_ERR_PLAN)
    fail_msg("%s: %s", what, tutti_last_error());
  assert_int_equal(plans_begin(&hand, of->problem.rank_count, of->map, of->publish), TUTTI_OK);
  hand.params = built_in.params;
  rename_stages(&built_in.composition, &hand.params);
  write_twin(twin, &of->problem, &hand.composition);
  assert_int_equal(tt_ir_check(&hand.composition), TUTTI_OK);
  if (plans_lower(&hand) != expected)
    fail_msg("%s: the twin's status is not %d: %s", what, (int)expected, tutti_last_error());
  compare(&built_in, &hand, what);
  refused += expected != TUTTI_OK;
  plans_close(&hand);
  plans_close(&built_in);
}

static const struct {
  int64_t rank_count;
  const char *map;
  bool publish;
} machines[] = {
    {1, "1", false},  {2, "1x2", true},       {5, "2,3", false},
    {8, "2x4", true}, {9, "cyclic:2", false}, {12, "0,1,1,2,0,2,2,2,3,0,1,2:", true},
};

static const char *const extra[] = {"", " stripe=3 channels=2", " ring=1 slice=4K", " reproducible"};

/* All machines and roots for one twin and one text. */
static void check_machines(const struct twin *twin, const char *params) {
  for (size_t m = 0; m < TT_COUNT(machines); m++) {
    int64_t ranks = machines[m].rank_count;
    plans_case of = {.form = twin->form, .params = params, .map = machines[m].map, .publish = machines[m].publish};
    tt_collective_info info = tt_compose_info(twin->collective);
    of.problem = (tt_problem){.collective = twin->collective, .rank_count = ranks, .in_place = m % 2 == 1};
    of.problem.graph = info.has_graph ? graph_of(ranks) : NULL;
    check(twin, &of);
    of.problem.ordered = info.reduces;
    of.problem.root = info.has_root ? ranks - 1 : 0;
    if (info.has_root || info.reduces)
      check(twin, &of);
  }
}

static void test_twins_have_equal_plans_under_every_preset(void **state) {
  (void)state;
  size_t presets;
  const tt_preset *preset = tt_preset_table(&presets);
  compared = refused = 0;
  for (size_t t = 0; t < TT_COUNT(twins); t++)
    for (size_t n = 0; n < presets * TT_COUNT(extra); n++) {
      tt_params params;
      char text[256];
      snprintf(text, sizeof text, "%s%s", preset[n % presets].name, extra[n / presets]);
      assert_int_equal(tt_params_parse(text, &params), TUTTI_OK);
      check_machines(&twins[t], text);
    }
  print_message("%d plans; %d compositions refused, and their twins\n", (int)compared, (int)refused);
}

static void test_twins_have_equal_plans_with_parameters_for_each_stage(void **state) {
  (void)state;
  for (size_t t = 0; t < TT_COUNT(twins); t++) {
    char last[TT_STAGE_NAME] = "", text[256];
    strncat(last, twins[t].form, strcspn(twins[t].form, "."));
    snprintf(text, sizeof text, "[node:2-ary/core:2-nomial,xor] %s[node:star/core:chain] channels=3", last);
    check_machines(&twins[t], text);
  }
}

static void test_every_collective_and_form_has_a_twin(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    tt_collective_info info = tt_compose_info((tt_collective)c);
    for (int f = 0; f < info.form_count; f++) {
      bool found = false;
      for (size_t t = 0; t < TT_COUNT(twins); t++)
        found = found || (twins[t].collective == (tt_collective)c && strcmp(twins[t].form, info.form[f]) == 0);
      if (!found)
        fail_msg("%s, form %s, has no twin", info.name, info.form[f]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_collective_and_form_has_a_twin),
      cmocka_unit_test(test_twins_have_equal_plans_under_every_preset),
      cmocka_unit_test(test_twins_have_equal_plans_with_parameters_for_each_stage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
