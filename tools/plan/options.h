/* tools/plan/options.h - the command line of `tutti plan`. */
#ifndef TUTTI_TOOLS_PLAN_OPTIONS_H
#define TUTTI_TOOLS_PLAN_OPTIONS_H

#include "compose/compose.h"

#define PLAN_SIZES 8
#define PLAN_MODEL 512

typedef struct plan_options {
  const char *collective; /* its name */
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

#endif
