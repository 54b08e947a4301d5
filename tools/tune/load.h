/* tools/tune/load.h - what other programs take of the processors while something is measured. What is measured beside
 * them is what suits them: another machine. */
#ifndef TUTTI_TOOLS_TUNE_LOAD_H
#define TUTTI_TOOLS_TUNE_LOAD_H

#include "base/base.h"

/* Of a rank and its machine, or of all of a group, since they began. */
typedef struct tune_load {
  int64_t boot_s;  /* when the machine was started; of a sum: 0 */
  int64_t used_ns; /* of the processors, by anybody; interrupts aside */
  int64_t own_ns;  /* by the ranks */
  int64_t cores;
  int64_t time_ns; /* of this process's clock */
} tune_load;

/* This rank's. Where the system does not tell, used_ns is 0. */
tune_load tune_load_of_rank(void);
/* Of all ranks; the time is that of rank 0. */
tune_load tune_load_sum(const tune_load *of, int64_t ranks);
/* Processors that others used from one sum to the next, such as 1.3. */
double tune_load_others(const tune_load *begin, const tune_load *end);
/* Those that they used were not idle otherwise. */
bool tune_load_disturbs(double others, int64_t cores, int64_t ranks);

/* Whether so many ranks of this machine have no core each. */
bool tune_load_shares_cores(int64_t ranks);

#endif
