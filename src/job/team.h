/* job/team.h - what communicators of the same ranks in the same order share: where those ranks are, their topology, and
 * plans with what runs them. A communicator that is not the first of its ranks finds nothing out and compiles nothing.
 */
#ifndef TT_JOB_TEAM_H
#define TT_JOB_TEAM_H

#include "compose/compose.h"
#include "exec/exec.h"
#include "lower/lower.h"
#include "tune/tune.h"

#include <tutti/tutti.h>

/* What of a call its plan depends on. */
typedef struct tt_entry_key {
  tt_collective collective;
  int64_t root;
  bool in_place, ordered;
  const tutti_graph *graph;
} tt_entry_key;

/* A plan, and what it was made from. Immutable. */
typedef struct tt_compiled {
  tt_entry_key key;
  char *text;       /* of the parameters that were chosen */
  const char *runs; /* those that run: others where the chosen ones make no plan */
  int64_t channels; /* of those that run */
  bool wide;        /* acc=f32 */
  bool single_copy;
  bool refuted; /* the proof has failed */
  tt_composition composition;
  tt_plan *plan;
  tt_bound_plan *by_class[TT_CLASS_COUNT]; /* the plan bound for each class; NULL: not needed yet */
  tt_executor *spare[TT_CLASS_COUNT]; /* run the plan; of communicators that are gone, for the next one. NULL: none */
  int64_t uses;                       /* by communicators */
  struct tt_compiled *next;
} tt_compiled;

/* The choice that was made last for communicators whose user has decided nothing. */
typedef struct tt_choice_kept {
  int64_t bytes;
  tt_collective collective;
  bool ordered;
  tt_choice choice; /* text NULL: none was made */
} tt_choice_kept;

typedef struct tt_team {
  int64_t *job_rank; /* of each rank */
  int64_t size, rank;
  int64_t uses;     /* by communicators */
  bool ready;       /* what follows is there */
  bool *far;        /* [size]: on another machine */
  bool apart;       /* some are */
  int64_t *machine; /* of each rank; NULL: all are on one */
  int64_t head;     /* the lowest rank on this machine */
  const tutti_transport_ops *ops;
  void *transport;
  tt_topo *topo;
  tt_owners owners[TT_TOPO_LEVELS]; /* of blocks dealt evenly to a level's groups; block_count 0: not made yet */
  tt_arena arena;
  tt_choice_kept last_choice;
  tt_dispatch *dispatch;     /* winners of its shape; NULL: not made yet, or there is no wisdom */
  tt_outside_table *outside; /* of the library that was asked for last; NULL: none was */
  tt_compiled *compiled;     /* the newest first */
  int64_t compiled_count;
  uint64_t hash;         /* of the list of ranks */
  struct tt_team *other; /* with the same hash */
  struct tt_team **kept; /* its place among those that no communicator uses; NULL: some does */
} tt_team;

#define TT_TEAMS_KEPT 32 /* that no communicator uses */

typedef struct tt_teams {
  tt_index by_ranks; /* hash of the list -> teams */
  tt_team *kept[TT_TEAMS_KEPT];
  int64_t kept_next; /* whose place is taken next */
} tt_teams;

/* The team of these ranks, of which this one is number `rank`. NULL: no memory. */
tt_team *tt_team_get(tt_teams *teams, const int64_t *job_rank, int64_t size, int64_t rank);
void tt_team_put(tt_teams *teams, tt_team *team);
void tt_teams_finish(tt_teams *teams); /* nothing uses any */

/* One made before of that key and text; NULL: none. own: the user said so, and gets an error where no plan is made of
 * the text. */
tt_compiled *tt_team_find(const tt_team *team, const tt_entry_key *key, const char *text, bool own);
/* Keeps one that has no graph for other communicators of the team. */
void tt_team_keep(tt_team *team, tt_compiled *compiled);
/* Made with calloc; with all that it has. Accepts NULL. */
void tt_compiled_destroy(tt_compiled *compiled);

/* Of each class. */
void tt_executors_destroy(tt_executor **by_class); /* all become NULL */
void tt_bound_plans_destroy(tt_bound_plan **by_class);

#endif
