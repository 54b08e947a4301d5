/* transport/shm/bell.c - sleeping and waking on a futex in the rank's line; the protocol is in bell.h. */
#include "transport/shm/bell.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SHORT_NS 1000000

bool tt_shm_bell_register(void) { return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0; }

static void announce(tt_shm_rank *own) {
  atomic_store_explicit(&own->sleeping, 1, memory_order_relaxed);
  atomic_thread_fence(
      memory_order_seq_cst); /* before the engine's next look; pairs with tt_shm_wake by the membarrier */
  syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void tt_shm_sleep(tt_shm_head *head, tt_shm_rank *own, int64_t timeout_ns) {
  /* Read before `sleeping`: whoever has taken the announcement rings after this value. Pairs with tt_shm_ring_bell. */
  uint32_t bell = atomic_load_explicit(&own->doorbell, memory_order_acquire);
  if (atomic_load_explicit(&own->sleeping, memory_order_acquire) == 0) {
    announce(own);
    return;
  }
  if (atomic_load_explicit(&head->no_membarrier, memory_order_relaxed) && timeout_ns > SHORT_NS)
    timeout_ns = SHORT_NS;
  struct timespec time = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
  syscall(SYS_futex, &own->doorbell, FUTEX_WAIT, bell, &time, NULL, 0);
  atomic_store_explicit(&own->sleeping, 0, memory_order_relaxed);
}

void tt_shm_ring_bell(tt_shm_rank *rank) {
  if (atomic_exchange_explicit(&rank->sleeping, 0, memory_order_acq_rel) == 0)
    return;
  atomic_fetch_add_explicit(&rank->doorbell, 1, memory_order_release);
  syscall(SYS_futex, &rank->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
}
