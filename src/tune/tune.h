/* tune/tune.h - which parameters a call runs with: rules of a profile, one for each region of calls; and all that it
 * could run with, the space. */
#ifndef TT_TUNE_TUNE_H
#define TT_TUNE_TUNE_H

#include "compose/compose.h"
#include "lower/lower.h"

/* What a choice may depend on: facts that all ranks know. */
typedef struct tt_region {
  tt_collective collective;
  int64_t bytes; /* of the whole vector; INT64_MAX: not all ranks know */
  int64_t rank_count, node_count;
  int64_t ranks_per_node; /* of the largest node */
  int64_t nic_count;      /* between nodes, of the node with the fewest; 0: unknown, as with a user's transport */
} tt_region;

typedef struct tt_rule {
  tt_collective collective;
  int64_t bytes_max;            /* INT64_MAX: any */
  int64_t ranks_min, ranks_max; /* inclusive */
  int64_t nodes_min, nodes_max;
  int64_t each_min, each_max; /* ranks of the largest node */
  int64_t nics_min, nics_max; /* an unknown number is taken for 1 */
  char *text;
  tt_params params;
  int64_t line; /* number of the rule in its file, from 1; for explanations */
} tt_rule;

typedef struct tt_profile {
  char *name;
  tt_rule *rule;
  int64_t rule_count;
  uint64_t hash; /* of the file's text: equal on ranks that read the same */
} tt_profile;

/* path NULL or "": the profile that is shipped. Errors name the file, the rule and what is wrong with it. */
tutti_status tt_profile_open(const char *path, tt_profile **profile);
void tt_profile_close(tt_profile *profile);
/* The first rule whose region holds it; NULL where none does. */
const tt_rule *tt_profile_find(const tt_profile *profile, const tt_region *region);

/* ---- the space: the parameters that a call could run with ---- */

/* What parameters are wanted for. Only what all ranks know. */
typedef struct tt_task {
  tt_problem problem; /* owners: NULL */
  const tt_topo *topo;
  int64_t bytes;       /* of the whole vector */
  int64_t slot_bytes;  /* of a stream: no slice is longer */
  int64_t cells_bytes; /* calls up to so long run in cells, which know no slices */
  int64_t read_bytes;  /* a block from this length on may be read where it lies; 0: none */
} tt_task;

typedef struct tt_candidate {
  const char *text;
  uint64_t identity; /* of what all ranks do: candidates of one identity run alike */
} tt_candidate;

/* The candidates of a task, each of another identity. */
typedef struct tt_candidates {
  tt_candidate *candidate;
  int64_t count;
  int64_t tried;   /* texts */
  int64_t refused; /* of them: they make no plan for this task */
  tt_arena arena;
} tt_candidates;

/* Every text that the generator has and that the compiler takes, in a fixed order. The first of those that run alike is
 * kept. TUTTI_ERR_MEMORY only; tt_candidates_finish is called afterwards in any case. Cost: a compilation of all ranks' plans,
 * or of a sample of many ranks, for each text but those that differ in slice and medium alone. */
tutti_status tt_candidates_make(const tt_task *task, tt_candidates *space);
void tt_candidates_finish(tt_candidates *space);
/* The same for a text from elsewhere. TUTTI_ERR_PLAN, with the reason, where it makes no plan. */
tutti_status tt_candidate_identify(const tt_task *task, const char *text, uint64_t *identity);

/* The text of profiles/default.json, put into the library by the build. */
extern const char tt_profile_shipped[];

#endif
