/* bindings/mpi/serve_reduce.h - reductions: from a call to what tutti is given. */
#ifndef TT_MPI_SERVE_REDUCE_H
#define TT_MPI_SERVE_REDUCE_H

#include "comm.h"
#include "serve_row.h"

tt_mpi_verdict tt_mpi_prepare_reduction(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_args *args,
                                        tt_mpi_stage *stage);

#endif
