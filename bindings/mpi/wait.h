/* bindings/mpi/wait.h - MPI_Wait for a request of either kind. */
#ifndef TT_MPI_WAIT_H
#define TT_MPI_WAIT_H

#include <mpi.h>

/* MPI_Wait for a request of either kind, while works are moved on. */
int tt_mpi_wait(MPI_Request *request, MPI_Status *status);
/* MPI has completed a request of that handle for the program, with that result. Tells who wants to know (idup.c) and
 * returns what the program is told: the result, or the error of the work. */
int tt_mpi_request_told(MPI_Request request, int result);
/* After MPI was asked for the status of several requests. */
void tt_mpi_request_asked(int count, const MPI_Request *requests);

#endif
