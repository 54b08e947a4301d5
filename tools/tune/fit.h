/* tools/tune/fit.h - the rates of this machine, from messages between two ranks and from kernels of one. */
#ifndef TUTTI_TOOLS_TUNE_FIT_H
#define TUTTI_TOOLS_TUNE_FIT_H

#include "kernels.h"

#include "tune/tune.h"

#include <tutti/tutti.h>

#define FIT_ROUNDS 9

/* What was measured, and what it came to. */
typedef struct tune_fit {
  tt_fit fit;
  tt_fit_facts facts;
  tt_probe probe[2 * TT_PROBES_MOST];
  tt_probe_time time[2 * TT_PROBES_MOST];
  int probe_count;
  int64_t read_bytes;            /* 0: none are */
  tune_gamma gamma[TUNE_GAMMAS]; /* of rank 0 */
} tune_fit;

/* All ranks of comm together; words: the same ranks, to tell each other. The same result on all. says: this rank tells
 * people how far it is. */
tutti_status tune_fit_measure(tutti_comm *comm, tutti_comm *words, bool says, tune_fit *out);
void tune_fit_print(const tune_fit *of);

#endif
