/* bindings/mpi/idup.h - communicators of MPI_Comm_idup, which are made while the program goes on. */
#ifndef TT_MPI_IDUP_H
#define TT_MPI_IDUP_H

#include <mpi.h>

/* After it, with the parent; and when its request, by the value that it had, is complete. tt_mpi.idups says whether
 * there are any. */
void tt_mpi_comm_idup_posted(MPI_Comm parent, MPI_Comm made, MPI_Request request); /* both MPIs have it at once */
void tt_mpi_comm_idup_done(MPI_Request request);
void tt_mpi_comm_idup_end(void); /* forgets those that were never waited for */

#endif
