/* exec/stopwatch.h - where the time of a run goes, while somebody wants to know (tt_stream_table_watch).
 *
 *     look        moved  look      wait            look       came  moved
 *      |  moving    |      |         nothing goes    | waiting   |  moving |
 *
 * Spans between these marks never overlap, so that their sum is at most the time of the calls. All of it is behind a
 * test of stopwatch->spent, once for each piece of data and not within. */
#ifndef TT_EXEC_STOPWATCH_H
#define TT_EXEC_STOPWATCH_H

#include "exec/exec.h"

/* A copy within the rank's own memory belongs to no level of the plan. */
#define TT_OWN_LEVEL TT_PLAN_LEVELS

typedef struct tt_stopwatch { /* of one run after the other */
  tt_spent *spent;            /* NULL: nobody wants to know */
  const tt_plan *plan;
  int64_t look_ns, idle_ns; /* the last mark; since when nothing goes, 0: it does */
  uint8_t sent_level;       /* of what was sent last */
  bool sent_far;
  uint8_t row[TT_OWN_LEVEL + 1][2]; /* 1 + of spent->level, by level and whether it is far; 0: not known yet */
} tt_stopwatch;

/* A run of the plan begins. */
void tt_stopwatch_begin(tt_stopwatch *stopwatch, tt_spent *spent, const tt_plan *plan);
/* The rank looks whether it can go on. */
void tt_stopwatch_look(tt_stopwatch *stopwatch);
/* It cannot. */
void tt_stopwatch_idle(tt_stopwatch *stopwatch);
/* What it has waited for has come: of that level, and from another machine or not. */
void tt_stopwatch_came(tt_stopwatch *stopwatch, uint8_t level, bool far);
/* It has copied, combined, sent or received something of that level since. Also says that this had come. */
void tt_stopwatch_moved(tt_stopwatch *stopwatch, uint8_t level, bool far);
/* The same of something that was sent. */
void tt_stopwatch_sent(tt_stopwatch *stopwatch, uint8_t level, bool far);
/* The run is complete: what it waited for at the end was that others take what it has sent. */
void tt_stopwatch_end(tt_stopwatch *stopwatch);

#endif
