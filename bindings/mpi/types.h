/* bindings/mpi/types.h - what tutti needs to know of any of MPI's types. */
#ifndef TT_MPI_TYPES_H
#define TT_MPI_TYPES_H

#include "predefined.h"

/* false: not committed or none at all. Predefined types cost one look-up; what is found out of others is kept with them
 * and freed with them. */
bool tt_mpi_shape_of(MPI_Datatype type, tt_mpi_shape *shape);
/* Something that keeps a type alive which the program may free; MPI_DATATYPE_NULL for predefined ones. */
MPI_Datatype tt_mpi_type_hold(MPI_Datatype type);
/* Who is told of derived types that are no more: one at most. */
void tt_mpi_types_tell(void (*gone)(MPI_Datatype type));

#endif
