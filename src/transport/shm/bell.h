/* transport/shm/bell.h - sleeping and waking: one doorbell a rank.
 *
 * A sleeper first announces itself and returns to the engine, which looks at everything once more; only the next wait,
 * if nobody rang in between, sleeps. Writers look at the announcement after each commit:
 *
 *     sleeper   sleeping = 1; membarrier; look at the streams         writer   commit; look at `sleeping`
 *
 * Either the writer sees the announcement or the sleeper sees the commit. The membarrier orders the writer's two
 * accesses for it, so that a commit costs no fence. Where the system has none, sleeps are short instead. A rank killed
 * between its commit and its ring delays the sleeper by one sleep's length at most.
 *
 * The bell is a futex; for ranks that also wait for descriptors, which a futex cannot, it is a datagram socket, to
 * which others send a byte. Anyone in this network namespace could: then the rank looks around in vain. */
#ifndef TT_TRANSPORT_SHM_BELL_H
#define TT_TRANSPORT_SHM_BELL_H

#include "transport/shm/segment.h"

typedef enum tt_shm_bell { TT_SHM_AWAKE, TT_SHM_BELL_FUTEX, TT_SHM_BELL_SOCKET } tt_shm_bell;

/* Makes this process one whose accesses tt_shm_sleep orders; false: not possible here. */
bool tt_shm_bell_register(void);
/* Announces, or sleeps when announced already, at most `timeout_ns`. */
void tt_shm_sleep(tt_shm_head *head, tt_shm_rank *own, int64_t timeout_ns);

/* A socket to be rung at, and to ring others from; its name goes to `own`. -1: none, with the error. */
int tt_shm_bell_open(tt_shm_rank *own);
/* tt_shm_sleep until `other` is readable too. bell: of tt_shm_bell_open. */
void tt_shm_sleep_on(tt_shm_head *head, tt_shm_rank *own, int bell, int other, int64_t timeout_ns);

/* Takes the announcement, if there is one, and rings. bell: this rank's own socket, or -1. */
void tt_shm_ring_bell(tt_shm_rank *rank, int bell);

/* After a store that `rank` may wait for. Pairs with the membarrier of tt_shm_sleep. */
static inline void tt_shm_wake(tt_shm_rank *rank, int bell) {
  atomic_signal_fence(memory_order_seq_cst);
  if (__builtin_expect(atomic_load_explicit(&rank->sleeping, memory_order_relaxed) != TT_SHM_AWAKE, 0))
    tt_shm_ring_bell(rank, bell);
}

/* The same, as the transport's table has it. */
void tt_shm_wake_rank(void *self, int64_t peer);

#endif
