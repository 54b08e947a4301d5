/* transport/loop/loop.h - all ranks of a job inside one process: the transport of the tests.
 *
 * Two modes. Scheduled: one thread steps all ranks, and a seeded random number decides when a committed slot becomes
 * visible to each reader and when a reserve is refused, so that a seed stands for one interleaving and can be replayed;
 * released slots are overwritten, so that late readers are found out. Threads: each rank has its own thread, nothing is
 * delayed.
 *
 *     tt_loop_create -> for each rank: ops->open with a tt_loop_config -> ... -> ops->close -> tt_loop_destroy */
#ifndef TT_TRANSPORT_LOOP_LOOP_H
#define TT_TRANSPORT_LOOP_LOOP_H

#include "base/base.h"

#include <tutti/transport.h>

typedef struct tt_loop tt_loop;

typedef struct tt_loop_options {
  int64_t rank_count;
  size_t slot_bytes; /* of every stream; a stream that asks for more gets more */
  size_t slot_count; /* of every stream, >= 1 */
  bool threads;      /* else scheduled */
  uint64_t seed;     /* of the schedule */
} tt_loop_options;

typedef struct tt_loop_config { /* what ops->open takes */
  tt_loop *loop;
  int64_t rank;
} tt_loop_config;

tutti_status tt_loop_create(const tt_loop_options *options, tt_loop **loop);
/* After every rank has closed. Accepts NULL. */
void tt_loop_destroy(tt_loop *loop);
const tutti_transport_ops *tt_loop_ops(void);

/* Scheduled mode: the schedule's next choice among `limit`, for the order in which ranks are stepped. */
uint64_t tt_loop_pick(tt_loop *loop, uint64_t limit);
/* From now on `rank` counts as dead: its peers' progress returns TUTTI_ERR_PEER. */
void tt_loop_kill(tt_loop *loop, int64_t rank);

#endif
