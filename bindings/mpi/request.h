/* bindings/mpi/request.h - works as requests: made, waited for, ended. */
#ifndef TT_MPI_REQUEST_H
#define TT_MPI_REQUEST_H

#include "work.h"

/* `work` has been started (non-blocking) or is ready for MPI_Start (persistent); its MPI_Request. Keeps the work: what
 * is not persistent is unpacked, counted and destroyed when complete; persistent ones are destroyed by
 * MPI_Request_free. */
int tt_mpi_request_make_take(tt_mpi_work *work, MPI_Request *request);
/* A blocking call where others are outstanding, or where other threads call: waits until the started work is complete
 * (and unpacked, not destroyed), moving on everything else. */
void tt_mpi_request_finish(tt_mpi_work *work);
/* Before MPI_Finalize: waits for what still runs (MPI_Request_free), ends the helper thread, frees everything. */
void tt_mpi_request_end(void);
/* Waits for it, where it is a work's. Without tt_mpi_lock. */
void tt_mpi_request_await(MPI_Request request);

#endif
