/* bindings/mpi/session.h - communicators that a program makes of a session's group. */
#ifndef TT_MPI_SESSION_H
#define TT_MPI_SESSION_H

#include <mpi.h>

/* After MPI_Comm_create_from_group. */
void tt_mpi_session_comm_made(MPI_Comm comm);

#endif
