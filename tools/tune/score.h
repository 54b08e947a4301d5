/* tools/tune/score.h - how well a fit predicts: of a cell, and of some cells against what is asked of it.
 *
 *     from from_bytes on          half of the predictions are at most 20 % off
 *     in shorter cells            the correlation of ranks (Spearman's) is at least 0.7 in half of them
 *     in 95 % of all cells        one of the first by prediction takes at most 1.05 times as long as the best */
#ifndef TUTTI_TOOLS_TUNE_SCORE_H
#define TUTTI_TOOLS_TUNE_SCORE_H

#include <tutti/tutti.h>

#include <stdint.h>

typedef struct tune_score {
  int64_t from_bytes;  /* INT64_MAX: no cell is that long */
  int64_t cells, held; /* held: one of the first was nearly the best */
  double *error;       /* |log (predicted / measured)| of every candidate of cells that long */
  double *again;       /* the same of each of them between two measurements, over other memory */
  double *rank;        /* correlation of each shorter cell */
  int64_t errors, ranks;
} tune_score;

typedef struct tune_cell_score {
  double error, correlation; /* error: the median |log (predicted / measured)| */
  double first;              /* the best of the first by prediction, to the best of all; measured again */
} tune_cell_score;

/* Of so many candidates; all but `first`. */
tutti_status tune_score_cell(const double *predicted, const double *measured, int64_t count, tune_cell_score *cell);
/* place: measured over some memory, and over other memory. */
tutti_status tune_score_add(tune_score *score, int64_t bytes, const double *predicted, const double *measured,
                            const double *const place[2], int64_t count, const tune_cell_score *cell);
void tune_score_print(const tune_score *score);
void tune_score_finish(tune_score *score);

#endif
