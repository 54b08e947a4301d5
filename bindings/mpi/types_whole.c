/* bindings/mpi/types_whole.c - whether the data of a derived type is one piece, which then needs no packing.
 *
 * As many bytes of data as the range from the first to the last one is not enough: they may lie in another order than
 * that of the type map, in which MPI sends them, or twice. So the type is taken apart again, as it was made. */
#include "types_whole.h"

#include "contents.h"
#include "predefined.h"

/* Pieces of data, each of which should begin where the one before has ended. */
typedef struct run {
  int64_t end;
  bool any;
  MPI_Datatype asked; /* the last one's type: all blocks but those of a struct have the same */
  tt_mpi_shape shape; /* its, and whether it is whole */
  bool whole;
} run;

static bool extend(run *so_far, int64_t at, int64_t count, MPI_Datatype type);

static int64_t extent_of(MPI_Datatype type) {
  tt_mpi_shape shape;
  return tt_mpi_type_measure(type, &shape) ? shape.extent : 0;
}

/* Blocks of one type: block n has `length` elements (lengths[n] where given) at displacement n. */
static bool extend_blocks(run *so_far, int64_t blocks, int length, const int *lengths, const int *in_extents,
                          const MPI_Aint *in_bytes, MPI_Datatype type) {
  int64_t extent = extent_of(type);
  for (int64_t n = 0; n < blocks; n++)
    if (!extend(so_far, in_extents ? in_extents[n] * extent : in_bytes[n], lengths ? lengths[n] : length, type))
      return false;
  return true;
}

static bool extend_stride(run *so_far, const int *integer, int64_t stride, MPI_Datatype type) {
  for (int64_t n = 0; n < integer[0]; n++)
    if (!extend(so_far, n * stride, integer[1], type))
      return false;
  return true;
}

static bool extend_struct(run *so_far, const tt_mpi_contents *of) {
  for (int n = 0; n < of->integer[0]; n++)
    if (!extend(so_far, of->address[n], of->integer[1 + n], of->type[n]))
      return false;
  return true;
}

/* Whether one element's data, in the order of its type map, is one piece. It is known to have no more bytes than the
 * range it spans. */
static bool is_run(const tt_mpi_contents *of) {
  const int *integer = of->integer;
  run all = {.asked = MPI_DATATYPE_NULL};
  switch (of->combiner) {
  case MPI_COMBINER_NAMED:
  case MPI_COMBINER_F90_REAL:
  case MPI_COMBINER_F90_COMPLEX:
  case MPI_COMBINER_F90_INTEGER:
    return true;
  case MPI_COMBINER_DUP:
  case MPI_COMBINER_RESIZED:
    return extend(&all, 0, 1, of->type[0]);
  case MPI_COMBINER_CONTIGUOUS:
    return extend(&all, 0, integer[0], of->type[0]);
  case MPI_COMBINER_SUBARRAY: /* in ascending order by itself, and all of it */
  case MPI_COMBINER_DARRAY:
    return extend(&all, 0, 2, of->type[0]);
  case MPI_COMBINER_VECTOR:
    return extend_stride(&all, integer, integer[2] * extent_of(of->type[0]), of->type[0]);
  case MPI_COMBINER_HVECTOR:
    return extend_stride(&all, integer, of->address[0], of->type[0]);
  case MPI_COMBINER_INDEXED:
    return extend_blocks(&all, integer[0], 0, integer + 1, integer + 1 + integer[0], NULL, of->type[0]);
  case MPI_COMBINER_HINDEXED:
    return extend_blocks(&all, integer[0], 0, integer + 1, NULL, of->address, of->type[0]);
  case MPI_COMBINER_INDEXED_BLOCK:
    return extend_blocks(&all, integer[0], integer[1], NULL, integer + 2, NULL, of->type[0]);
  case MPI_COMBINER_HINDEXED_BLOCK:
    return extend_blocks(&all, integer[0], integer[1], NULL, NULL, of->address, of->type[0]);
  case MPI_COMBINER_STRUCT:
    return extend_struct(&all, of);
  default:
    return false;
  }
}

bool tt_mpi_type_is_whole(MPI_Datatype type) {
  tt_mpi_contents of;
  if (tt_mpi_type_find(type))
    return true;
  bool whole = tt_mpi_contents_open(type, &of) && is_run(&of);
  tt_mpi_contents_close(&of);
  return whole;
}

/* Once for a row of blocks: where types nest, the questions would be the product of all counts. */
static void ask(run *so_far, MPI_Datatype type) {
  if (type == so_far->asked)
    return;
  so_far->asked = type;
  so_far->whole = tt_mpi_type_measure(type, &so_far->shape) && so_far->shape.whole && tt_mpi_type_is_whole(type);
}

static bool extend(run *so_far, int64_t at, int64_t count, MPI_Datatype type) {
  if (count == 0)
    return true;
  ask(so_far, type);
  const tt_mpi_shape *shape = &so_far->shape;
  if (!so_far->whole || (count > 1 && shape->extent != shape->size))
    return false;
  bool follows = !so_far->any || so_far->end == at + shape->lower;
  so_far->any = true;
  so_far->end = at + shape->lower + count * shape->size;
  return follows;
}
