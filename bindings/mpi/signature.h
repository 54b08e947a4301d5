/* bindings/mpi/signature.h - see signature.c. */
#ifndef TT_MPI_SIGNATURE_H
#define TT_MPI_SIGNATURE_H

#include <tutti/tutti.h>

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_mpi_signature {
  int32_t meaning; /* where all elements are alike: as tutti_type_of_bytes takes it. All zero: goes with anything */
  uint64_t hash, step;
} tt_mpi_signature;

/* Of a predefined type whose elements are those of tutti's; TUTTI_TYPE_COUNT: of none. */
tt_mpi_signature tt_mpi_signature_basic(tutti_type element);
/* Of one sequence after another; of none and of what may be anything; of `count` times the same. */
tt_mpi_signature tt_mpi_signature_join(tt_mpi_signature a, tt_mpi_signature b);
tt_mpi_signature tt_mpi_signature_empty(void);
tt_mpi_signature tt_mpi_signature_any(void);
tt_mpi_signature tt_mpi_signature_repeat(tt_mpi_signature of, int64_t count);
/* Whether it goes with anything. */
bool tt_mpi_signature_is_any(const tt_mpi_signature *of);

/* The type of bytes that says so to other ranks, for `count` elements of the type. */
tutti_type tt_mpi_signature_type(const tt_mpi_signature *of, int64_t count);
/* Whether that depends on the count. */
bool tt_mpi_signature_is_mixed(const tt_mpi_signature *of);
const char *tt_mpi_signature_name(const tt_mpi_signature *of); /* for errors */

#endif
