/* bindings/mpi/handles.h - communicators by MPI's handle: open addressing, at most half full. The caller locks. */
#ifndef TT_MPI_HANDLES_H
#define TT_MPI_HANDLES_H

#include "interpose.h"

/* False: no memory. Its key is none that is there. */
bool tt_mpi_handles_insert(tt_mpi_comm *comm);
tt_mpi_comm *tt_mpi_handles_find(uintptr_t key); /* NULL: none */
void tt_mpi_handles_remove(const tt_mpi_comm *comm);
tt_mpi_comm *tt_mpi_handles_any(void); /* NULL: there are none, and the table has freed its memory */

#endif
