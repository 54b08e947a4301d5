/* bindings/mpi/types.c - what tutti needs to know of any type: of MPI's own, predefined.c has it. What is found out of
 * a derived type is kept with it as an attribute; MPI removes it when the type is gone. */
#include "types.h"

#include "state.h"
#include "types_signature.h"
#include "types_whole.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void (*_Atomic gone)(MPI_Datatype type);
static int attribute = MPI_KEYVAL_INVALID;

/* A derived type is no more. */
static int forget(MPI_Datatype type, int key, void *value, void *extra) {
  (void)key;
  (void)extra;
  void (*told)(MPI_Datatype) = atomic_load_explicit(&gone, memory_order_acquire); /* pairs with tt_mpi_types_tell */
  if (told)
    told(type);
  free(value);
  return MPI_SUCCESS;
}

static void begin(void) {
  if (PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &attribute, NULL) != MPI_SUCCESS)
    attribute = MPI_KEYVAL_INVALID;
}

void tt_mpi_types_tell(void (*told)(MPI_Datatype type)) {
  atomic_store_explicit(&gone, told, memory_order_release); /* pairs with forget */
}

/* Packing no element of it is an error where it is no type, or not committed: of tt_mpi.self, which returns errors.
 * What else asks about types has no communicator, and would end the job for one that is none. */
static bool is_committed(MPI_Datatype type) {
  char byte = 0;
  int position = 0;
  return PMPI_Pack(&byte, 0, type, &byte, 1, &position, tt_mpi.self) == MPI_SUCCESS;
}

static bool find_out(MPI_Datatype type, tt_mpi_shape *shape) {
  if (!tt_mpi_type_measure(type, shape))
    return false;
  shape->whole = shape->whole && tt_mpi_type_is_whole(type);
  shape->dense = shape->whole && shape->size == shape->extent;
  shape->signature = tt_mpi_signature_of(type);
  tt_mpi_shape *kept = malloc(sizeof *kept);
  if (!kept)
    return true;
  *kept = *shape;
  if (attribute == MPI_KEYVAL_INVALID || PMPI_Type_set_attr(type, attribute, kept) != MPI_SUCCESS)
    free(kept);
  return true;
}

/* The shape that is kept; NULL: none is. False: MPI does not know the type. */
static bool look_up(MPI_Datatype type, const tt_mpi_shape **kept) {
  int found = 0;
  tt_mpi_shape *value = NULL;
  if (attribute != MPI_KEYVAL_INVALID && PMPI_Type_get_attr(type, attribute, (void *)&value, &found) != MPI_SUCCESS)
    return false;
  *kept = found ? value : NULL;
  return true;
}

/* One thread at a time: a second one would put its shape in the place of the first one's, whose end is told as that of
 * the type. */
static bool find_out_once(MPI_Datatype type, tt_mpi_shape *shape) {
  static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
  const tt_mpi_shape *kept = NULL;
  pthread_mutex_lock(&guard);
  bool found = look_up(type, &kept) && (kept || find_out(type, shape));
  if (kept)
    *shape = *kept;
  pthread_mutex_unlock(&guard);
  return found;
}

bool tt_mpi_shape_of(MPI_Datatype type, tt_mpi_shape *shape) {
  const tt_mpi_type *known = tt_mpi_type_find(type);
  const tt_mpi_shape *kept = NULL;
  if (known) {
    *shape = known->shape;
    return true;
  }
  if (type == MPI_DATATYPE_NULL)
    return false;
  pthread_once(&once, begin);
  if (!is_committed(type) || !look_up(type, &kept))
    return false;
  if (!kept)
    return find_out_once(type, shape);
  *shape = *kept;
  return true;
}

/* MPI keeps what a type was made of. */
MPI_Datatype tt_mpi_type_hold(MPI_Datatype type) {
  MPI_Datatype holder = MPI_DATATYPE_NULL;
  if (!tt_mpi_type_find(type))
    PMPI_Type_contiguous(1, type, &holder);
  return holder;
}
