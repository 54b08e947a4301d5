/* tools/tune/check.h - how well a fit predicts: candidates of the space, predicted and measured. */
#ifndef TUTTI_TOOLS_TUNE_CHECK_H
#define TUTTI_TOOLS_TUNE_CHECK_H

#include "ranks.h"

/* How well it did in some cells. */
typedef struct tune_score {
  int64_t cells, held; /* held: one of the first of the prediction was nearly the best */
  double *error;       /* |log (predicted / measured)| of every candidate */
  double *rank;        /* correlation of each cell */
  int64_t errors;
} tune_score;

/* A cell: prints a row. detail: and one for each candidate. budget_ns: about so long. */
tutti_status tune_check_cell(tune_ranks *all, const tt_sim_rates *rates, const tt_task *task, int64_t budget_ns,
                             bool detail, tune_score *score);
void tune_score_print(tune_score *score);
void tune_score_finish(tune_score *score);

#endif
