/* tools/topo/calls.h - the calls that ranks are placed for. */
#ifndef TUTTI_TOOLS_TOPO_CALLS_H
#define TUTTI_TOOLS_TOPO_CALLS_H

#include "tools/plan/options.h"

typedef struct topo_place_options {
  const plan_options *plan; /* collective, ranks and nodes, model */
  const char *size;         /* of the collective; NULL: 1M */
  const char *stats;        /* the file of a job's statistics instead; NULL: none */
  const char *write;        /* a file for the best placement; NULL: none */
} topo_place_options;

typedef struct topo_call {
  tt_problem problem;
  const char *params; /* NULL: what the shipped profile has */
  int64_t bytes;
  double count; /* how often it is made */
} topo_call;

typedef struct topo_calls {
  topo_call *call;
  int64_t count;
  int64_t rank_count;
  const char *title, *left_out; /* for people; left_out "": nothing */
} topo_calls;

/* How many ranks a file of statistics is of. */
tutti_status topo_stats_ranks(const char *path, int64_t *rank_count);
/* In the arena. */
tutti_status topo_calls_make(const topo_place_options *options, tt_arena *arena, topo_calls *calls);

#endif
