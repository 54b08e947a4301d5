/* bindings/mpi/handles.h - what is kept by MPI's handles: open addressing, at most half full. The caller locks. */
#ifndef TT_MPI_HANDLES_H
#define TT_MPI_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_mpi_handle { /* what is kept begins with it */
  _Atomic uintptr_t key;       /* of relaxed order: changed under the lock, and compared without it, too: comm.c */
} tt_mpi_handle;

/* False: no memory. Its key is none that is there. */
bool tt_mpi_handles_insert(tt_mpi_handle *kept);
tt_mpi_handle *tt_mpi_handles_find(uintptr_t key); /* NULL: none */
void tt_mpi_handles_remove(const tt_mpi_handle *kept);
tt_mpi_handle *tt_mpi_handles_any(void); /* NULL: there are none, and the table has freed its memory */

#endif
