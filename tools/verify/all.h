/* tools/verify/all.h - the proof of all ranks' plans, and of what runs of them. */
#ifndef TUTTI_TOOLS_VERIFY_ALL_H
#define TUTTI_TOOLS_VERIFY_ALL_H

#include "verify/verify.h"

/* plan[r] is rank r's. machine: of each rank; NULL: one for all. */
tutti_status verify_all_plans(const tt_meaning *meaning, tt_plan *const *plan, const int64_t *machine);

#endif
