/* tests/mutants/cases.h - small compiled plans of every collective, form, preset and kind of topology, and of random
 * compositions, drawn from a seed. */
#ifndef TEST_MUTANTS_CASES_H
#define TEST_MUTANTS_CASES_H

#include "../../tools/verify/random.h"
#include "lower/lower.h"
#include "support/question.h"

#include <stdio.h>

enum { CASE_RANKS = 8, CASE_BLOCKS = 64 };

typedef struct plan_case { /* stays where it was drawn: the meaning points into it */
  tt_arena arena;
  char text[256];           /* for people */
  tt_collective collective; /* TT_COLLECTIVE_COUNT: a random composition */
  tt_problem problem;
  tt_graph graph;
  tt_composition composition;
  tt_question question;
  tt_meaning meaning;
  tt_plan *plan[CASE_RANKS];
} plan_case;

static inline void case_finish(plan_case *of) {
  for (int rank = 0; rank < CASE_RANKS; rank++) {
    tt_plan_destroy(of->plan[rank]);
    of->plan[rank] = NULL;
  }
  tt_arena_finish(&of->arena);
}

static inline bool case_lower(plan_case *into, const tt_topo *topo, const tt_params *params) {
  tt_lowering *lowering = NULL;
  tutti_status status = tt_lowering_create(&into->composition, topo, params, &lowering);
  for (int64_t rank = 0; rank < into->composition.rank_count && status == TUTTI_OK; rank++)
    status = tt_lower_rank(lowering, rank, &into->plan[rank]);
  tt_lowering_destroy(lowering);
  return status == TUTTI_OK;
}

/* flat, blocks of two ranks, interleaved or uneven nodes; ranks of a node may publish. */
static inline tt_topo *case_topo(tt_random *random, int64_t rank_count, tt_arena *arena) {
  tt_topo *topo = tt_topo_flat(arena, rank_count);
  int64_t kind = (int64_t)tt_random_below(random, 4), group[CASE_RANKS];
  for (int64_t rank = 0; rank < rank_count; rank++)
    group[rank] = kind == 1 ? rank / 2 : kind == 2 ? rank % 2 : rank == 0;
  if (kind > 0 && tt_topo_add(topo, arena, "node", group) != TUTTI_OK)
    return NULL;
  topo->level[topo->level_count - 1].publish = tt_random_below(random, 2) == 0;
  return topo;
}

static inline void case_params(tt_random *random, const char *form, char text[static 160]) {
  static const char *const more[] = {"", "", " channels=2", " stripe=2", " stripe=2 channels=2", " slice=4K"};
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  const char *name = preset[tt_random_below(random, count)].name;
  snprintf(text, 160, "%s form=%s%s", name, form, more[tt_random_below(random, TT_COUNT(more))]);
}

/* Composition and meaning of a collective. */
static inline bool case_collective(tt_random *random, plan_case *into, const char *form) {
  tt_problem *problem = &into->problem;
  tt_collective_info info = tt_compose_info(into->collective);
  problem->collective = into->collective;
  problem->root = info.has_root ? (int64_t)tt_random_below(random, (uint64_t)problem->rank_count) : 0;
  if (info.has_graph && random_graph(random, problem->rank_count, &into->arena, &into->graph) != TUTTI_OK)
    return false;
  problem->graph = info.has_graph ? &into->graph : NULL;
  if (tt_compose(problem, form, &into->composition) != TUTTI_OK)
    return false;
  into->question = question_of(problem, &into->composition);
  return tt_verify_meaning(&into->question, &into->meaning) == TUTTI_OK;
}

static inline bool case_composition(tt_random *random, plan_case *into) {
  const tt_problem *problem = &into->problem;
  random_composition(random, problem->rank_count, problem->in_place, problem->ordered, &into->arena,
                     &into->composition);
  return tt_verify_primitives(&into->composition, &into->arena, &into->meaning) == TUTTI_OK;
}

static inline bool case_make(tt_random *random, plan_case *into) {
  tt_collective_info info = tt_compose_info(into->collective);
  const char *form = info.name ? info.form[tt_random_below(random, (uint64_t)info.form_count)] : "";
  char text[160];
  tt_params params;
  tt_params_init(&params);
  case_params(random, info.name ? form : "one", text);
  tt_topo *topo = case_topo(random, into->problem.rank_count, &into->arena);
  snprintf(into->text, sizeof into->text, "%s of %d ranks%s%s, %s, %d levels", info.name ? info.name : "a composition",
           (int)into->problem.rank_count, into->problem.in_place ? " in place" : "",
           into->problem.ordered ? " ordered" : "", text, topo ? topo->level_count : 0);
  if (!topo || tt_params_parse(text, &params) != TUTTI_OK)
    return false;
  if (!(info.name ? case_collective(random, into, form) : case_composition(random, into)))
    return false;
  return into->composition.block_count <= CASE_BLOCKS && case_lower(into, topo, &params);
}

/* Whatever the rest of the draw, `collective` can be named. False where what was drawn does not fit together. */
static inline bool case_draw_of(tt_random *random, tt_collective collective, plan_case *into) {
  *into = (plan_case){.collective = collective};
  tt_arena_init(&into->arena);
  into->problem.rank_count = 2 + (int64_t)tt_random_below(random, 6);
  into->problem.in_place = tt_random_below(random, 2) == 0;
  bool reduces = collective == TT_COLLECTIVE_COUNT || tt_compose_info(collective).reduces;
  into->problem.ordered = reduces && tt_random_below(random, 2) == 0;
  bool made = case_make(random, into);
  if (!made)
    case_finish(into);
  return made;
}

/* One of the collectives, or TT_COLLECTIVE_COUNT. */
static inline bool case_draw(tt_random *random, plan_case *into) {
  return case_draw_of(random, (tt_collective)tt_random_below(random, TT_COLLECTIVE_COUNT + 1), into);
}

#endif
