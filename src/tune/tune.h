/* tune/tune.h - which parameters a call runs with: rules of a profile, one for each region of calls. */
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

/* The text of profiles/default.json, put into the library by the build. */
extern const char tt_profile_shipped[];

#endif
