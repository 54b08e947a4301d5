/* tools/plan/work.h - from a request to plans and their modelled cost. */
#ifndef TUTTI_TOOLS_PLAN_WORK_H
#define TUTTI_TOOLS_PLAN_WORK_H

#include "large.h"
#include "options.h"

#include "lower/lower.h"
#include "sim/sim.h"
#include "tune/tune.h"

#define PLAN_SIMULATED 4096 /* ranks: of more, not all are compiled for a modelled time */

/* Plans of the ranks that are looked at: all, or, where they are many or large, those that stand for all, or an evenly
 * spaced sample. */
typedef struct plan_work {
  const plan_options *options;
  tt_arena arena;
  tt_topo *topo;
  tt_sim_model model; /* the usual rates, changed by the options' */
  tt_composition composition;
  tt_params params;
  tt_lowering *lowering;
  tt_plan **plan;
  int64_t plan_count;
  plan_large large;
} plan_work;

/* `params` instead of the options'. plan_work_close is always called afterwards. */
tutti_status plan_work_open(const plan_options *options, const char *params, plan_work *work);
/* Compiles at most so many ranks, but at least a few, and all where they have few steps. */
tutti_status plan_work_lower(plan_work *work, int64_t most_ranks);
void plan_work_close(plan_work *work);
bool plan_work_is_whole(const plan_work *work); /* all ranks are compiled */
/* Modelled time for n bytes. TUTTI_ERR_UNSUPPORTED where that would take too long to find out. */
tutti_status plan_work_cost(const plan_work *work, int64_t bytes, double *time_ns);
/* The same, and of each call that goes on at the same time. */
tutti_status plan_work_times(const plan_work *work, int64_t bytes, double time_ns[static 1 + PLAN_ALSO]);

/* Which n times are for: those asked for, or some. A barrier has no length, and one time. */
int plan_sizes(const plan_options *options, const int64_t **size);

/* What n stands for, in plan blocks, and in words. */
int64_t plan_unit_blocks(const plan_work *work);
const char *plan_unit_text(const plan_work *work);
/* So many blocks as a multiple of n: "1.75". */
void plan_unit_format(const plan_work *work, int64_t blocks, char text[static 32]);

/* What the busiest rank sends or receives. */
tt_plan_counts plan_busiest(const plan_work *work);

#endif
