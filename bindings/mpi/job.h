/* bindings/mpi/job.h - tutti begins with MPI, and leaves before it. */
#ifndef TT_MPI_JOB_H
#define TT_MPI_JOB_H

#include <mpi.h>
#include <stdbool.h>

/* After MPI_Init, MPI_Init_thread and the first communicator of a session. over: the ranks that begin together. False:
 * they have joined before. */
bool tt_mpi_begin(MPI_Comm over, int required, int provided);
/* Before MPI_Finalize. */
void tt_mpi_end(void);

/* The thread level to ask MPI for: more than the program's where the job spans machines, as transport.c needs. */
int tt_mpi_thread_level(int required);

#endif
