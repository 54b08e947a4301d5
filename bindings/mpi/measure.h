/* bindings/mpi/measure.h - how the data of a type lies, as MPI says it. */
#ifndef TT_MPI_MEASURE_H
#define TT_MPI_MEASURE_H

#include "signature.h"

#include <mpi.h>

typedef struct tt_mpi_shape {
  int64_t size;   /* bytes of data */
  int64_t extent; /* from one element to the next */
  int64_t bound;  /* the lower bound */
  int64_t lower;  /* where the first byte of data lies */
  bool within;    /* all data lies between the bounds, which are apart */
  bool whole;     /* the data of an element is one piece, in the order in which MPI sends it */
  bool dense;     /* so is that of several */
  tt_mpi_signature signature;
} tt_mpi_shape;

/* What MPI says of it; `whole` where the range is as long as the data. `dense` is left false, the signature empty. */
bool tt_mpi_type_measure(MPI_Datatype type, tt_mpi_shape *shape);

#endif
