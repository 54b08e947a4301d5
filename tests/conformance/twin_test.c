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

static void add(tt_composition *to, tt_primitive primitive, int64_t count, tt_affine root, tt_ends ends,
                tt_affine block, tt_buffer from, tt_buffer into) {
  tt_stage *stage = &to->stage[to->stage_count++];
  snprintf(stage->name, sizeof stage->name, "act-%d", to->stage_count);
  stage->family_count = 1;
  stage->family[0] = (tt_family){.primitive = primitive,
                                 .count_i = count,
                                 .count_j = 1,
                                 .root = root,
                                 .block = block,
                                 .ends = ends,
                                 .from = from,
                                 .to = into};
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

static const struct twin {
  tt_collective collective;
  const char *form;
  writer write;
  bool split;
  tt_layout in, out;
} twins[] = {
    {TT_ALLREDUCE, "one", all_to_each, false, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_ALLREDUCE, "allgather.reduce-scatter", parts_then_all, true, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_ALLREDUCE, "broadcast.reduce", up_then_down, false, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_BROADCAST, "one", one_to_all, false, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_BROADCAST, "allgather.scatter", deal_then_all, true, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_ALLGATHER, "one", each_to_all, true, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_ALLGATHER, "broadcast.gather", collect_then_down, true, TT_LAYOUT_OWN, TT_LAYOUT_ALL},
    {TT_REDUCE_SCATTER, "one", parts, true, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_REDUCE_SCATTER, "scatter.reduce", up_then_deal, true, TT_LAYOUT_ALL, TT_LAYOUT_OWN},
    {TT_BARRIER, "one", all_to_each, false, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
    {TT_BARRIER, "broadcast.reduce", up_then_down, false, TT_LAYOUT_ALL, TT_LAYOUT_ALL},
};

static void write_twin(const struct twin *twin, const tt_problem *problem, tt_composition *to) {
  *to = (tt_composition){.rank_count = problem->rank_count,
                         .block_count = twin->split ? problem->rank_count : 1,
                         .layout = {twin->in, twin->out},
                         .in_place = problem->in_place};
  twin->write(to, problem->rank_count, problem->root);
}

/* The twin's stages have other names; parameters of their own go with them. */
static void rename_stages(const tt_composition *built_in, tt_params *params) {
  for (int n = 0; n < params->stage_count; n++)
    for (int s = 0; s < built_in->stage_count; s++)
      if (strcmp(params->stage[n].stage, built_in->stage[s].name) == 0)
        snprintf(params->stage[n].stage, sizeof params->stage[n].stage, "act-%d", s + 1);
}

/* ---- the tests ---- */

static int64_t compared;

static void expect_equal(const tt_plan *built_in, const tt_plan *twin, const char *what) {
  char *a = tt_plan_print(built_in), *b = tt_plan_print(twin);
  bool equal = strcmp(a, b) == 0;
  free(a);
  free(b);
  if (!equal || !tt_plan_equal(built_in, twin))
    fail_msg("%s, rank %d: the plans differ", what, (int)built_in->rank);
}

static void check(const struct twin *twin, const plans_case *of) {
  plans built_in, hand;
  char what[200];
  snprintf(what, sizeof what, "%s, form %s, %s, %d ranks on %s, root %d", tt_compose_info(twin->collective).name,
           twin->form, of->params, (int)of->problem.rank_count, of->map ? of->map : "one node", (int)of->problem.root);
  if (plans_open(of, &built_in) != TUTTI_OK)
    fail_msg("%s: %s", what, tutti_last_error());
  assert_int_equal(plans_begin(&hand, of->problem.rank_count, of->map, of->publish), TUTTI_OK);
  hand.params = built_in.params;
  rename_stages(&built_in.composition, &hand.params);
  write_twin(twin, &of->problem, &hand.composition);
  assert_int_equal(tt_ir_check(&hand.composition), TUTTI_OK);
  if (plans_lower(&hand) != TUTTI_OK)
    fail_msg("%s: %s", what, tutti_last_error());
  for (int64_t r = 0; r < hand.count; r++)
    expect_equal(built_in.plan[r], hand.plan[r], what);
  compared += hand.count;
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

static const char *const extra[] = {"", " stripe=3 channels=2", " ring=1 slice=4K"};

/* All machines and roots for one twin and one text. */
static void check_machines(const struct twin *twin, const char *params) {
  for (size_t m = 0; m < TT_COUNT(machines); m++) {
    int64_t ranks = machines[m].rank_count;
    plans_case of = {.form = twin->form, .params = params, .map = machines[m].map, .publish = machines[m].publish};
    of.problem = (tt_problem){twin->collective, ranks, 0, m % 2 == 1};
    check(twin, &of);
    of.problem.root = ranks - 1;
    if (tt_compose_info(twin->collective).has_root)
      check(twin, &of);
  }
}

static void test_twins_have_equal_plans_under_every_preset(void **state) {
  (void)state;
  size_t presets;
  const tt_preset *preset = tt_preset_table(&presets);
  compared = 0;
  for (size_t t = 0; t < TT_COUNT(twins); t++)
    for (size_t n = 0; n < presets * TT_COUNT(extra); n++) {
      tt_params params;
      char text[256];
      snprintf(text, sizeof text, "%s%s", preset[n % presets].name, extra[n / presets]);
      assert_int_equal(tt_params_parse(text, &params), TUTTI_OK);
      check_machines(&twins[t], text);
    }
  print_message("%d plans\n", (int)compared);
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
