/* bindings/mpi/predefined.h - what tutti needs to know of the types that MPI has itself. */
#ifndef TT_MPI_PREDEFINED_H
#define TT_MPI_PREDEFINED_H

#include "measure.h"

/* What tutti's operators ask of a type; bits. */
typedef enum tt_mpi_family {
  TT_MPI_INTEGER = 1,
  TT_MPI_FLOAT = 2,
  TT_MPI_COMPLEX = 4,
  TT_MPI_LOGICAL = 8,
  TT_MPI_BITS = 16,
  TT_MPI_PAIR = 32
} tt_mpi_family;

typedef struct tt_mpi_type {
  MPI_Datatype type;
  tt_mpi_shape shape;
  tutti_type element;     /* TUTTI_TYPE_COUNT: tutti has none like it */
  int family;             /* 0: no operator of tutti's combines it as MPI does */
  tutti_type said;        /* of its bytes where they are moved; TUTTI_TYPE_COUNT: depends on the count */
  _Atomic uint32_t taken; /* ops.c: by which of MPI's operators; 0: not asked yet. Relaxed: all threads find the same */
} tt_mpi_type;

/* NULL: not predefined. The first call asks MPI about all of them. */
const tt_mpi_type *tt_mpi_type_find(MPI_Datatype type);
/* Whether this MPI combines elements of that predefined type with that operator of its own. */
bool tt_mpi_type_takes(MPI_Datatype type, MPI_Op op);

#endif
