/* bindings/mpi/machine.h - which machine a rank is on. */
#ifndef TT_MPI_MACHINE_H
#define TT_MPI_MACHINE_H

#include <stdint.h>

/* Equal, as bytes, where tutti's shared memory reaches: one boot of one kernel, one user, the same namespaces. */
typedef struct tt_mpi_machine {
  char boot[40];
  uint64_t network[2], processes[2];
  uint64_t user;
} tt_mpi_machine;

tt_mpi_machine tt_mpi_machine_own(void);

#endif
