/* tests/mpi/serve_ops.c - every predefined type with every operator of MPI's: what the MPI combines alone is combined
 * alike, to the byte, and what it refuses is refused.
 *
 *     serve_ops taken     makes the calls that the MPI takes: all of them are to run on tutti
 *     serve_ops refused   the others: an error on every rank, and the communicator works on
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 37, MOST_BYTES = 32 };

/* NATURAL: of Open MPI's without a sign MPICH's have one, and the other way round. */
typedef enum kind { INTEGER, NATURAL, REAL, LONG_REAL, QUAD, COMPLEX, LOGICAL, BITS, PAIR } kind;

typedef struct element {
  const char *name;
  MPI_Datatype type;
  kind kind;
  int value; /* of pairs: bytes, negative where it is real */
  int index; /* where it lies; its bytes are 4, or those of the value where both are real or alike */
} element;

#define OF(name, ...) {#name, name, __VA_ARGS__}

static const element elements[] = {
    OF(MPI_CHAR, INTEGER),
    OF(MPI_CHARACTER, INTEGER),
    OF(MPI_WCHAR, INTEGER),
    OF(MPI_PACKED, BITS),
    OF(MPI_BYTE, BITS),
    OF(MPI_SIGNED_CHAR, INTEGER),
    OF(MPI_SHORT, INTEGER),
    OF(MPI_INT, INTEGER),
    OF(MPI_LONG, INTEGER),
    OF(MPI_LONG_LONG_INT, INTEGER),
    OF(MPI_INT8_T, INTEGER),
    OF(MPI_INT16_T, INTEGER),
    OF(MPI_INT32_T, INTEGER),
    OF(MPI_INT64_T, INTEGER),
    OF(MPI_UNSIGNED_CHAR, NATURAL),
    OF(MPI_UNSIGNED_SHORT, NATURAL),
    OF(MPI_UNSIGNED, NATURAL),
    OF(MPI_UNSIGNED_LONG, NATURAL),
    OF(MPI_UNSIGNED_LONG_LONG, NATURAL),
    OF(MPI_UINT8_T, NATURAL),
    OF(MPI_UINT16_T, NATURAL),
    OF(MPI_UINT32_T, NATURAL),
    OF(MPI_UINT64_T, NATURAL),
    OF(MPI_AINT, NATURAL),
    OF(MPI_COUNT, NATURAL),
    OF(MPI_OFFSET, NATURAL),
    OF(MPI_INTEGER, INTEGER),
    OF(MPI_INTEGER1, INTEGER),
    OF(MPI_INTEGER2, INTEGER),
    OF(MPI_INTEGER4, INTEGER),
    OF(MPI_INTEGER8, INTEGER),
    OF(MPI_FLOAT, REAL),
    OF(MPI_DOUBLE, REAL),
    OF(MPI_REAL, REAL),
    OF(MPI_REAL4, REAL),
    OF(MPI_REAL8, REAL),
    OF(MPI_REAL16, QUAD),
    OF(MPI_DOUBLE_PRECISION, REAL),
    OF(MPI_LONG_DOUBLE, LONG_REAL),
    OF(MPI_C_COMPLEX, COMPLEX),
    OF(MPI_C_FLOAT_COMPLEX, COMPLEX),
    OF(MPI_C_DOUBLE_COMPLEX, COMPLEX),
    OF(MPI_CXX_FLOAT_COMPLEX, COMPLEX),
    OF(MPI_CXX_DOUBLE_COMPLEX, COMPLEX),
    OF(MPI_COMPLEX, COMPLEX),
    OF(MPI_DOUBLE_COMPLEX, COMPLEX),
    OF(MPI_COMPLEX8, COMPLEX),
    OF(MPI_COMPLEX16, COMPLEX),
    OF(MPI_C_LONG_DOUBLE_COMPLEX, QUAD),
    OF(MPI_COMPLEX32, QUAD),
    OF(MPI_C_BOOL, LOGICAL),
    OF(MPI_CXX_BOOL, LOGICAL),
    OF(MPI_LOGICAL, LOGICAL),
#ifdef MPI_LOGICAL1
    OF(MPI_LOGICAL1, LOGICAL),
    OF(MPI_LOGICAL2, LOGICAL),
    OF(MPI_LOGICAL4, LOGICAL),
    OF(MPI_LOGICAL8, LOGICAL),
    OF(MPI_2COMPLEX, QUAD),
    OF(MPI_2DOUBLE_COMPLEX, QUAD),
#endif
    OF(MPI_FLOAT_INT, PAIR, -4, 4),
    OF(MPI_DOUBLE_INT, PAIR, -8, 8),
    OF(MPI_LONG_INT, PAIR, 8, 8),
    OF(MPI_2INT, PAIR, 4, 4),
    OF(MPI_SHORT_INT, PAIR, 2, 4),
    OF(MPI_2INTEGER, PAIR, 4, 4),
    OF(MPI_2REAL, PAIR, -4, 4),
    OF(MPI_2DOUBLE_PRECISION, PAIR, -8, 8),
};

