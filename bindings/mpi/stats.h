/* bindings/mpi/stats.h - TUTTI_STATS: which calls ran on tutti, and which did not. */
#ifndef TT_MPI_STATS_H
#define TT_MPI_STATS_H

#include "call.h"

/* A served call: bytes that this rank contributes or gets, whichever is more. params, authority, media: of
 * tutti_comm_last_..., or NULL where nothing ran. Cheap; does nothing without TUTTI_STATS. */
void tt_mpi_count_served(tt_mpi_collective collective, int64_t bytes, int64_t ns, const char *params,
                         const char *authority, const char *media);
/* A call that passed through, and why (static storage). */
void tt_mpi_count_passed(tt_mpi_collective collective, const char *why);
/* At MPI_Finalize: gathers over all ranks by PMPI_, rank 0 prints. */
void tt_mpi_stats_print(void);
int64_t tt_mpi_clock_ns(void); /* 0 without TUTTI_STATS */

#endif
