/* transport/streams/numbers.h - sets of packets' numbers: all up to one, and a few ranges beyond it, since rails
 * overtake each other. */
#ifndef TT_TRANSPORT_STREAMS_NUMBERS_H
#define TT_TRANSPORT_STREAMS_NUMBERS_H

#include "base/base.h"

typedef struct tt_streams_range {
  uint64_t first, last;
} tt_streams_range;

typedef struct tt_streams_numbers {
  uint64_t all;            /* 1 .. all are in */
  tt_streams_range *range; /* ascending, with gaps between, the first one after `all` too */
  size_t count, size;
} tt_streams_numbers;

#define TT_STREAMS_RANGES 65536 /* at most: more are an enemy's */

bool tt_streams_numbers_has(const tt_streams_numbers *numbers, uint64_t number);
/* first <= last. TUTTI_ERR_MEMORY: none, or too many ranges. */
tutti_status tt_streams_numbers_add(tt_streams_numbers *numbers, uint64_t first, uint64_t last);
void tt_streams_numbers_finish(tt_streams_numbers *numbers);

#endif
