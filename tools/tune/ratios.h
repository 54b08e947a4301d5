/* tools/tune/ratios.h - when a candidate is faster than the reference: by more than chance, and by more than it takes
 * to be worth a change. Each ratio is the candidate's time over that of the reference beside it. */
#ifndef TUTTI_TOOLS_TUNE_RATIOS_H
#define TUTTI_TOOLS_TUNE_RATIOS_H

#include "bench/stats.h"

#include <stdbool.h>
#include <string.h>

#define TUNE_ROUNDS_MOST 24
#define TUNE_ROUNDS_LEAST 5
#define TUNE_GAIN 0.98 /* what is not faster than that is left as it is */
#define TUNE_BATCH_NS 200000

/* Of at least one. */
static inline double tune_ratios_median(const double *ratio, int count) {
  double copy[TUNE_ROUNDS_MOST + 1];
  memcpy(copy, ratio, (size_t)count * sizeof *copy);
  return bench_median(copy, count);
}

/* In three of four rounds, and in the median. */
static inline bool tune_ratios_win(const double *ratio, int count) {
  int faster = 0;
  for (int n = 0; n < count; n++)
    faster += ratio[n] < 1;
  return tune_ratios_median(ratio, count) < TUNE_GAIN && 4 * faster >= 3 * count;
}

#endif
