/* tests/mutants/cases.h - small compiled plans of every collective, form, preset and kind of topology, drawn from a
 * seed. */
#ifndef TEST_MUTANTS_CASES_H
#define TEST_MUTANTS_CASES_H

#include "compose/compose.h"
#include "lower/lower.h"
#include "verify/verify.h"

#include <stdio.h>

enum { CASE_RANKS = 8 };

typedef struct plan_case {
  char text[256]; /* for people */
  tt_meaning meaning;
  tt_plan *plan[CASE_RANKS];
} plan_case;

static inline void case_finish(plan_case *of) {
  for (int rank = 0; rank < CASE_RANKS; rank++) {
    tt_plan_destroy(of->plan[rank]);
    of->plan[rank] = NULL;
  }
}

static inline bool case_lower(plan_case *into, const tt_composition *composition, const tt_topo *topo,
                              const tt_params *params) {
  tt_lowering *lowering = NULL;
  tutti_status status = tt_lowering_create(composition, topo, params, &lowering);
  for (int64_t rank = 0; rank < composition->rank_count && status == TUTTI_OK; rank++)
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

/* False where what was drawn does not fit together. */
static inline bool case_draw(tt_random *random, plan_case *into) {
  tt_problem problem = {.collective = (tt_collective)tt_random_below(random, TT_COLLECTIVE_COUNT)};
  tt_collective_info info = tt_compose_info(problem.collective);
  problem.rank_count = 2 + (int64_t)tt_random_below(random, 6);
  problem.root = info.has_root ? (int64_t)tt_random_below(random, (uint64_t)problem.rank_count) : 0;
  problem.in_place = tt_random_below(random, 2) == 0;
  char text[160];
  case_params(random, info.form[tt_random_below(random, (uint64_t)info.form_count)], text);
  tt_params params;
  tt_composition composition;
  tt_params_init(&params);
  tt_arena arena;
  tt_arena_init(&arena);
  *into = (plan_case){.plan = {NULL}};
  tt_topo *topo = case_topo(random, problem.rank_count, &arena);
  bool made = topo != NULL && tt_params_parse(text, &params) == TUTTI_OK &&
              tt_compose(&problem, params.form, &composition) == TUTTI_OK &&
              tt_verify_meaning(info.name, problem.rank_count, composition.block_count, problem.root, problem.in_place,
                                &into->meaning) == TUTTI_OK &&
              case_lower(into, &composition, topo, &params);
  snprintf(into->text, sizeof into->text, "%s of %d ranks%s, %s, %d levels", info.name, (int)problem.rank_count,
           problem.in_place ? " in place" : "", text, topo != NULL ? topo->level_count : 0);
  tt_arena_finish(&arena);
  if (!made)
    case_finish(into);
  return made;
}

#endif
