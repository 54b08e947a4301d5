/* tools/plan/options.h - the command line of `tutti plan`. */
#ifndef TUTTI_TOOLS_PLAN_OPTIONS_H
#define TUTTI_TOOLS_PLAN_OPTIONS_H

#include "compose/compose.h"
#include "tools/shared/shared.h"
#include "topo/topo.h"

#define PLAN_SIZES 8
#define PLAN_MODEL 2048
#define PLAN_ALSO 4
#define PLAN_SWITCHES 3
#define PLAN_BYTES_MOST ((int64_t)1 << 40) /* of a call */

/* A call that goes on at the same time, on another communicator of the same ranks. */
typedef struct plan_also {
  tt_problem problem;
  const char *params;
  int64_t bytes; /* 0: as many as the call beside it */
  double at_ns;  /* when ranks make it */
} plan_also;

typedef struct plan_options {
  const char *command;    /* that was called, for errors */
  const char *collective; /* its name */
  tt_problem problem;
  tt_graph graph;
  const char *graph_text; /* of --graph, NULL: none */
  const char *map;        /* text of --groups, NULL: none */
  int64_t node_count;     /* of --nodes, 0: none */
  struct {
    int64_t count[PLAN_SWITCHES]; /* of --switches, the outermost first */
    int levels;
  } switches;
  bool as_job;        /* levels are those of a job: "node" is always there */
  tt_topo *topo;      /* instead of all these; NULL: none; borrowed */
  const char *params; /* text or preset; "all" */
  struct {
    const char *svg, *dot; /* paths, NULL: none; "-": standard output */
  } picture;
  struct {
    bool text;            /* the plans of all ranks */
    bool composition;     /* the composition */
    bool json;            /* sizes and times, for programs */
  } only;                 /* this is printed, and nothing else */
  int64_t text_rank;      /* print this rank's plan only; -1: no */
  bool publish;           /* the innermost level offers streams with several readers */
  bool models;            /* modelled times are wanted, or counts of all ranks */
  bool alloc;             /* buffers are of tutti_alloc */
  bool by_rank;           /* how it goes, of each rank */
  bool measure;           /* rates of this machine, before those of `model` */
  char model[PLAN_MODEL]; /* changes of the usual rates */
  struct {
    plan_also call[PLAN_ALSO];
    int count;
  } also;
  int64_t size[PLAN_SIZES];
  int size_count; /* 0: none was named */
  tt_arena arena; /* of the graph */
} plan_options;

/* 0: go on; 1: help was printed; -1: an error was printed. plan_options_finish is called afterwards in any case. */
int plan_options_parse(int argc, char **argv, plan_options *options);
void plan_options_finish(plan_options *options);

/* ---- subject.c: which collective, on which ranks, on what machine. For all commands that ask for it: their options
 * begin with a plan_options ---- */

/* Rows of its table of options. */
#define PLAN_SUBJECT_ROWS                                                                                              \
  {NULL, 'n', TOOL_TAKE, 0, plan_take_ranks}, {"nodes", 0, TOOL_TAKE, 0, plan_take_nodes},                             \
      {"groups", 0, TOOL_TEXT, offsetof(plan_options, map), NULL}, {"root", 0, TOOL_TAKE, 0, plan_take_root},          \
      {"graph", 0, TOOL_TEXT, offsetof(plan_options, graph_text), NULL},                                               \
      {"in-place", 0, TOOL_SET, offsetof(plan_options, problem.in_place), NULL},                                       \
      {"ordered", 0, TOOL_SET, offsetof(plan_options, problem.ordered), NULL},                                         \
      {"no-publish", 0, TOOL_CLEAR, offsetof(plan_options, publish), NULL},                                            \
      {"publish", 0, TOOL_SET, offsetof(plan_options, publish), NULL}, /* as it is anyway */                           \
      {"alpha", 0, TOOL_TAKE, 0, plan_take_alpha}, {"beta", 0, TOOL_TAKE, 0, plan_take_beta},                          \
      {"gamma", 0, TOOL_TAKE, 0, plan_take_gamma}, {                                                                   \
    "model", 0, TOOL_TAKE, 0, plan_take_model                                                                          \
  }

int plan_take_collective(void *options, const char *name);
int plan_take_ranks(void *options, const char *text);
int plan_take_nodes(void *options, const char *text);
int plan_take_root(void *options, const char *text);
int plan_take_alpha(void *options, const char *time);
int plan_take_beta(void *options, const char *rate);
int plan_take_gamma(void *options, const char *rate);
int plan_take_model(void *options, const char *text);

/* Before the options are read; plan_options_finish is called afterwards in any case. */
void plan_subject_init(const char *command, plan_options *options);
/* Once they are: what goes together, and what follows from it. 0, or TOOL_WRONG after an error was printed. */
int plan_subject_check(plan_options *options);

/* also.c: --also */
int plan_take_also(void *options, const char *text);
int plan_also_check(plan_options *options); /* once it is known how many ranks there are */

void plan_print_collectives(FILE *out);
int plan_read_number(const plan_options *options, const char *name, const char *text, int64_t least, int64_t *number);

#endif
