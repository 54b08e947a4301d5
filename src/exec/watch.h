/* exec/watch.h - where the time of a run goes, while somebody wants to know (tt_link_watch).
 *
 *     look        moved  look      wait            look       came  moved
 *      |  moving    |      |         nothing goes    | waiting   |  moving |
 *
 * Spans between these marks never overlap, so that their sum is at most the time of the calls. All of it is behind a
 * test of watch->spent, once for each piece of data and not within. */
#ifndef TT_EXEC_WATCH_H
#define TT_EXEC_WATCH_H

#include "exec/exec.h"

/* A copy within the rank's own memory belongs to no level of the plan. */
#define TT_OWN_LEVEL TT_PLAN_LEVELS

typedef struct tt_watch { /* of one run after the other */
  tt_spent *spent;        /* NULL: nobody wants to know */
  const tt_plan *plan;
  int64_t look_ns, idle_ns; /* the last mark; since when nothing goes, 0: it does */
  uint8_t sent_level;       /* of what was sent last */
  bool sent_far;
  uint8_t row[TT_OWN_LEVEL + 1][2]; /* 1 + of spent->level, by level and whether it is far; 0: not known yet */
} tt_watch;

/* A run of the plan begins. */
void tt_watch_begin(tt_watch *watch, tt_spent *spent, const tt_plan *plan);
/* The rank looks whether it can go on. */
void tt_watch_look(tt_watch *watch);
/* It cannot. */
void tt_watch_wait(tt_watch *watch);
/* What it has waited for has come: of that level, and from another machine or not. */
void tt_watch_came(tt_watch *watch, uint8_t level, bool far);
/* It has copied, combined, sent or received something of that level since. Also says that this had come. */
void tt_watch_moved(tt_watch *watch, uint8_t level, bool far);
/* The same of something that was sent. */
void tt_watch_sent(tt_watch *watch, uint8_t level, bool far);
/* The run is complete: what it waited for at the end was that others take what it has sent. */
void tt_watch_end(tt_watch *watch);

#endif
