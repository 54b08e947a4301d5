/* compose/compose.h - every collective, in each of its forms, written as a composition. Pure. */
#ifndef TT_COMPOSE_COMPOSE_H
#define TT_COMPOSE_COMPOSE_H

#include "ir/ir.h"

typedef enum tt_collective {
  TT_ALLREDUCE,
  TT_BROADCAST,
  TT_ALLGATHER,
  TT_REDUCE_SCATTER,
  TT_BARRIER,
  TT_COLLECTIVE_COUNT
} tt_collective;

typedef struct tt_problem {
  tt_collective collective;
  int64_t rank_count;
  int64_t root; /* where the collective has one, else 0 */
  bool in_place;
} tt_problem;

typedef struct tt_collective_info {
  const char *name;
  bool has_root, reduces;
  int form_count;
  const char *form[4]; /* names: "one" for the one-step form, else "allgather.reduce-scatter", last stage first */
} tt_collective_info;

tt_collective_info tt_compose_info(tt_collective collective); /* name NULL where there is none */
tt_collective tt_compose_find(const char *name);              /* TT_COLLECTIVE_COUNT where there is none */
/* The form that a name stands for: NULL or "" for the first, "split" for the first that cuts the vector into one block
 * a rank (the first where none does); NULL where there is none. */
const char *tt_compose_form(tt_collective collective, const char *name);
/* Writes the composition of `form`, a name as above. Error TUTTI_ERR_PLAN names the forms there are. */
tutti_status tt_compose(const tt_problem *problem, const char *form, tt_composition *composition);

#endif
