/* bind/bind.h - from a plan to what runs: which media may carry each block, in which order cells are read, what has to
 * be released. Pure: plan, class of the blocks and abilities of the machine are all that it sees. */
#ifndef TT_BIND_BIND_H
#define TT_BIND_BIND_H

#include "plan/plan.h"

typedef struct tt_bind_facts {
  tt_class blocks;
  tt_media able;          /* media that machine and user allow; a stream's own slots always are */
  bool wide;              /* runs combine in a wider type; not in cells */
  const int64_t *machine; /* of each rank of the plan; borrowed; NULL: all are on one */
} tt_bind_facts;

/* plan: borrowed by the bound plan. TUTTI_ERR_PLAN where cells are asked for and a rank sends what it did not have at
 * the start. Cost: O(steps + blocks), and a sort of the steps where cells are admitted. */
tutti_status tt_bind(const tt_plan *plan, const tt_bind_facts *facts, tt_bound_plan **bound);

#endif
