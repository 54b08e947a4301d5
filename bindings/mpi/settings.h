/* bindings/mpi/settings.h - what the environment asks of the interposer. */
#ifndef TT_MPI_SETTINGS_H
#define TT_MPI_SETTINGS_H

#include "call.h"

typedef struct tt_mpi_settings {
  bool off;               /* TUTTI_MPI=off */
  bool always;            /* TUTTI_MPI=always */
  bool tcp;               /* TUTTI_MPI_TRANSPORT=tcp: between machines tutti's transport, not MPI's messages */
  uint64_t only;          /* TUTTI_MPI_ONLY; all bits: all collectives */
  const char *statistics; /* TUTTI_STATS: "1", or the name of a file; NULL: not wanted */
} tt_mpi_settings;

/* complain: says on stderr what it does not understand, and leaves it out. */
tt_mpi_settings tt_mpi_settings_read(bool complain);

const char *tt_mpi_collective_name(tt_mpi_collective collective);

#endif
