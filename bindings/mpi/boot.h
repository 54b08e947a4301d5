/* bindings/mpi/boot.h - a job of tutti from MPI's: its ranks, an allgather, and how calls wait in MPI_Init. */
#ifndef TT_MPI_BOOT_H
#define TT_MPI_BOOT_H

#include <tutti/boot.h>

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Over tt_mpi.world. */
tutti_boot tt_mpi_boot(void);
/* A collective that all ranks have begun or will: leaves the core to them. Some MPIs do not in their blocking calls, so
 * that on crowded cores each takes as long as the scheduler lets the waiting ranks run. */
void tt_mpi_boot_wait(MPI_Request *request);
/* The same; false: it is not complete after that time. */
bool tt_mpi_boot_wait_within(MPI_Request *request, int64_t timeout_ns);

#endif
