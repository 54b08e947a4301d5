/* bindings/mpi/request_fail.h - works whose calls failed, until the program is told. */
#ifndef TT_MPI_REQUEST_FAIL_H
#define TT_MPI_REQUEST_FAIL_H

#include "work.h"

void tt_mpi_fail_keep(tt_mpi_work *work);
int64_t tt_mpi_fail_count(void);
/* Of which MPI has completed the request of that handle for the program; NULL: none. It is the caller's now. */
tt_mpi_work *tt_mpi_fail_remove(MPI_Request request);
void tt_mpi_fail_clear(void);

#endif