static const struct operator{
  const char *name;
  MPI_Op op;
  bool logical;
}
operators[] = {
    OF(MPI_SUM, false),    OF(MPI_PROD, false),   OF(MPI_MAX, false),     OF(MPI_MIN, false),   OF(MPI_LAND, true),
    OF(MPI_LOR, true),     OF(MPI_LXOR, true),    OF(MPI_BAND, false),    OF(MPI_BOR, false),   OF(MPI_BXOR, false),
    OF(MPI_MAXLOC, false), OF(MPI_MINLOC, false), OF(MPI_REPLACE, false), OF(MPI_NO_OP, false),
};

static int rank, failures;

/* ---- data ---- */

static unsigned draw(void) {
  static uint64_t state;
  state = state * 6364136223846793005u + 1442695040888963407u + (unsigned)rank;
  return (unsigned)(state >> 33);
}

static void set_real(char *at, int bytes, double value) {
  float brief = (float)value;
  memcpy(at, bytes == 4 ? (void *)&brief : (void *)&value, (size_t)bytes);
}

static void set_pair(char *at, const element *of) {
  int value = (int)(draw() % 4), index = (int)(draw() % 100);
  long wide = value;
  if (of->value < 0)
    set_real(at, -of->value, value);
  else
    memcpy(at, &wide, (size_t)of->value);
  if (strncmp(of->name, "MPI_2", 5) == 0 && of->value < 0)
    set_real(at + of->index, -of->value, index);
  else
    memcpy(at + of->index, &index, 4);
}

/* Small numbers where sums must be exact, and where Open MPI's end at the greatest number instead of wrapping; else any
 * bits of integers. Zero is all that is known of long numbers' bits. */
static void fill(char *at, const element *of, const struct operator* by, int bytes) {
  bool small = bytes <= 2 && (by->op == MPI_SUM || by->op == MPI_PROD);
  long double wide = (int)(draw() % 7) - 3;
  switch (of->kind) {
  case INTEGER:
  case NATURAL:
  case BITS:
    *at = (char)(draw() % 5);
    for (int n = 0; !small && n < bytes; n++)
      at[n] = (char)(draw() % 3 ? draw() : 0);
    at[bytes - 1] &= of->kind == NATURAL ? 0x7f : -1;
    break;
  case REAL:
    set_real(at, bytes, (int)(draw() % 7) - 3);
    break;
  case LONG_REAL:
    memcpy(at, &wide, 10);
    break;
  case COMPLEX:
    set_real(at, bytes / 2, 1 + draw() % 3);
    set_real(at + bytes / 2, bytes / 2, 1 + draw() % 3);
    break;
  case LOGICAL:
    *at = (char)(draw() % 2);
    break;
  case PAIR:
    set_pair(at, of);
    break;
  case QUAD:
    break;
  }
}

/* ---- trials ---- */

