/* bindings/mpi/lock.h - the lock around tutti. */
#ifndef TT_MPI_LOCK_H
#define TT_MPI_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Around calls of tutti; does something only where tt_mpi.threads, or while a helper thread is at work. Not recursive.
 */
void tt_mpi_lock(void);
void tt_mpi_unlock(void);
/* Calls of tutti and of works may come from another thread now. */
bool tt_mpi_shared(void);
/* The lock is taken without waiting; false: another thread has it or waits for it, and moves everything on. */
bool tt_mpi_trylock(void);

/* ---- progress.c's alone ---- */

extern pthread_mutex_t tt_mpi_mutex; /* what is locked; the helper waits for conditions with it */
/* Threads of the program that are inside MPI, with works that run. Under the mutex, or before the helper is there. */
extern _Atomic int tt_mpi_passes;

#endif
