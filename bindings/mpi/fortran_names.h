/* bindings/mpi/fortran_names.h - the names of one Fortran entry point: other names of a static function.
 *
 * In Open MPI, every name exists in the four spellings of Fortran compilers, and as ompi_..._f, which its module
 * mpi_f08 calls. */
#ifndef TT_MPI_FORTRAN_NAMES_H
#define TT_MPI_FORTRAN_NAMES_H

#include <stddef.h> /* lengths of texts are of size_t */

#define ALIAS(name, function) extern __typeof__(function) name __attribute__((alias(#function), visibility("default")))
#define ENTRY(lower, UPPER, open_mpi, function)                                                                        \
  ALIAS(lower, function);                                                                                              \
  ALIAS(lower##_, function);                                                                                           \
  ALIAS(lower##__, function);                                                                                          \
  ALIAS(UPPER, function);                                                                                              \
  ALIAS(open_mpi, function)

#endif
