/* lower/touch.h - which primitives of a family can touch one rank, without walking all of them. */
#ifndef TT_LOWER_TOUCH_H
#define TT_LOWER_TOUCH_H

#include "lower/walk.h"

typedef struct tt_touch {
  const tt_walk *walk;
  int64_t me;
  int64_t i, j; /* the next to look at */
  bool every;   /* each primitive has many ends: look at all */
  bool marks;   /* one root along j: ends are marked at once, in a row of bits */
  bool all;     /* the row: every end */
  uint64_t *row;
} tt_touch;

/* Begins with the primitives of walk->family, in its arena. */
tt_touch tt_touch_begin(const tt_walk *walk, int64_t me);
/* The next primitive that may have edges at the rank, or begin and end there; i first, then j, ascending. */
bool tt_touch_next(tt_touch *touch, int64_t *i, int64_t *j);

#endif
