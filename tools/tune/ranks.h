/* tools/tune/ranks.h - the ranks of `tutti tune`: rank 0 leads, the others do what it says.
 *
 *     all ranks      wait for GROUP r          sleep where they are not in it
 *     ranks 0..r-1   wait for CELL, RENEW, TRY, LOAD, FIT, LEAVE
 *
 * What is said and what is measured go over communicators of their own. */
#ifndef TUTTI_TOOLS_TUNE_RANKS_H
#define TUTTI_TOOLS_TUNE_RANKS_H

#include "bench/invoke.h"
#include "bench/layout.h"
#include "fit.h"
#include "load.h"

#define TUNE_TEXT 512   /* of parameters */
#define TUNE_TURNS (-1) /* roots take turns, over all calls */

typedef enum tune_verb {
  TUNE_GROUP,
  TUNE_CELL,
  TUNE_RENEW,
  TUNE_TRY,
  TUNE_LOAD,
  TUNE_FIT,
  TUNE_LEAVE,
  TUNE_END
} tune_verb;

typedef struct tune_command {
  int32_t verb;
  int32_t collective;     /* CELL */
  int64_t count;          /* GROUP: of ranks; CELL: bytes; TRY: calls of a batch */
  int64_t batches;        /* TRY */
  int64_t root;           /* TRY: of the first call; TUNE_TURNS */
  int32_t apart;          /* TRY: a barrier before each call */
  char params[TUNE_TEXT]; /* TRY; "": what the profile chooses */
} tune_command;

typedef struct tune_ranks {
  tutti_context *context;
  tutti_comm *world;  /* all ranks */
  tutti_comm *words;  /* the group: what rank 0 says */
  tutti_comm *target; /* the group: what is measured */
  int64_t rank, size; /* of all */
  int64_t group_size; /* 0: this rank is in no group */
  tt_collective collective;
  bench_layout layout;
  void *in, *out;
  bench_arguments call;
  bool rooted;
  bool root_keeps; /* the root's `in` is its `out`, the others have none */
  int64_t calls;   /* so far: whose turn it is to be root */
  int64_t tries;   /* on this target; of rank 0 */
} tune_ranks;

/* Of this process. tune_ranks_close is called afterwards in any case. */
tutti_status tune_ranks_open(tune_ranks *all);
void tune_ranks_close(tune_ranks *all);

/* All ranks but 0: until rank 0 says that it is over. */
tutti_status tune_ranks_serve(tune_ranks *all);

/* ---- rank 0 ---- */
tutti_status tune_lead_group(tune_ranks *all, int64_t count); /* from now on, ranks 0 .. count - 1 */
tutti_status tune_lead_leave(tune_ranks *all);
tutti_status tune_lead_end(tune_ranks *all);
/* The next tries are of that task, over buffers allocated anew. */
tutti_status tune_lead_cell(tune_ranks *all, const tt_task *task);
/* Whether the group's ranks share the cores of one machine. They would run ahead into the next calls at times, and at
 * others not: so each of their calls stands behind a barrier. */
bool tune_ranks_apart(const tune_ranks *all);
/* Of a batch, where a call takes about so long. */
int64_t tune_ranks_least_calls(const tune_ranks *all, double call_ns);
/* How many calls of what the profile chooses make a batch of that time; and what such a call takes. */
tutti_status tune_lead_calibrate(tune_ranks *all, int64_t batch_ns, int64_t *calls, double *call_ns);
/* The time of a call, in ns: the median of so many batches, each that of its slowest rank; where calls are apart, that
 * of all batches' single calls, from the first rank's beginning to the last one's end. TUTTI_ERR_PLAN: the parameters
 * make no plan here; any other error is the end. */
tutti_status tune_lead_try(tune_ranks *all, const char *params, int64_t root, int64_t calls, int64_t batches,
                           double *time_ns);

/* The rates between the group's ranks. says: how far it is. */
tutti_status tune_lead_fit(tune_ranks *all, bool says, tune_fit *fit);
/* Of all machines of the group. */
tutti_status tune_lead_load(tune_ranks *all, tune_load *load);

#endif
