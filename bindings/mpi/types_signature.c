/* bindings/mpi/types_signature.c - the signature of a type that is taken apart as it was made. */
#include "types_signature.h"

#include "contents.h"
#include "predefined.h"

static tt_mpi_signature of_struct(const tt_mpi_contents *of) {
  tt_mpi_signature all = tt_mpi_signature_empty();
  for (int n = 0; n < of->integer[0] && !tt_mpi_signature_is_any(&all); n++)
    if (of->integer[1 + n] > 0)
      all = tt_mpi_signature_join(all, tt_mpi_signature_repeat(tt_mpi_signature_of(of->type[n]), of->integer[1 + n]));
  return all;
}

/* All others have elements of one type, so many as there are bytes for. */
static tt_mpi_signature of_array(MPI_Datatype type, MPI_Datatype element) {
  tt_mpi_shape all, each;
  if (!tt_mpi_type_measure(type, &all) || !tt_mpi_type_measure(element, &each))
    return tt_mpi_signature_any();
  return each.size == 0 ? tt_mpi_signature_empty()
                        : tt_mpi_signature_repeat(tt_mpi_signature_of(element), all.size / each.size);
}

static tt_mpi_signature of_contents(MPI_Datatype type, const tt_mpi_contents *of) {
  tt_mpi_shape shape;
  if (of->combiner == MPI_COMBINER_STRUCT)
    return of_struct(of);
  if (of->type_count == 1)
    return of_array(type, of->type[0]);
  return tt_mpi_type_measure(type, &shape) && shape.size == 0 ? tt_mpi_signature_empty()
                                                              : tt_mpi_signature_any(); /* a mark, or unknown */
}

tt_mpi_signature tt_mpi_signature_of(MPI_Datatype type) {
  const tt_mpi_type *known = tt_mpi_type_find(type);
  tt_mpi_contents of;
  if (known)
    return known->shape.signature;
  tt_mpi_signature found = tt_mpi_contents_open(type, &of) ? of_contents(type, &of) : tt_mpi_signature_any();
  tt_mpi_contents_close(&of);
  return found;
}
