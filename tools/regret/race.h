/* tools/regret/race.h - measures one task: all that its space holds, then the best of it and the choices. */
#ifndef TUTTI_TOOLS_REGRET_RACE_H
#define TUTTI_TOOLS_REGRET_RACE_H

#include "result.h"

typedef struct regret_outcome {
  bool done;      /* before the time was over; else the result is of no use */
  bool disturbed; /* by other programs */
  double others;  /* processors that these used meanwhile */
} regret_outcome;

/* result: has its region and what the choosers say, and gets the rest. */
tutti_status regret_race(tune_ranks *all, const tt_task *task, int64_t until_ns, regret_result *result,
                         regret_outcome *outcome);

#endif
