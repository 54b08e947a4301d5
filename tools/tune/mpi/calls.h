/* tools/tune/mpi/calls.h - one task in an MPI program: its calls on tutti and on the MPI itself, and what they take. */
#ifndef TUTTI_TOOLS_TUNE_MPI_CALLS_H
#define TUTTI_TOOLS_TUNE_MPI_CALLS_H

#include "compose/compose.h"

#include <mpi.h>

typedef struct tune_mpi_calls {
  MPI_Comm target; /* what is measured */
  MPI_Comm words;  /* the same ranks: what they tell each other, on the MPI alone */
  int rank, size;
  tt_collective collective;
  int count;   /* of a block, in floats */
  int64_t all; /* calls so far: whose turn it is to be root */
  float *in, *out;
  int *counts, *offsets; /* of blocks that are alike */
} tune_mpi_calls;

/* A vector of so many bytes. False: there is no memory for it, or MPI's counts are too short. */
bool tune_mpi_calls_open(tune_mpi_calls *calls, tt_collective collective, int64_t bytes);
void tune_mpi_calls_close(tune_mpi_calls *calls);
/* ns of a call, of the slowest rank, the median of some batches of so many: the same on all ranks. on_tutti: MPI_...,
 * which tutti serves; else PMPI_... */
double tune_mpi_calls_time(tune_mpi_calls *calls, bool on_tutti, int64_t each);

#endif
