/* tests/mpi/conform/types.c - the table of element types; see element.h. */
#include "element.h"

#include <wchar.h>

#define ONE(NAME, part, CLASS, FORMAT)                                                                                 \
  {#NAME, NAME, CLASS_##CLASS, FORMAT_##FORMAT, FORMAT_NONE, sizeof(part), 0, 0, sizeof(part)}
#define TWO(NAME, part, CLASS, FORMAT)                                                                                 \
  {#NAME,        NAME,         CLASS_##CLASS, FORMAT_##FORMAT, FORMAT_##FORMAT,                                        \
   sizeof(part), sizeof(part), sizeof(part),  2 * sizeof(part)}
#define PAIR(NAME, of, FORMAT)                                                                                         \
  {#NAME,         NAME,                                                                                                \
   CLASS_PAIR,    FORMAT_##FORMAT,                                                                                     \
   FORMAT_SIGNED, sizeof(((of *)0)->value),                                                                            \
   sizeof(int),   offsetof(of, index),                                                                                 \
   sizeof(of)}
#define OWN(NAME, of, CLASS, FORMAT, SECOND)                                                                           \
  {NAME,                                                                                                               \
   MPI_DATATYPE_NULL,                                                                                                  \
   CLASS_##CLASS,                                                                                                      \
   FORMAT_##FORMAT,                                                                                                    \
   FORMAT_##SECOND,                                                                                                    \
   sizeof(((of *)0)->value),                                                                                           \
   sizeof(((of *)0)->second),                                                                                          \
   offsetof(of, second),                                                                                               \
   sizeof(of)}

/* MPI describes its pairs by these. */
typedef struct float_int {
  float value;
  int index;
} float_int;
typedef struct double_int {
  double value;
  int index;
} double_int;
typedef struct long_int {
  long value;
  int index;
} long_int;
typedef struct short_int {
  short value;
  int index;
} short_int;
typedef struct long_double_int {
  long double value;
  int index;
} long_double_int;

typedef struct record {
  char value;
  double second;
} record;
typedef struct affine {
  uint32_t value, second;
} affine;
typedef struct affine_apart {
  uint32_t value, gap, second, end;
} affine_apart;

/* Fortran's types have the sizes that they have without compiler options. Those of ours are made at the start. */
static base_type bases[] = {
    ONE(MPI_CHAR, char, MOVED, SIGNED),
    ONE(MPI_WCHAR, wchar_t, MOVED, SIGNED),
    ONE(MPI_PACKED, char, MOVED, SIGNED),
    ONE(MPI_CHARACTER, char, MOVED, SIGNED),
    ONE(MPI_REAL16, long double, MOVED, FLOAT),
    ONE(MPI_BYTE, uint8_t, BYTE, UNSIGNED),
    ONE(MPI_SIGNED_CHAR, signed char, INTEGER, SIGNED),
    ONE(MPI_UNSIGNED_CHAR, unsigned char, INTEGER, UNSIGNED),
    ONE(MPI_SHORT, short, INTEGER, SIGNED),
    ONE(MPI_UNSIGNED_SHORT, unsigned short, INTEGER, UNSIGNED),
    ONE(MPI_INT, int, INTEGER, SIGNED),
    ONE(MPI_UNSIGNED, unsigned, INTEGER, UNSIGNED),
    ONE(MPI_LONG, long, INTEGER, SIGNED),
    ONE(MPI_UNSIGNED_LONG, unsigned long, INTEGER, UNSIGNED),
    ONE(MPI_LONG_LONG, long long, INTEGER, SIGNED),
    ONE(MPI_UNSIGNED_LONG_LONG, unsigned long long, INTEGER, UNSIGNED),
    ONE(MPI_INT8_T, int8_t, INTEGER, SIGNED),
    ONE(MPI_INT16_T, int16_t, INTEGER, SIGNED),
    ONE(MPI_INT32_T, int32_t, INTEGER, SIGNED),
    ONE(MPI_INT64_T, int64_t, INTEGER, SIGNED),
    ONE(MPI_UINT8_T, uint8_t, INTEGER, UNSIGNED),
    ONE(MPI_UINT16_T, uint16_t, INTEGER, UNSIGNED),
    ONE(MPI_UINT32_T, uint32_t, INTEGER, UNSIGNED),
    ONE(MPI_UINT64_T, uint64_t, INTEGER, UNSIGNED),
    ONE(MPI_AINT, MPI_Aint, COUNTING, SIGNED),
    ONE(MPI_OFFSET, MPI_Offset, COUNTING, SIGNED),
    ONE(MPI_COUNT, MPI_Count, COUNTING, SIGNED),
    ONE(MPI_INTEGER, MPI_Fint, COUNTING, SIGNED),
    ONE(MPI_INTEGER1, int8_t, COUNTING, SIGNED),
    ONE(MPI_INTEGER2, int16_t, COUNTING, SIGNED),
    ONE(MPI_INTEGER4, int32_t, COUNTING, SIGNED),
    ONE(MPI_INTEGER8, int64_t, COUNTING, SIGNED),
    ONE(MPI_FLOAT, float, FLOAT, FLOAT),
    ONE(MPI_DOUBLE, double, FLOAT, FLOAT),
    ONE(MPI_LONG_DOUBLE, long double, FLOAT, FLOAT),
    ONE(MPI_REAL, float, FLOAT, FLOAT),
    ONE(MPI_REAL4, float, FLOAT, FLOAT),
    ONE(MPI_REAL8, double, FLOAT, FLOAT),
    ONE(MPI_DOUBLE_PRECISION, double, FLOAT, FLOAT),
    ONE(MPI_C_BOOL, bool, LOGICAL, UNSIGNED),
    ONE(MPI_CXX_BOOL, bool, LOGICAL, UNSIGNED),
    ONE(MPI_LOGICAL, MPI_Fint, LOGICAL, SIGNED),
    TWO(MPI_C_FLOAT_COMPLEX, float, COMPLEX, FLOAT),
    TWO(MPI_C_DOUBLE_COMPLEX, double, COMPLEX, FLOAT),
    TWO(MPI_C_LONG_DOUBLE_COMPLEX, long double, COMPLEX, FLOAT),
    TWO(MPI_CXX_FLOAT_COMPLEX, float, COMPLEX, FLOAT),
    TWO(MPI_CXX_DOUBLE_COMPLEX, double, COMPLEX, FLOAT),
    TWO(MPI_CXX_LONG_DOUBLE_COMPLEX, long double, COMPLEX, FLOAT),
    TWO(MPI_COMPLEX, float, COMPLEX, FLOAT),
    TWO(MPI_COMPLEX8, float, COMPLEX, FLOAT),
    TWO(MPI_COMPLEX16, double, COMPLEX, FLOAT),
    TWO(MPI_DOUBLE_COMPLEX, double, COMPLEX, FLOAT),
    PAIR(MPI_FLOAT_INT, float_int, FLOAT),
    PAIR(MPI_DOUBLE_INT, double_int, FLOAT),
    PAIR(MPI_LONG_INT, long_int, SIGNED),
    TWO(MPI_2INT, int, PAIR, SIGNED),
    PAIR(MPI_SHORT_INT, short_int, SIGNED),
    PAIR(MPI_LONG_DOUBLE_INT, long_double_int, FLOAT),
    TWO(MPI_2REAL, float, PAIR, FLOAT),
    TWO(MPI_2DOUBLE_PRECISION, double, PAIR, FLOAT),
    TWO(MPI_2INTEGER, MPI_Fint, PAIR, SIGNED),
    OWN("{char, double}", record, MOVED, SIGNED, FLOAT),
    OWN("{uint32, uint32}", affine, AFFINE, UNSIGNED, UNSIGNED),
    OWN("{uint32, gap, uint32, gap}", affine_apart, AFFINE, UNSIGNED, UNSIGNED),
};
enum { BASE_COUNT = sizeof bases / sizeof bases[0], OWN_COUNT = 3, REDUCTION_MOST = BASE_COUNT * 8 };

static const base_type *known[BASE_COUNT];
static reduction reductions[REDUCTION_MOST];
static int known_count, reduction_count;

static MPI_Datatype own_make(const base_type *of, MPI_Datatype first, MPI_Datatype second) {
  MPI_Datatype tight, made;
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, (MPI_Aint)of->second_at}, (MPI_Datatype[]){first, second},
                         &tight);
  MPI_Type_create_resized(tight, 0, (MPI_Aint)of->extent, &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&tight);
  return made;
}

