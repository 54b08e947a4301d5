/* tools/plan.h - the parts of `tutti plan`.
 *
 *     options   what the user asked for
 *     work      composition, topology, lowering and all ranks' plans of one request
 *     report    what is printed: composition, levels, counts
 *     picture   what is written to files: SVG, DOT */
#ifndef TUTTI_TOOLS_PLAN_H
#define TUTTI_TOOLS_PLAN_H

#include "compose/compose.h"
#include "lower/lower.h"

typedef struct plan_options {
  tt_problem problem;
  const char *map;       /* text of --groups, NULL: none */
  int64_t node_count;    /* of --nodes, 0: none */
  const char *params;    /* text or preset; "all" */
  const char *svg, *dot; /* paths, NULL: none; "-": standard output */
  int64_t text_rank;     /* print this rank's plan only; -1: no */
  bool composition;      /* print the composition only */
  bool publish;          /* the innermost level offers streams with several readers */
} plan_options;

/* 0: go on; 1: help was printed; -1: an error was printed. */
int plan_options_parse(int argc, char **argv, plan_options *options);

/* Plans of the ranks that the report looks at: all, or a sample where there are many. */
typedef struct plan_work {
  const plan_options *options;
  tt_arena arena;
  tt_topo *topo;
  tt_composition composition;
  tt_params params;
  tt_lowering *lowering;
  tt_plan **plan;
  int64_t plan_count;
} plan_work;

/* `params` instead of the options'. plan_work_close is always called afterwards. */
tutti_status plan_work_open(const plan_options *options, const char *params, plan_work *work);
tutti_status plan_work_lower(plan_work *work);
void plan_work_close(plan_work *work);

void plan_report_print(const plan_work *work);
/* One row for each preset. */
tutti_status plan_presets_print(const plan_options *options);

/* "2-nomial, xor, far" */
void plan_level_text(const tt_level_params *level, char *text, size_t size);
/* "allreduce, 8 ranks on 2 nodes" */
void plan_title(const plan_work *work, char *text, size_t size);
/* Whole-vector bytes of so many blocks: "1.75". */
void plan_vector_part(const tt_plan *plan, int64_t blocks, char text[static 32]);
tutti_status plan_picture_write(const plan_work *work);

#endif
