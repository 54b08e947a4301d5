/* bindings/mpi/types_signature.h - the signature of any type. */
#ifndef TT_MPI_TYPES_SIGNATURE_H
#define TT_MPI_TYPES_SIGNATURE_H

#include "signature.h"

#include <mpi.h>

/* Takes the type apart, so that the result is worth keeping. */
tt_mpi_signature tt_mpi_signature_of(MPI_Datatype type);

#endif
