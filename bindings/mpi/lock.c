/* bindings/mpi/lock.c - the lock around tutti: nothing where there is one thread. */
#include "lock.h"

#include "state.h"

pthread_mutex_t tt_mpi_mutex = PTHREAD_MUTEX_INITIALIZER;
_Atomic int tt_mpi_passes;

static bool held; /* by tt_mpi_lock; guarded by the mutex where there are several threads */
/* Threads that wait in tt_mpi_lock: a hint, which pairs with nothing. Who only looks stands back: looks follow each
 * other closely, and tutti leaves the core while it holds the lock, so that others would hardly ever find it free. */
static _Atomic int waiting;

bool tt_mpi_shared(void) { return tt_mpi.threads || atomic_load_explicit(&tt_mpi_passes, memory_order_seq_cst) > 0; }

void tt_mpi_lock(void) {
  if (!tt_mpi_shared())
    return;
  if (pthread_mutex_trylock(&tt_mpi_mutex) != 0) {
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    pthread_mutex_lock(&tt_mpi_mutex);
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
  }
  held = true;
}

bool tt_mpi_trylock(void) {
  if (!tt_mpi_shared())
    return true;
  if (atomic_load_explicit(&waiting, memory_order_relaxed) > 0 || pthread_mutex_trylock(&tt_mpi_mutex) != 0)
    return false;
  held = true;
  return true;
}

/* Not by tt_mpi_shared(): while the helper waited for the lock the last pass may have ended. */
void tt_mpi_unlock(void) {
  if (!held)
    return;
  held = false;
  pthread_mutex_unlock(&tt_mpi_mutex);
}
