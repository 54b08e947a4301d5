/* tools/export/algorithm.h - the textbook's algorithm that parameters come nearest to. */
#ifndef TUTTI_TOOLS_EXPORT_ALGORITHM_H
#define TUTTI_TOOLS_EXPORT_ALGORITHM_H

#include "tune/tune.h"

typedef enum export_algorithm {
  EXPORT_LINEAR,
  EXPORT_CHAIN,
  EXPORT_RING,
  EXPORT_SEGMENTED_RING,
  EXPORT_EXCHANGE, /* neighbor exchange */
  EXPORT_BINARY,
  EXPORT_SPLIT_BINARY,
  EXPORT_BINOMIAL,
  EXPORT_KNOMIAL,
  EXPORT_BRUCK,
  EXPORT_DOUBLING, /* or halving */
  EXPORT_RABENSEIFNER,
  EXPORT_SCATTER_DOUBLING,
  EXPORT_SCATTER_RING,
  EXPORT_TWO_STEPS, /* through a root */
  EXPORT_ALGORITHM_COUNT
} export_algorithm;

typedef struct export_choice {
  export_algorithm algorithm;
  bool plain; /* the parameters say no more than that: one level, one channel, and no stripe or ring */
  int k;
  int64_t slice_bytes;
} export_choice;

const char *export_algorithm_name(export_algorithm algorithm);
/* false: this version has no such form, and jobs do not run it. */
bool export_choose(const tt_winner *winner, export_choice *choice);

#endif
