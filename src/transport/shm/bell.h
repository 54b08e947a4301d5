/* transport/shm/bell.h - sleeping and waking: one doorbell a rank.
 *
 * A sleeper first announces itself and returns to the engine, which looks at everything once more; only the next wait,
 * if nobody rang in between, sleeps. Writers look at the announcement after each commit:
 *
 *     sleeper   sleeping = 1; membarrier; look at the streams         writer   commit; look at `sleeping`
 *
 * Either the writer sees the announcement or the sleeper sees the commit. The membarrier orders the writer's two
 * accesses for it, so that a commit costs no fence. Where the system has none, sleeps are short instead. A rank killed
 * between its commit and its ring delays the sleeper by one sleep's length at most. */
#ifndef TT_TRANSPORT_SHM_BELL_H
#define TT_TRANSPORT_SHM_BELL_H

#include "transport/shm/segment.h"

/* Makes this process one whose accesses tt_shm_sleep orders; false: not possible here. */
bool tt_shm_bell_register(void);
/* Announces, or sleeps when announced already, at most `timeout_ns`. */
void tt_shm_sleep(tt_shm_head *head, tt_shm_rank *own, int64_t timeout_ns);
/* Takes the announcement, if there is one, and rings. */
void tt_shm_ring_bell(tt_shm_rank *rank);

/* After a store that `rank` may wait for. Pairs with the membarrier of tt_shm_sleep. */
static inline void tt_shm_wake(tt_shm_rank *rank) {
  atomic_signal_fence(memory_order_seq_cst);
  if (__builtin_expect(atomic_load_explicit(&rank->sleeping, memory_order_relaxed) != 0, 0))
    tt_shm_ring_bell(rank);
}

#endif
