/* bindings/mpi/stats_print.h - lines of the statistics, and how they are printed. */
#ifndef TT_MPI_STATS_PRINT_H
#define TT_MPI_STATS_PRINT_H

#include "call.h"

#include <stdio.h>

/* Calls of one collective that ran with the same parameters, or passed through for the same reason. */
typedef struct tt_mpi_line {
  int64_t calls, bytes;
  int64_t ns; /* this rank's; of all ranks: not used */
  int32_t collective, passed;
  char text[224];
  char authority[160]; /* who has decided: tutti_comm_last_authority; the end of it where it is longer */
  char media[64];      /* by which ranks sent, as in tutti_comm_last_media */
} tt_mpi_line;

/* Of one collective, over all ranks. */
typedef struct tt_mpi_total {
  int64_t served, passed;
  int64_t bytes; /* of those that were served, and so ns */
  int64_t alone; /* passed through, since there was one rank: not a matter of the share */
  int64_t ns;    /* of the rank that spent most in it */
} tt_mpi_total;

typedef struct tt_mpi_report {
  int ranks;
  tt_mpi_total of[TT_MPI_COLLECTIVE_COUNT], all; /* all.ns: not used */
  const tt_mpi_line *line;                       /* by collective; served before passed; the most calls first */
  int64_t line_count;
} tt_mpi_report;

void tt_mpi_stats_table(const tt_mpi_report *report, FILE *to);
void tt_mpi_stats_json(const tt_mpi_report *report, FILE *to);

#endif
