/* bindings/mpi/serve.h - called by the wrappers: a collective of the program's is done by tutti, or left to MPI.
 *
 *     MPI_Allreduce(...)   wrappers (generated from a table): fills in a tt_mpi_call
 *       -> serve.c         types.c, ops.c, stage.c: what tutti is given instead of MPI's types, operators and layouts
 *       -> tutti_...       blocking; or a request, which request.c makes an MPI_Request of
 *       -> PMPI_Allreduce  where tutti does not serve the call: decided from what is equal on all ranks
 *
 * This folder is compiled once against each MPI's <mpi.h>; of tutti it uses the public headers only. Handles are
 * compared and stored, never looked into. */
#ifndef TT_MPI_SERVE_H
#define TT_MPI_SERVE_H

#include "call.h"

/* True: tutti has done the call (or failed at it) and *result is what the MPI function returns. False: the caller calls
 * PMPI_ between tt_mpi_pass_begin and tt_mpi_pass_end. */
bool tt_mpi_serve(const tt_mpi_call *call, int *result);
bool tt_mpi_serve_start(const tt_mpi_call *call, MPI_Request *request, int *result);
bool tt_mpi_serve_init(const tt_mpi_call *call, MPI_Request *request, int *result); /* persistent */
/* Whether MPI is to do a call that is started or made, of data that is only moved: then it is counted, and the caller
 * may call the MPI in another way than by the functions above. */
bool tt_mpi_serve_leaves(tt_mpi_collective collective, MPI_Comm comm);

#endif
