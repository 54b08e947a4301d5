/* tools/plan/plan.h - the parts of `tutti plan`.
 *
 *     options   what the user asked for; graph: the neighbors that go with it
 *     work      composition, topology, lowering and ranks' plans of one request, and what they would cost
 *     report    what is printed of one request: composition, levels, counts
 *     media     and how what is sent goes: cells, slots, lent ...
 *     rank      what is printed of all presets: a table, the cheapest first
 *     measure   rates of this machine
 *     picture   what is written to files: SVG, DOT */
#ifndef TUTTI_TOOLS_PLAN_H
#define TUTTI_TOOLS_PLAN_H

#include "compose/compose.h"
#include "lower/lower.h"
#include "sim/sim.h"

#include <stdio.h>

#define PLAN_SIZES 8
#define PLAN_MODEL 512
#define PLAN_SIMULATED 4096 /* ranks: of more, not all are compiled for a modelled time */

typedef struct plan_options {
  tt_problem problem;
  tt_graph graph;
  const char *graph_text; /* of --graph, NULL: none */
  const char *map;        /* text of --groups, NULL: none */
  int64_t node_count;     /* of --nodes, 0: none */
  const char *params;     /* text or preset; "all" */
  const char *svg, *dot;  /* paths, NULL: none; "-": standard output */
  bool text;              /* print the plans of all ranks only, as text */
  int64_t text_rank;      /* print this rank's plan only; -1: no */
  bool composition;       /* print the composition only */
  bool publish;           /* the innermost level offers streams with several readers */
  bool models;            /* rates or sizes of a model were given */
  bool alloc;             /* buffers are of tutti_alloc */
  bool by_rank;           /* how it goes, of each rank */
  bool measure;           /* rates of this machine, before those of `model` */
  char model[PLAN_MODEL]; /* changes of the usual rates */
  int64_t size[PLAN_SIZES];
  int size_count; /* 0: none was named */
  tt_arena arena; /* of the graph */
} plan_options;

/* 0: go on; 1: help was printed; -1: an error was printed. plan_options_finish is called afterwards in any case. */
int plan_options_parse(int argc, char **argv, plan_options *options);
void plan_options_finish(plan_options *options);

/* "4x4": a periodic grid, each rank with an edge to either side in each dimension; else a file of edges, a line each:
 * "0 1" from rank 0 to rank 1. rank_count 0: as many as the text says. In the arena. */
tutti_status plan_graph_read(const char *text, int64_t rank_count, tt_arena *arena, tt_graph *graph);

/* Plans of the ranks that are looked at: all, or an evenly spaced sample where they are many or large. */
typedef struct plan_work {
  const plan_options *options;
  tt_arena arena;
  tt_topo *topo;
  tt_sim_model model; /* the usual rates, changed by the options' */
  tt_composition composition;
  tt_owners owners; /* of the composition's blocks, with `even` */
  tt_params params;
  tt_lowering *lowering;
  tt_plan **plan;
  int64_t plan_count;
} plan_work;

/* `params` instead of the options'. plan_work_close is always called afterwards. */
tutti_status plan_work_open(const plan_options *options, const char *params, plan_work *work);
/* Compiles at most so many ranks, but at least a few, and all where they have few steps. */
tutti_status plan_work_lower(plan_work *work, int64_t most_ranks);
void plan_work_close(plan_work *work);
bool plan_work_is_whole(const plan_work *work); /* all ranks are compiled */
/* Modelled time for n bytes. TUTTI_ERR_UNSUPPORTED where that would take too long to find out. */
tutti_status plan_work_cost(const plan_work *work, int64_t bytes, double *time_ns);

/* What n stands for, in plan blocks, and in words. */
int64_t plan_unit_blocks(const plan_work *work);
const char *plan_unit_text(const plan_work *work);
/* So many blocks as a multiple of n: "1.75". */
void plan_unit_format(const plan_work *work, int64_t blocks, char text[static 32]);

/* What the busiest rank sends or receives, and the shortest text of a time: "1.25 us". */
tt_plan_counts plan_busiest(const plan_work *work);
void plan_format_time(double time_ns, char text[static 32]);

tutti_status plan_report_print(const plan_work *work);
/* How what ranks send goes, in a call of n = `bytes`. */
tutti_status plan_media_print(const plan_work *work, int64_t bytes);

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
tutti_status plan_rank_print(const plan_options *options);
/* Rates between two ranks on this machine, as text of a model. */
tutti_status plan_measure(char text[static PLAN_MODEL]);

/* "2-nomial, xor, far" */
void plan_level_text(const tt_level_params *level, char *text, size_t size);
/* "allreduce, 8 ranks on 2 nodes" */
void plan_title(const plan_work *work, char *text, size_t size);
tutti_status plan_picture_write(const plan_work *work);

#endif
