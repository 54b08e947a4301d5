/* transport/tcp/numbers.h - sets of letters' numbers: all up to one, and a few ranges beyond it, since rails overtake
 * each other. */
#ifndef TT_TRANSPORT_TCP_NUMBERS_H
#define TT_TRANSPORT_TCP_NUMBERS_H

#include "base/base.h"

typedef struct tt_tcp_range {
  uint64_t first, last;
} tt_tcp_range;

typedef struct tt_tcp_numbers {
  uint64_t all;        /* 1 .. all are in */
  tt_tcp_range *range; /* ascending, with gaps between, the first one after `all` too */
  size_t count, size;
} tt_tcp_numbers;

#define TT_TCP_RANGES 65536 /* at most: more are an enemy's */

bool tt_tcp_numbers_has(const tt_tcp_numbers *numbers, uint64_t number);
/* first <= last. TUTTI_ERR_MEMORY: none, or too many ranges. */
tutti_status tt_tcp_numbers_add(tt_tcp_numbers *numbers, uint64_t first, uint64_t last);
void tt_tcp_numbers_finish(tt_tcp_numbers *numbers);

#endif
