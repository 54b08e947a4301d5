/* bindings/mpi/queue.h - works that run: queued, looked at, completed.
 *
 * A work's MPI_Request is a receive of an empty message from ourselves (tt_mpi.self, a tag of its own). A look finds
 * the works that tutti has completed; completing one sends that message, and from there MPI alone knows what is to be
 * known. So MPI's own functions wait for, test and start requests of both kinds.
 *
 *     queue of its communicator --look--> done --complete--> unpacked, message sent --wrapper--> the program is told
 *     started (persistent)      --look-->
 *
 * tt_mpi_lock guards the table, the queues, tags and tutti. Data is unpacked without it. MPI is called under it
 * (tt_mpi_idle, MPI_Reduce_local, the transport, those messages), so what MPI calls back must not take it. */
#ifndef TT_MPI_QUEUE_H
#define TT_MPI_QUEUE_H

#include "work.h"

/* Puts a work that has been started into the queue of its communicator, or with the persistent ones. Under tt_mpi_lock;
 * tt_mpi_helper_post follows. */
void tt_mpi_queue_add(tt_mpi_work *work);
/* Works in queues. Any time. */
int64_t tt_mpi_queue_running(void);
/* One of them; there is one. */
tt_mpi_work *tt_mpi_queue_any(void);
/* Takes works that tutti has completed out of their queues. Under tt_mpi_lock. */
void tt_mpi_queue_look(void);
/* Whether there are some that it has taken out, to be completed. Under tt_mpi_lock. */
bool tt_mpi_queue_has_done(void);
/* Completes those. Without tt_mpi_lock. */
void tt_mpi_queue_complete(void);

/* ---- of one work ---- */

/* Whether tutti has completed it, and told its status. Under tt_mpi_lock. */
bool tt_mpi_queue_is_over(tt_mpi_work *work);
/* Waits until it has, where nobody else is there. */
void tt_mpi_queue_await(tt_mpi_work *work);
/* Is looked at with all others until it is left. Under tt_mpi_lock. */
void tt_mpi_queue_watch(tt_mpi_work *work);
void tt_mpi_queue_leave(const tt_mpi_work *work);

#endif
