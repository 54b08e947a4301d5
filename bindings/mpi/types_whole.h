/* bindings/mpi/types_whole.h - whether the data of a derived type is one piece. */
#ifndef TT_MPI_TYPES_WHOLE_H
#define TT_MPI_TYPES_WHOLE_H

#include "measure.h"

/* Of one that tt_mpi_type_measure calls whole: whether it really is. */
bool tt_mpi_type_is_whole(MPI_Datatype type);

#endif