void element_begin(void) {
  base_type *own = bases + BASE_COUNT - OWN_COUNT;
  own[0].type = own_make(&own[0], MPI_CHAR, MPI_DOUBLE);
  own[1].type = own_make(&own[1], MPI_UINT32_T, MPI_UINT32_T);
  own[2].type = own_make(&own[2], MPI_UINT32_T, MPI_UINT32_T);
  element_ops_begin();
  for (int k = 0; k < BASE_COUNT; k++) {
    if (bases[k].type == MPI_DATATYPE_NULL)
      continue;
    known[known_count++] = &bases[k];
    for (int op = 0; op < OP_COUNT; op++)
      if (element_op_allows((op_number)op, bases[k].class))
        reductions[reduction_count++] = (reduction){&bases[k], (op_number)op};
  }
}

void element_end(void) {
  element_ops_end();
  for (int k = BASE_COUNT - OWN_COUNT; k < BASE_COUNT; k++)
    MPI_Type_free(&bases[k].type);
}

int element_base_count(void) { return known_count; }
const base_type *element_base(int index) { return known[index]; }
int element_reduction_count(void) { return reduction_count; }
reduction element_reduction(int index) { return reductions[index]; }

const base_type *element_base_of(MPI_Datatype type) {
  for (int k = 0; k < known_count; k++)
    if (known[k]->type == type)
      return known[k];
  return NULL;
}
