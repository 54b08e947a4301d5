/* exec/shares.h - where in a cell a block travels whose length only its two ends know: layout.c says why. */
#ifndef TT_EXEC_SHARES_H
#define TT_EXEC_SHARES_H

#include "exec/cells.h"

#include <assert.h>

#define TT_DIRECT_TAG 4

typedef struct tt_direct_spot { /* of a block on its way */
  bool streams;                 /* it goes through a stream of the instance; else: */
  bool near;                    /* in the line that readers wait for, else in data */
  bool tagged;                  /* TT_DIRECT_TAG bytes before it say of which call, which block and how long it is */
  int64_t at;                   /* offset there */
} tt_direct_spot;

typedef struct tt_shares { /* what one rank has for another */
  int32_t peer;
  int64_t near, far;             /* bytes used so far */
  int64_t near_begin, far_begin; /* of the reader's share */
  int64_t near_bytes, far_bytes; /* of a share */
} tt_shares;

/* area_bytes: of the longest data of a call. */
static inline tt_shares tt_shares_begin(int64_t rank_count, int64_t area_bytes) {
  assert(rank_count > 0 && area_bytes >= 0);
  return (tt_shares){
      .peer = -1, .near_bytes = TT_CELL_INLINE / rank_count & ~3, .far_bytes = area_bytes / rank_count & ~63};
}

/* From now on what is for `reader`, to or from `peer`. */
static inline void tt_shares_turn(tt_shares *of, int32_t peer, int64_t reader) {
  if (of->peer == peer)
    return;
  of->peer = peer;
  of->near = of->far = 0;
  of->near_begin = reader * of->near_bytes;
  of->far_begin = reader * of->far_bytes;
}

static inline tt_direct_spot tt_shares_next(tt_shares *of, int64_t bytes) {
  assert(of->peer >= 0 && bytes > 0); /* each move has its two ends */
  int64_t all = TT_DIRECT_TAG + bytes;
  if (all <= of->near_bytes - of->near) {
    of->near += all;
    return (tt_direct_spot){.near = true, .tagged = true, .at = of->near_begin + of->near - bytes};
  }
  if (all <= of->far_bytes - of->far) {
    of->far += all;
    return (tt_direct_spot){.tagged = true, .at = of->far_begin + of->far - bytes};
  }
  return (tt_direct_spot){.streams = true};
}

#endif
