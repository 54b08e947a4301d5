/* tools/plan/ranking.h - `tutti plan --params all`: a row for each preset. */
#ifndef TUTTI_TOOLS_PLAN_RANKING_H
#define TUTTI_TOOLS_PLAN_RANKING_H

#include "options.h"

#include "lower/lower.h"

typedef struct plan_row {
  const tt_preset *preset;
  char reason[240]; /* why it makes no plan; else empty, and what follows is known */
  uint32_t rounds;
  int64_t messages;
  char bytes[32];             /* multiple of n */
  double time_ns[PLAN_SIZES]; /* negative: too many steps to simulate */
  double score;
} plan_row;

/* A row for each preset, the cheapest first, those without a plan last. */
typedef struct plan_ranking {
  const plan_options *options;
  const int64_t *size;
  int size_count;
  plan_row *row;
  size_t count;
  const char *unit; /* what n is */
  char model[PLAN_MODEL], title[160];
  bool gaps; /* not all could be simulated */
} plan_ranking;

tutti_status plan_ranking_make(const plan_options *options, plan_ranking *ranking); /* finish in any case */
void plan_ranking_finish(plan_ranking *ranking);
double plan_ranking_best(const plan_ranking *ranking, int size); /* ns, of size number `size` */
tutti_status plan_ranking_print(const plan_options *options);

#endif
