/* bindings/mpi/boot.h - a job of tutti from MPI's: its ranks, their machines, and an allgather. */
#ifndef TT_MPI_BOOT_H
#define TT_MPI_BOOT_H

#include "interpose.h"

/* Over tt_mpi.world. */
tutti_boot tt_mpi_boot(void);
/* This rank's machine: the lowest rank that shares memory with it, as MPI says. Collective over tt_mpi.world. */
int64_t tt_mpi_boot_node(bool *several);

#endif
