/* tests/mpi/random/elements.c - MPI's predefined types, and values for them. */
#include "random.h"

const element elements[] = {
    {MPI_INT, SIGNED, 0},
    {MPI_DOUBLE, REAL, 0},
    {MPI_BYTE, BITS, 0},
    {MPI_CHAR, BITS, 0},
    {MPI_CHARACTER, BITS, 0},
    {MPI_WCHAR, BITS, 0},
    {MPI_SIGNED_CHAR, SIGNED, 0},
    {MPI_SHORT, SIGNED, 0},
    {MPI_LONG, SIGNED, 0},
    {MPI_LONG_LONG_INT, SIGNED, 0},
    {MPI_INT8_T, SIGNED, 0},
    {MPI_INT16_T, SIGNED, 0},
    {MPI_INT32_T, SIGNED, 0},
    {MPI_INT64_T, SIGNED, 0},
    {MPI_UNSIGNED_CHAR, UNSIGNED, 0},
    {MPI_UNSIGNED_SHORT, UNSIGNED, 0},
    {MPI_UNSIGNED, UNSIGNED, 0},
    {MPI_UNSIGNED_LONG, UNSIGNED, 0},
    {MPI_UNSIGNED_LONG_LONG, UNSIGNED, 0},
    {MPI_UINT8_T, UNSIGNED, 0},
    {MPI_UINT16_T, UNSIGNED, 0},
    {MPI_UINT32_T, UNSIGNED, 0},
    {MPI_UINT64_T, UNSIGNED, 0},
    {MPI_AINT, FORTRAN_INTEGER, 0},
    {MPI_COUNT, FORTRAN_INTEGER, 0},
    {MPI_OFFSET, FORTRAN_INTEGER, 0},
    {MPI_INTEGER, FORTRAN_INTEGER, 0},
    {MPI_INTEGER1, FORTRAN_INTEGER, 0},
    {MPI_INTEGER2, FORTRAN_INTEGER, 0},
    {MPI_INTEGER4, FORTRAN_INTEGER, 0},
    {MPI_INTEGER8, FORTRAN_INTEGER, 0},
    {MPI_FLOAT, REAL, 0},
    {MPI_REAL, REAL, 0},
    {MPI_REAL4, REAL, 0},
    {MPI_REAL8, REAL, 0},
    {MPI_DOUBLE_PRECISION, REAL, 0},
    {MPI_LONG_DOUBLE, LONG_REAL, 0},
    {MPI_C_FLOAT_COMPLEX, COMPLEX, 0},
    {MPI_C_DOUBLE_COMPLEX, COMPLEX, 0},
    {MPI_CXX_FLOAT_COMPLEX, COMPLEX, 0},
    {MPI_CXX_DOUBLE_COMPLEX, COMPLEX, 0},
    {MPI_COMPLEX, COMPLEX, 0},
    {MPI_DOUBLE_COMPLEX, COMPLEX, 0},
    {MPI_COMPLEX8, COMPLEX, 0},
    {MPI_COMPLEX16, COMPLEX, 0},
    {MPI_C_BOOL, LOGICAL, 0},
    {MPI_CXX_BOOL, LOGICAL, 0},
    {MPI_LOGICAL, LOGICAL, 0},
    {MPI_FLOAT_INT, PAIR, 'f'},
    {MPI_DOUBLE_INT, PAIR, 'd'},
    {MPI_LONG_INT, PAIR, 'l'},
    {MPI_SHORT_INT, PAIR, 's'},
    {MPI_2INT, PAIR, 'i'},
    {MPI_LONG_DOUBLE_INT, PAIR, 'L'},
    {MPI_2INTEGER, PAIR, 'i'},
    {MPI_2REAL, PAIR, 'F'},
    {MPI_2DOUBLE_PRECISION, PAIR, 'D'},
};

const int element_count = sizeof elements / sizeof *elements;

int64_t extent_of(MPI_Datatype type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  return extent;
}

static void set_real(char *at, int64_t bytes, double value) {
  float brief = (float)value;
  memcpy(at, bytes == 4 ? (void *)&brief : (void *)&value, (size_t)bytes);
}

static void set_long_real(char *at, long double value) { memcpy(at, &value, 10); }

static void set_pair(char *at, char kind, int value, int index) {
  short brief = (short)value;
  long wide = value;
  switch (kind) {
  case 'f':
    set_real(at, 4, value);
    memcpy(at + 4, &index, 4);
    break;
  case 'd':
    set_real(at, 8, value);
    memcpy(at + 8, &index, 4);
    break;
  case 'l':
    memcpy(at, &wide, 8);
    memcpy(at + 8, &index, 4);
    break;
  case 's':
    memcpy(at, &brief, 2);
    memcpy(at + 4, &index, 4);
    break;
  case 'i':
    memcpy(at, &value, 4);
    memcpy(at + 4, &index, 4);
    break;
  case 'L':
    set_long_real(at, value);
    memcpy(at + 16, &index, 4);
    break;
  case 'F':
    set_real(at, 4, value);
    set_real(at + 4, 4, index);
    break;
  default:
    set_real(at, 8, value);
    set_real(at + 8, 8, index);
  }
}

void fill_element(char *at, const element *of, stream *from) {
  int64_t value = pick(from, 5) - 1;
  int bytes;
  MPI_Type_size(of->type, &bytes);
  memset(at, 0, (size_t)extent_of(of->type));
  switch (of->kind) {
  case FORTRAN_INTEGER: /* Open MPI has MPI_OFFSET without a sign */
  case UNSIGNED:
    value++; /* fall through */
  case SIGNED:
    memcpy(at, &value, (size_t)bytes);
    break;
  case LOGICAL:
    *at = (char)pick(from, 2);
    break;
  case REAL:
    set_real(at, bytes, (double)value);
    break;
  case LONG_REAL:
    set_long_real(at, value);
    break;
  case COMPLEX:
    set_real(at, bytes / 2, (double)value);
    set_real(at + bytes / 2, bytes / 2, pick(from, 3) - 1);
    break;
  case PAIR:
    set_pair(at, of->value, (int)value, pick(from, 9));
    break;
  case BITS:
    for (int n = 0; n < bytes; n++)
      at[n] = (char)pick(from, 256);
  }
}

void clear_padding(char *at, const element *of) {
  if (of->kind == LONG_REAL || of->value == 'L')
    memset(at + 10, 0, 6);
}
