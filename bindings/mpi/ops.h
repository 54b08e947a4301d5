/* bindings/mpi/ops.h - MPI's operators as tutti applies them. */
#ifndef TT_MPI_OPS_H
#define TT_MPI_OPS_H

#include <tutti/tutti.h>

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_mpi_applied tt_mpi_applied;

typedef struct tt_mpi_reduction {
  tutti_op op;
  tutti_type element;
  int64_t bytes;           /* of an element */
  int64_t lower;           /* where elements begin: not before the lower bound of the type */
  bool cells;              /* elements have gaps that must keep what they hold in the result */
  tt_mpi_applied *applied; /* by MPI_Reduce_local; NULL: by tutti */
} tt_mpi_reduction;

/* The operator and element type with which tutti does a reduction of MPI's type and op. False: it cannot, *why says why
 * (static storage): equal on all ranks; NULL: MPI does not take them. Operators of the program's own are applied by
 * MPI_Reduce_local, which knows how to call them, in C and Fortran. */
bool tt_mpi_reduction_find(MPI_Op op, MPI_Datatype type, tt_mpi_reduction *reduction, const char **why);
/* Whether it is one of MPI's own. */
bool tt_mpi_op_is_own(MPI_Op op);
/* Between these the operator stays, even if the program frees it. What keeps its type: tt_mpi_type_hold. */
MPI_Datatype tt_mpi_applied_hold(tt_mpi_applied *applied);
void tt_mpi_applied_release(tt_mpi_applied *applied); /* accepts NULL */

#endif
