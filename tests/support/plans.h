/* tests/support/plans.h - all ranks' plans of one composition, from texts. */
#ifndef TEST_SUPPORT_PLANS_H
#define TEST_SUPPORT_PLANS_H

#include "lower/lower.h"
#include "question.h"

#include <stdlib.h>

typedef struct plans_case {
  tt_problem problem;
  const char *form, *params; /* form NULL: the parameters' */
  const char *map;           /* groups of level "node"; NULL: none */
  bool publish;              /* ranks of a node may publish */
} plans_case;

typedef struct plans {
  tt_arena arena;
  tt_topo *topo;
  tt_params params;
  tt_composition composition;
  tt_owners owners;
  tt_plan **plan;
  int64_t count;
} plans;

/* Closes what is open, at any state after plans_begin. */
static inline void plans_close(plans *all) {
  for (int64_t r = 0; r < all->count; r++)
    tt_plan_destroy(all->plan[r]);
  tt_arena_finish(&all->arena);
}

static inline tutti_status plans_begin(plans *all, int64_t rank_count, const char *map, bool publish) {
  *all = (plans){.count = 0};
  tt_arena_init(&all->arena);
  all->topo = tt_topo_flat(&all->arena, rank_count);
  int64_t *group_of = tt_arena_alloc(&all->arena, (size_t)rank_count, sizeof *group_of);
  all->topo->level[0].publish = publish;
  tutti_status status = map ? tt_topo_parse_map(map, rank_count, group_of) : TUTTI_OK;
  return map && status == TUTTI_OK ? tt_topo_add(all->topo, &all->arena, "node", group_of) : status;
}

/* Of all->composition, with all->params. */
static inline tutti_status plans_lower(plans *all) {
  tt_lowering *lowering = NULL;
  tutti_status status = tt_lowering_create(&all->composition, all->topo, &all->params, &lowering);
  all->plan = tt_arena_alloc(&all->arena, (size_t)all->composition.rank_count, sizeof(tt_plan *));
  while (status == TUTTI_OK && all->count < all->composition.rank_count) {
    status = tt_lower_rank(lowering, all->count, &all->plan[all->count]);
    all->count += status == TUTTI_OK;
  }
  tt_lowering_destroy(lowering);
  return status;
}

/* Of one problem, with all->params. */
static inline tutti_status plans_compose(const tt_problem *of, const char *form, plans *all) {
  tt_problem problem = *of;
  const tt_topo_level *level = tt_lower_outermost(&all->params, all->topo);
  tutti_status status = TUTTI_OK;
  if (all->params.even && level && level->group_of) {
    status = tt_compose_owners(level->group_of, level->group_count, problem.rank_count, &all->arena, &all->owners);
    problem.owners = &all->owners;
  }
  return status == TUTTI_OK ? tt_compose(&problem, form ? form : all->params.form, &all->composition) : status;
}

/* plans_close is called afterwards in any case. */
static inline tutti_status plans_open(const plans_case *of, plans *all) {
  tutti_status status = plans_begin(all, of->problem.rank_count, of->map, of->publish);
  if (status == TUTTI_OK)
    status = tt_params_parse(of->params, &all->params);
  if (status == TUTTI_OK)
    status = plans_compose(&of->problem, of->form, all);
  return status == TUTTI_OK ? plans_lower(all) : status;
}

static inline tutti_status plans_verify(const plans_case *of, const plans *all) {
  tt_meaning meaning;
  tt_question question = question_of(&of->problem, &all->composition);
  question.reproducible = all->params.reproducible;
  tutti_status status = tt_verify_meaning(&question, &meaning);
  return status == TUTTI_OK ? tt_verify(&meaning, (const tt_plan *const *)all->plan) : status;
}

#endif