static void check(bool right, const char *what, const element *of, const struct operator* by) {
  if (!right && failures++ < 20)
    printf("rank %d: %s with %s: %s\n", rank, of->name, by->name, what);
}

static void compare(const char *what, const char *alone, const char *here, long extent, const element *of,
                    const struct operator* by) {
  for (int n = 0; n < COUNT; n++) {
    long bytes = of->kind == LONG_REAL ? 10 : extent;
    check(memcmp(alone + n * extent, here + n * extent, (size_t)bytes) == 0, what, of, by);
  }
}

static int try(const element *of, const struct operator* by, bool taken) {
  static _Alignas(64) char in[COUNT * MOST_BYTES], alone[COUNT * MOST_BYTES], here[COUNT * MOST_BYTES];
  MPI_Aint lower, extent;
  MPI_Request request;
  int bytes;
  MPI_Type_size(of->type, &bytes);
  MPI_Type_get_extent(of->type, &lower, &extent);
  if ((PMPI_Allreduce(in, alone, 1, of->type, by->op, MPI_COMM_SELF) == MPI_SUCCESS) != taken)
    return 0;
  memset(in, 0, sizeof in);
  memset(alone, 0, sizeof alone);
  memset(here, 0, sizeof here);
  for (int n = 0; n < COUNT; n++)
    fill(in + n * extent, of, by, bytes);
  if (!taken) {
    check(MPI_Allreduce(in, here, COUNT, of->type, by->op, MPI_COMM_WORLD) != MPI_SUCCESS, "taken", of, by);
    check(MPI_Iallreduce(in, here, COUNT, of->type, by->op, MPI_COMM_WORLD, &request) != MPI_SUCCESS, "taken", of, by);
    return 1;
  }
  check(PMPI_Allreduce(in, alone, COUNT, of->type, by->op, MPI_COMM_WORLD) == MPI_SUCCESS, "refused alone", of, by);
  check(MPI_Allreduce(in, here, COUNT, of->type, by->op, MPI_COMM_WORLD) == MPI_SUCCESS, "refused", of, by);
  compare("another sum", alone, here, extent, of, by);
  PMPI_Scan(in, alone, COUNT, of->type, by->op, MPI_COMM_WORLD);
  MPI_Scan(in, here, COUNT, of->type, by->op, MPI_COMM_WORLD);
  compare("another scan", alone, here, extent, of, by);
  return 1;
}

/* MPICH takes logical operators of numbers with a point, and ends in an assertion. */
static bool is_trap(const element *of, const struct operator* by) {
  return by->logical && (of->kind == REAL || of->kind == LONG_REAL || of->kind == QUAD || of->kind == COMPLEX);
}

static int try_all(const element *of, bool taken) {
  int tried = 0;
  for (size_t o = 0; of->type != MPI_DATATYPE_NULL && o < sizeof operators / sizeof *operators; o++)
    if (!is_trap(of, &operators[o]))
      tried += try(of, &operators[o], taken);
  return tried;
}

/* Types that MPI has without a name. */
static int try_unnamed(bool taken) {
  element of[] = {{"f90_real", .kind = REAL}, {"f90_complex", .kind = COMPLEX}, {"f90_integer", .kind = INTEGER}};
  MPI_Type_create_f90_real(15, 307, &of[0].type);
  MPI_Type_create_f90_complex(6, 37, &of[1].type);
  MPI_Type_create_f90_integer(9, &of[2].type);
  return try_all(&of[0], taken) + try_all(&of[1], taken) + try_all(&of[2], taken);
}

int main(int argc, char **argv) {
  bool taken = argc > 1 && strcmp(argv[1], "taken") == 0;
  int tried = 0, one = 1, sum = 0, size, all = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (size_t t = 0; t < sizeof elements / sizeof *elements; t++)
    tried += try_all(&elements[t], taken);
  tried += try_unnamed(taken);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  failures += sum != size || tried < 100;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all > 0)
    printf("%d failures in %d pairs\n", all, tried);
  MPI_Finalize();
  return all > 0;
}
