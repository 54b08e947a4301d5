/* bindings/mpi/request.h - what the files of requests share.
 *
 * A work's MPI_Request is a receive of an empty message from ourselves (tt_mpi.self, a tag of its own). A look finds
 * the works that tutti has completed; completing one sends that message, and from there MPI alone knows what is to be
 * known. So MPI's own functions wait for, test and start requests of both kinds.
 *
 *     queue of its communicator --look--> done --complete--> unpacked, message sent --wrapper--> the program is told
 *     started (persistent)      --look-->
 *
 * tt_mpi_lock guards the table, the queues, tags and tutti. Messages are sent and data unpacked without it. tutti calls
 * MPI under it (tt_mpi_idle, MPI_Reduce_local, the transport), so what MPI calls back must not take it. */
#ifndef TT_MPI_REQUEST_H
#define TT_MPI_REQUEST_H

#include "interpose.h"

#include <stdatomic.h>

/* ---- request_table.c: persistent works, and others while they run, by handle. Under tt_mpi_lock. ---- */

void tt_mpi_table_add(tt_mpi_work *work);
void tt_mpi_table_remove(tt_mpi_work *work);
tt_mpi_work *tt_mpi_table_find(MPI_Request request);
tt_mpi_work *tt_mpi_table_any(void);
int64_t tt_mpi_table_count(void); /* any time */
void tt_mpi_table_clear(void);

/* ---- request_tag.c. Under tt_mpi_lock. ---- */

bool tt_mpi_tag_take(int *tag); /* false: no memory, or MPI has no more */
void tt_mpi_tag_give(int tag);
void tt_mpi_tag_clear(void);

/* ---- request.c ---- */

/* Puts a work that has been started into the queue of its communicator, or with the persistent ones. Under tt_mpi_lock.
 */
void tt_mpi_request_queue(tt_mpi_work *work);
/* Works in queues. Any time. */
int64_t tt_mpi_request_running(void);
/* Takes works that tutti has completed out of their queues. Under tt_mpi_lock. */
void tt_mpi_request_look(void);
/* Completes those. Without tt_mpi_lock. */
void tt_mpi_request_complete(void);
/* Waits for it, where it is a work's. Without tt_mpi_lock. */
void tt_mpi_request_await(MPI_Request request);

/* ---- request_fail.c: works whose calls failed, until the program is told ---- */

void tt_mpi_fail_keep(tt_mpi_work *work);
int64_t tt_mpi_fail_count(void);
void tt_mpi_fail_clear(void);
/* MPI has completed a request of that handle for the program, with that result. Tells who wants to know (comm.c) and
 * returns what the program is told: the result, or the error of the work. */
int tt_mpi_request_told(MPI_Request request, int result);
/* Whether some request's handle must be remembered for tt_mpi_request_told, as completing it clears the handle. */
static inline bool tt_mpi_request_matters(void) {
  return tt_mpi.threads || tt_mpi_fail_count() > 0 || atomic_load_explicit(&tt_mpi.idups, memory_order_relaxed) > 0;
}

/* ---- progress.c ---- */

/* Calls of tutti and of works may come from another thread now. */
bool tt_mpi_shared(void);
/* The lock is taken without waiting; false: another thread has it or waits for it, and moves everything on. */
bool tt_mpi_trylock(void);
/* A work has been queued: the helper thread is woken where some thread is inside MPI. Under tt_mpi_lock. */
void tt_mpi_helper_post(void);
void tt_mpi_helper_end(void);

/* ---- wait.c ---- */

static inline bool tt_mpi_quiet(void) {
  return atomic_load_explicit(&tt_mpi.outstanding, memory_order_acquire) == 0; /* pairs with the end of a completion */
}

/* MPI_Wait for a request of either kind, while works are moved on. */
int tt_mpi_wait(MPI_Request *request, MPI_Status *status);

#endif
