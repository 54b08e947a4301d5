/* tools/tune/check.h - how well a fit predicts: candidates of the space, predicted and measured. */
#ifndef TUTTI_TOOLS_TUNE_CHECK_H
#define TUTTI_TOOLS_TUNE_CHECK_H

#include "ranks.h"
#include "score.h"

/* A cell: prints a row. detail: and one for each candidate. budget_ns: about so long. */
tutti_status tune_check_cell(tune_ranks *all, const tt_sim_rates *rates, const tt_task *task, int64_t budget_ns,
                             bool detail, tune_score *score);

#endif
