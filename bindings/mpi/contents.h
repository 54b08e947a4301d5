/* bindings/mpi/contents.h - how a derived type was made. */
#ifndef TT_MPI_CONTENTS_H
#define TT_MPI_CONTENTS_H

#include <mpi.h>
#include <stdbool.h>

/* As of MPI_Type_get_contents; of a predefined type the combiner alone. */
typedef struct tt_mpi_contents {
  int combiner, *integer, type_count;
  MPI_Aint *address;
  MPI_Datatype *type;
} tt_mpi_contents;

/* Whether MPI has made it itself: named, or one of Fortran's by its precision. Nobody may free those. */
bool tt_mpi_type_is_basic(MPI_Datatype type);
/* False: it cannot be looked into. To be closed in any case. */
bool tt_mpi_contents_open(MPI_Datatype type, tt_mpi_contents *of);
void tt_mpi_contents_close(tt_mpi_contents *of);

#endif
