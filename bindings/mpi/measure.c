/* bindings/mpi/measure.c - size, extents and bounds of a type. */
#include "measure.h"

bool tt_mpi_type_measure(MPI_Datatype type, tt_mpi_shape *shape) {
  MPI_Count size, lower, extent, true_lower, true_extent;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size == MPI_UNDEFINED ||
      PMPI_Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
      PMPI_Type_get_true_extent_x(type, &true_lower, &true_extent) != MPI_SUCCESS)
    return false;
  *shape = (tt_mpi_shape){.size = size,
                          .extent = extent,
                          .lower = true_lower,
                          .within = extent > 0 && true_lower >= lower && true_lower + true_extent <= lower + extent,
                          .bound = lower,
                          .whole = size == true_extent};
  return true;
}
