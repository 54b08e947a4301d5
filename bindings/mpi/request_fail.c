/* bindings/mpi/request_fail.c - works whose calls failed, until MPI_Wait or MPI_Test tells the program so.
 *
 * To MPI their requests are complete without an error. The wrappers remember the handles of what they wait for and ask
 * here. There are few if any, so a list does. */
#include "request_fail.h"

#include "lock.h"
#include "state.h"

#include <stdatomic.h>

static tt_mpi_work *failed;
static _Atomic int64_t count; /* changed under the lock; read without it, too */

void tt_mpi_fail_keep(tt_mpi_work *work) {
  work->next = failed;
  failed = work;
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed); /* seen by who sees the request complete: MPI sends */
}

int64_t tt_mpi_fail_count(void) { return atomic_load_explicit(&count, memory_order_relaxed); }

tt_mpi_work *tt_mpi_fail_remove(MPI_Request request) {
  tt_mpi_lock();
  tt_mpi_work **at = &failed;
  while (*at && (*at)->mpi != request)
    at = &(*at)->next;
  tt_mpi_work *work = *at;
  if (work) {
    *at = work->next;
    atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&tt_mpi.outstanding, 1, memory_order_relaxed);
  }
  tt_mpi_unlock();
  return work;
}

void tt_mpi_fail_clear(void) {
  while (failed) {
    tt_mpi_work *work = tt_mpi_fail_remove(failed->mpi);
    if (!work->persistent)
      tt_mpi_work_destroy(work);
  }
}
