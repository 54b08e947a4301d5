/* bindings/mpi/contents.c - a derived type is taken apart as it was made. */
#include "contents.h"

#include "predefined.h"

#include <stdlib.h>

bool tt_mpi_type_is_basic(MPI_Datatype type) {
  int integers, addresses, types, combiner;
  return PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
         (combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
          combiner == MPI_COMBINER_F90_INTEGER);
}

bool tt_mpi_contents_open(MPI_Datatype type, tt_mpi_contents *of) {
  int integers, addresses;
  *of = (tt_mpi_contents){.combiner = MPI_COMBINER_NAMED};
#if MPI_VERSION >= 4
  MPI_Count all[4]; /* those made with large counts cannot be looked into by the functions below */
  if (PMPI_Type_get_envelope_c(type, &all[0], &all[1], &all[2], &all[3], &of->combiner) != MPI_SUCCESS || all[2] > 0)
    return false;
#endif
  if (PMPI_Type_get_envelope(type, &integers, &addresses, &of->type_count, &of->combiner) != MPI_SUCCESS)
    return false;
  if (of->combiner == MPI_COMBINER_NAMED)
    return true;
  of->integer = calloc((size_t)integers + 1, sizeof *of->integer);
  of->address = calloc((size_t)addresses + 1, sizeof *of->address);
  of->type = calloc((size_t)of->type_count + 1, sizeof(MPI_Datatype));
  return of->integer && of->address && of->type &&
         PMPI_Type_get_contents(type, integers, addresses, of->type_count, of->integer, of->address, of->type) ==
             MPI_SUCCESS;
}

void tt_mpi_contents_close(tt_mpi_contents *of) {
  for (int n = 0; of->type && n < of->type_count; n++)
    if (of->type[n] != MPI_DATATYPE_NULL && !tt_mpi_type_find(of->type[n]) && !tt_mpi_type_is_basic(of->type[n]))
      PMPI_Type_free(&of->type[n]);
  free(of->integer);
  free(of->address);
  free(of->type);
}
