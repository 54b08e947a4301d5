/* bindings/mpi/state.c - the state before the program has begun. */
#include "state.h"

tt_mpi_state tt_mpi = {.off = "before MPI_Init or after MPI_Finalize", .self = MPI_COMM_NULL, .world = MPI_COMM_NULL};

const char *const tt_mpi_one_rank = "communicator of one rank";
