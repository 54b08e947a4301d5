/* bindings/mpi/predefined.c - the types that MPI has itself.
 *
 * They stand in a small hash table, filled at the first look: a call with one costs one probe. Which of tutti's types
 * each is follows from its kind and its size, so that C and Fortran names, and Fortran compilers whose INTEGER has 8
 * bytes, need no rows of their own. */
#include "predefined.h"

#include "state.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- predefined types ---- */

typedef enum kind {
  DATA,
  CHARACTER,
  SIGNED,
  UNSIGNED,
  REAL,
  COMPLEX,
  LOGICAL,
  BITS,
  LONG_REAL,
  LONG_COMPLEX,
  PAIR
} kind;

typedef struct row {
  MPI_Datatype type;
  kind kind;
  int family;
  tutti_type pair; /* PAIR: which; TUTTI_TYPE_COUNT: one of Fortran's, whose index has the type of its value */
} row;

static const row rows[] = {
    {MPI_CHAR, CHARACTER, TT_MPI_INTEGER, 0},
    {MPI_CHARACTER, CHARACTER, TT_MPI_INTEGER, 0},
    {MPI_WCHAR, DATA, 0, 0},
    {MPI_PACKED, DATA, 0, 0},
    {MPI_BYTE, BITS, TT_MPI_BITS, 0},
    {MPI_SIGNED_CHAR, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_SHORT, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INT, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_LONG, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_LONG_LONG_INT, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INT8_T, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INT16_T, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INT32_T, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INT64_T, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_UNSIGNED_CHAR, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UNSIGNED_SHORT, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UNSIGNED, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UNSIGNED_LONG, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UNSIGNED_LONG_LONG, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UINT8_T, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UINT16_T, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UINT32_T, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_UINT64_T, UNSIGNED, TT_MPI_INTEGER, 0},
    {MPI_AINT, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_COUNT, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_OFFSET, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INTEGER, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INTEGER1, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INTEGER2, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INTEGER4, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_INTEGER8, SIGNED, TT_MPI_INTEGER, 0},
    {MPI_FLOAT, REAL, TT_MPI_FLOAT, 0},
    {MPI_DOUBLE, REAL, TT_MPI_FLOAT, 0},
    {MPI_REAL, REAL, TT_MPI_FLOAT, 0},
    {MPI_REAL4, REAL, TT_MPI_FLOAT, 0},
    {MPI_REAL8, REAL, TT_MPI_FLOAT, 0},
    {MPI_REAL16, DATA, 0, 0},
    {MPI_DOUBLE_PRECISION, REAL, TT_MPI_FLOAT, 0},
    {MPI_LONG_DOUBLE, LONG_REAL, TT_MPI_FLOAT, 0},
    {MPI_C_FLOAT_COMPLEX, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_C_DOUBLE_COMPLEX, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_C_LONG_DOUBLE_COMPLEX, LONG_COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_CXX_FLOAT_COMPLEX, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_CXX_DOUBLE_COMPLEX, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, LONG_COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_COMPLEX, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_DOUBLE_COMPLEX, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_COMPLEX8, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_COMPLEX16, COMPLEX, TT_MPI_COMPLEX, 0},
    {MPI_COMPLEX32, DATA, 0, 0},
    {MPI_C_BOOL, LOGICAL, TT_MPI_LOGICAL, 0},
    {MPI_CXX_BOOL, LOGICAL, TT_MPI_LOGICAL, 0},
    {MPI_LOGICAL, LOGICAL, TT_MPI_LOGICAL, 0},
#ifdef MPI_LOGICAL1 /* and the others: Open MPI's */
    {MPI_LOGICAL1, LOGICAL, TT_MPI_LOGICAL, 0},
    {MPI_LOGICAL2, LOGICAL, TT_MPI_LOGICAL, 0},
    {MPI_LOGICAL4, LOGICAL, TT_MPI_LOGICAL, 0},
    {MPI_LOGICAL8, LOGICAL, TT_MPI_LOGICAL, 0},
    {MPI_2COMPLEX, DATA, 0, 0},
    {MPI_2DOUBLE_COMPLEX, DATA, 0, 0},
#endif
    {MPI_FLOAT_INT, PAIR, TT_MPI_PAIR, TUTTI_FLOAT32_INT32},
    {MPI_DOUBLE_INT, PAIR, TT_MPI_PAIR, TUTTI_FLOAT64_INT32},
    {MPI_LONG_INT, PAIR, TT_MPI_PAIR, TUTTI_INT64_INT32},
    {MPI_2INT, PAIR, TT_MPI_PAIR, TUTTI_INT32_INT32},
    {MPI_SHORT_INT, PAIR, TT_MPI_PAIR, TUTTI_INT16_INT32},
    {MPI_LONG_DOUBLE_INT, PAIR, TT_MPI_PAIR, TUTTI_LONG_DOUBLE_INT32},
    {MPI_2INTEGER, PAIR, TT_MPI_PAIR, TUTTI_TYPE_COUNT},
    {MPI_2REAL, PAIR, TT_MPI_PAIR, TUTTI_TYPE_COUNT},
    {MPI_2DOUBLE_PRECISION, PAIR, TT_MPI_PAIR, TUTTI_TYPE_COUNT},
};

