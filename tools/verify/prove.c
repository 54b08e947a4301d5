/* tools/verify/prove.c - one case: composed, lowered for all ranks, proven. */
#include "all.h"
#include "cases.h"
#include "random.h"
#include "tune/tune.h"

#include <inttypes.h>
#include <stdio.h>

/* Everything that is made for one case. */
typedef struct proof {
  const tt_case *of;
  tt_arena arena;
  tt_problem problem;
  tt_graph graph;
  tt_composition composition;
  tt_question question;
  tt_meaning meaning;
  tt_topo *topo;
  tt_plan *plan[TT_CASE_RANKS];
} proof;

static tutti_status make_topo(proof *in) {
  static const char *const names[] = {"node", "socket"};
  in->topo = tt_topo_flat(&in->arena, in->problem.rank_count);
  if (!in->topo)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a topology");
  in->topo->level[0].publish = true;
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < in->of->level_count && status == TUTTI_OK; n++)
    status = tt_topo_add(in->topo, &in->arena, names[n], in->of->group_of[n]);
  return status;
}

/* Presets that name a form are for that one; "split" stands for whatever fits. */
static tutti_status check_form(const tt_case *one) {
  const char *bound = one->params.form;
  if (one->kind != TT_CASE_GRID || !*bound || strcmp(bound, "split") == 0 || strcmp(bound, one->form) == 0)
    return TUTTI_OK;
  size_t presets;
  const char *name = tt_preset_table(&presets)[one->at[TT_AXIS_PRESET]].name;
  return tt_fail(TUTTI_ERR_PLAN, "preset %s has its own form, %s", name, bound);
}

static tutti_status make_graph(proof *in) {
  if (!tt_compose_info(in->problem.collective).has_graph)
    return TUTTI_OK;
  tt_random random = in->of->random;
  in->problem.graph = &in->graph;
  return in->of->kind == TT_CASE_GRID ? tt_case_graph(in->of, &in->arena, &in->graph)
                                      : random_graph(&random, in->problem.rank_count, &in->arena, &in->graph);
}

static tutti_status compose_collective(proof *in) {
  tutti_status status = make_graph(in);
  tt_params params = in->of->params;
  snprintf(params.form, sizeof params.form, "%s", in->of->form);
  if (status == TUTTI_OK)
    status = tt_task_compose(&in->problem, &params, in->topo, &in->arena, &in->composition);
  in->question = (tt_question){.collective = tt_compose_info(in->problem.collective).name,
                               .rank_count = in->problem.rank_count,
                               .block_count = in->composition.block_count,
                               .root = in->problem.root,
                               .in_place = in->problem.in_place,
                               .ordered = in->problem.ordered,
                               .reproducible = in->of->params.reproducible,
                               .edge_count = in->graph.edge_count,
                               .from = in->graph.from,
                               .to = in->graph.to};
  return status == TUTTI_OK ? tt_verify_meaning(&in->question, &in->meaning) : status;
}

static void draw_composition(const tt_case *one, tt_arena *arena, tt_composition *composition) {
  tt_random random = one->random;
  random_composition(&random, one->problem.rank_count, one->problem.in_place, one->problem.ordered, arena, composition);
}

static tutti_status compose(proof *in) {
  if (in->of->kind != TT_CASE_COMPOSITION)
    return compose_collective(in);
  draw_composition(in->of, &in->arena, &in->composition);
  return tt_verify_primitives(&in->composition, &in->arena, &in->meaning);
}

static tutti_status lower_and_verify(proof *in, const tt_lowering *lowering) {
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < in->problem.rank_count && status == TUTTI_OK; r++)
    status = tt_lower_rank(lowering, r, &in->plan[r]);
  if (status == TUTTI_OK)
    status = verify_all_plans(&in->meaning, in->plan, in->of->level_count > 0 ? in->of->group_of[0] : NULL);
  for (int64_t r = 0; r < in->problem.rank_count; r++)
    tt_plan_destroy(in->plan[r]);
  return status;
}

/* Levels that a case does not name cannot change its plans: the flat map stands for all. */
static bool same_as_flat(const tt_case *one) {
  const tt_params *params = &one->params;
  bool named = params->stage_count == 0 || params->stage[0].level_count > 1;
  return one->kind == TT_CASE_GRID && one->at[TT_AXIS_MAP] > 0 && !named;
}

static tt_outcome outcome_of(tt_verdict verdict) {
  tt_outcome outcome = {.verdict = verdict};
  snprintf(outcome.text, sizeof outcome.text, "%s", verdict == TT_PROVEN ? "" : tutti_last_error());
  return outcome;
}

static tt_outcome prove(proof *in) {
  tt_lowering *lowering = NULL;
  tutti_status status = make_topo(in);
  if (status == TUTTI_OK)
    status = compose(in);
  if (status == TUTTI_OK)
    status = tt_lowering_create(&in->composition, in->topo, &in->of->params, &lowering);
  bool fits = status == TUTTI_OK;
  if (fits)
    status = lower_and_verify(in, lowering);
  tt_outcome outcome = outcome_of(status == TUTTI_OK           ? TT_PROVEN
                                  : status == TUTTI_ERR_MEMORY ? TT_OPEN
                                  : fits                       ? TT_FAILED
                                                               : TT_INVALID);
  tt_lowering_destroy(lowering);
  return outcome;
}

tt_outcome tt_case_prove(const tt_case *one) {
  if (check_form(one) != TUTTI_OK)
    return outcome_of(TT_INVALID);
  if (same_as_flat(one))
    return (tt_outcome){.verdict = TT_SAME_PLAN};
  proof in = {.of = one, .problem = one->problem};
  tt_arena_init(&in.arena);
  tt_outcome outcome = prove(&in);
  tt_arena_finish(&in.arena);
  return outcome;
}

/* ---- text ---- */

static void add_map(const int64_t *group_of, int64_t count, char *text, size_t size) {
  size_t used = strlen(text);
  for (int64_t r = 0; r < count && used < size; r++)
    used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, r > 0 ? "," : " : ", group_of[r]);
}

void tt_case_print(const tt_case *one, char text[static TT_CASE_TEXT]) {
  const tt_problem *problem = &one->problem;
  char words[512];
  tt_params_print(&one->params, words, sizeof words);
  char seed[32] = "";
  if (one->kind != TT_CASE_GRID)
    snprintf(seed, sizeof seed, "seed %" PRIu64 ": ", one->seed);
  snprintf(text, TT_CASE_TEXT, "%s%s%s%s, %" PRId64 " ranks, root %" PRId64 "%s%s%s, %s, map %s", seed,
           one->kind == TT_CASE_COMPOSITION ? "composition" : tt_compose_info(problem->collective).name,
           *one->form ? " form=" : "", one->form, problem->rank_count, problem->root,
           problem->in_place ? ", in place" : "", problem->ordered ? ", ordered" : "",
           one->params.reproducible ? ", reproducible" : "", words,
           one->kind == TT_CASE_GRID ? tt_case_map_name(one) : "");
  for (int n = 0; n < one->level_count && one->kind != TT_CASE_GRID; n++)
    add_map(one->group_of[n], problem->rank_count, text, TT_CASE_TEXT);
}

void tt_case_print_composition(const tt_case *one) {
  tt_arena arena;
  tt_composition composition;
  if (one->kind != TT_CASE_COMPOSITION)
    return;
  tt_arena_init(&arena);
  draw_composition(one, &arena, &composition);
  const char *text = tt_ir_print(&composition, &arena);
  printf("%s", text ? text : "");
  tt_arena_finish(&arena);
}
