/* bindings/mpi/faster.h - calls that MPI's own algorithm was measured to make faster than tutti. */
#ifndef TT_MPI_FASTER_H
#define TT_MPI_FASTER_H

#include "call.h"

#include <tutti/tutti.h>

/* Of one communicator. */
typedef struct tt_mpi_faster {
  bool some; /* there are any */
  tutti_lengths of[TT_MPI_COLLECTIVE_COUNT];
} tt_mpi_faster;

/* When a communicator has been made. Under tt_mpi_lock. An error is of memory, on this rank alone. */
tutti_status tt_mpi_faster_find(tutti_comm *comm, tt_mpi_faster *faster);
/* Why a blocking call of that rank passes through; NULL: it need not. Decided from its collective, the length of its
 * vector, and whether the operator is MPI's own, which are the same on all ranks of every correct program; or because
 * the length is wrong. */
const char *tt_mpi_faster_why(const tt_mpi_faster *faster, const tt_mpi_call *call, int rank, int size);

#endif