/* tutti's types of a kind, by log2 of their bytes. */
#define NONE TUTTI_TYPE_COUNT
static const tutti_type by_size[][5] = {
    [SIGNED] = {TUTTI_INT8, TUTTI_INT16, TUTTI_INT32, TUTTI_INT64, NONE},
    [UNSIGNED] = {TUTTI_UINT8, TUTTI_UINT16, TUTTI_UINT32, TUTTI_UINT64, NONE},
    [REAL] = {NONE, NONE, TUTTI_FLOAT32, TUTTI_FLOAT64, NONE},
    [COMPLEX] = {NONE, NONE, NONE, TUTTI_COMPLEX64, TUTTI_COMPLEX128},
    [LOGICAL] = {TUTTI_BOOL, TUTTI_INT16, TUTTI_INT32, TUTTI_INT64, NONE},
    [BITS] = {TUTTI_BYTE, NONE, NONE, NONE, NONE},
};

/* MPIs check this before they communicate, and have nothing to combine here. */
bool tt_mpi_type_takes(MPI_Datatype type, MPI_Op op) {
  _Alignas(64) char in[64] = {0}, out[64];
  return PMPI_Allreduce(in, out, 1, type, op, tt_mpi.self) == MPI_SUCCESS;
}

/* Letters are numbers to MPIs; which, they differ in. */
static tutti_type letter_of(MPI_Datatype type, int64_t size) {
  signed char less = -1, greatest = 1;
  if (size != 1 || !tt_mpi_reduces_locally() || !tt_mpi_type_takes(type, MPI_MAX) ||
      PMPI_Reduce_local(&less, &greatest, 1, type, MPI_MAX) != MPI_SUCCESS)
    return NONE;
  return greatest == 1 ? TUTTI_INT8 : TUTTI_UINT8;
}

static tutti_type element_of(const row *of, int64_t size) {
  switch (of->kind) {
  case DATA:
    return NONE;
  case CHARACTER:
    return letter_of(of->type, size);
  case PAIR:
    return of->pair;
  case LONG_REAL:
    return TUTTI_LONG_DOUBLE;
  case LONG_COMPLEX:
    return TUTTI_LONG_DOUBLE_COMPLEX;
  default:
    for (int log = 0; log < 5; log++)
      if (size == 1 << log)
        return by_size[of->kind][log];
    return NONE;
  }
}

/* ---- the table ---- */

#define SLOTS 256 /* three times the rows, or more */

static tt_mpi_type slots[SLOTS];
static _Atomic bool filled[SLOTS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static inline unsigned hash_of(MPI_Datatype type) {
  return (unsigned)((uint64_t)(uintptr_t)type * 0x9e3779b97f4a7c15u >> 56);
}

static inline bool is_filled(unsigned slot) {
  return atomic_load_explicit(&filled[slot], memory_order_acquire); /* pairs with add, in another thread's first look */
}

static unsigned slot_of(MPI_Datatype type) {
  unsigned slot = hash_of(type);
  while (is_filled(slot) && slots[slot].type != type)
    slot = (slot + 1) % SLOTS;
  return slot;
}

/* Types that this MPI, or its Fortran compiler, does not have are MPI_DATATYPE_NULL or have no bytes. */
static void add(const row *of) {
  unsigned slot = slot_of(of->type);
  tt_mpi_shape shape;
  if (of->type == MPI_DATATYPE_NULL || is_filled(slot) || !tt_mpi_type_measure(of->type, &shape) || shape.size == 0)
    return;
  tutti_type element = element_of(of, shape.size);
  shape.dense = shape.size == shape.extent;
  shape.signature = tt_mpi_signature_basic(element);
  bool mixed = tt_mpi_signature_is_mixed(&shape.signature);
  tutti_type said = mixed ? TUTTI_TYPE_COUNT : tt_mpi_signature_type(&shape.signature, 1);
  slots[slot] = (tt_mpi_type){of->type, shape, element, of->family, said, 0};
  atomic_store_explicit(&filled[slot], true, memory_order_release); /* pairs with is_filled */
}

static void begin(void) {
  for (size_t n = 0; n < sizeof rows / sizeof *rows; n++)
    add(&rows[n]);
}

const tt_mpi_type *tt_mpi_type_find(MPI_Datatype type) {
  unsigned slot = slot_of(type);
  if (is_filled(slot))
    return &slots[slot];
  pthread_once(&once, begin);
  slot = slot_of(type);
  return is_filled(slot) ? &slots[slot] : NULL;
}
