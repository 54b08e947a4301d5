/* tests/mpi/serve_edges.c - legal calls at the edge of what tutti itself takes: buffers that interleave, absolute
 * addresses, types and operators that are freed too early, nothing at all; and errors that MPI must still find.
 *
 *     serve_edges [large]
 *
 * large: also 3 GiB in one call, and one element of more bytes than MPI_Pack can count. */
#include "comm_check.h"
#include "persistent.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define MOST_RANKS 64

static int rank, size;

/* ---- buffers that lie within each other ---- */

/* One column of a matrix goes to the others, into other columns of the same matrix. */
static void test_columns(void) {
  enum { ROWS = 8 };
  int matrix[ROWS][MOST_RANKS + 1];
  MPI_Datatype vector, column;
  memset(matrix, -1, sizeof matrix);
  for (int n = 0; n < ROWS; n++)
    matrix[n][0] = 10 * rank + n;
  MPI_Type_vector(ROWS, 1, MOST_RANKS + 1, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, sizeof(int), &column);
  MPI_Type_commit(&column);
  MPI_Allgather(&matrix[0][0], 1, column, &matrix[0][1], 1, column, MPI_COMM_WORLD);
  for (int n = 0; n < ROWS; n++) {
    check(matrix[n][0] == 10 * rank + n, "own column", n);
    for (int r = 0; r < MOST_RANKS; r++)
      check(matrix[n][1 + r] == (r < size ? 10 * r + n : -1), "column", r);
  }
  MPI_Type_free(&vector);
  MPI_Type_free(&column);
}

/* The even elements are sent, the odd ones received. */
static void test_even_and_odd(void) {
  int both[2 * MOST_RANKS], ones[MOST_RANKS], even[MOST_RANKS], odd[MOST_RANKS];
  for (int r = 0; r < size; r++) {
    ones[r] = 1;
    even[r] = 2 * r;
    odd[r] = 2 * r + 1;
  }
  for (int shift = 0; shift <= 1; shift++) { /* the same places, from another beginning */
    for (int r = 0; r < size; r++) {
      both[2 * r] = 100 * rank + r;
      both[2 * r + 1] = -1;
    }
    MPI_Alltoallv(both, ones, even, MPI_INT, both + shift, ones, shift ? even : odd, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++)
      check(both[2 * r] == 100 * rank + r && both[2 * r + 1] == 100 * r + rank, "even and odd", r);
  }
}

/* What is sent lies in a gap of where it is received. */
static void test_gap(void) {
  int all[2 * MOST_RANKS], ones[MOST_RANKS], even[MOST_RANKS], *mine = &all[2 * ((rank + 1) % size) + 1];
  for (int r = 0; r < size; r++) {
    ones[r] = 1;
    even[r] = 2 * r;
  }
  *mine = 50 + rank;
  MPI_Allgatherv(mine, 1, MPI_INT, all, ones, even, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; r++)
    check(all[2 * r] == 50 + r, "gap", r);
}

/* ---- absolute addresses ---- */

static void test_bottom(void) {
  struct { /* apart, and in another order */
    double second;
    int gap, first;
  } data = {rank == 0 ? 1.5 : 0, 0, rank == 0 ? 77 : 0};
  MPI_Aint at[2];
  MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, both, first;
  MPI_Request request;
  int all[MOST_RANKS];
  MPI_Get_address(&data.first, &at[0]);
  MPI_Get_address(&data.second, &at[1]);
  MPI_Type_create_struct(2, (int[]){1, 1}, at, types, &both);
  MPI_Type_commit(&both);
  MPI_Bcast(MPI_BOTTOM, 1, both, 0, MPI_COMM_WORLD);
  check(data.first == 77 && data.second == 1.5, "bottom", data.first);
  data.first = rank == 0 ? 78 : 0;
  MPI_Ibcast(MPI_BOTTOM, 1, both, 0, MPI_COMM_WORLD, &request);
  MPI_Type_free(&both);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(data.first == 78 && data.second == 1.5, "bottom, started", data.first);
  MPI_Type_create_struct(1, (int[]){1}, at, types, &first); /* one piece: needs no packing */
  MPI_Type_commit(&first);
  MPI_Allgather(MPI_BOTTOM, 1, first, all, 1, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size; r++)
    check(all[r] == 78, "bottom, one piece", r);
  MPI_Type_free(&first);
}

/* ---- freed while a call still needs it ---- */

typedef struct record {
  int a;
  double x;
  char c;
} record;

static void add_records(void *in, void *inout, int *count, MPI_Datatype *type) {
  const record *left = in;
  record *right = inout;
  (void)type;
  for (int n = 0; n < *count; n++) {
    right[n].a += left[n].a;
    right[n].x += left[n].x;
    right[n].c = (char)(right[n].c + left[n].c);
  }
}

static void add_ints(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int n = 0; n < *count; n++)
    ((int *)inout)[n] += ((const int *)in)[n];
}

static MPI_Datatype make_record_type(void) {
  MPI_Aint at[3] = {offsetof(record, a), offsetof(record, x), offsetof(record, c)};
  MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR}, tight, made;
  MPI_Type_create_struct(3, (int[]){1, 1, 1}, at, types, &tight);
  MPI_Type_create_resized(tight, 0, sizeof(record), &made);
  MPI_Type_commit(&made);
  MPI_Type_free(&tight);
  return made;
}

/* Another operator is made where the first one, for all that the program knows, no longer is. */
static void add_with_another(void) {
  MPI_Op op;
  int one = 1, sum = 0;
  MPI_Op_create(add_ints, 1, &op);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  check(sum == size, "another operator", sum);
  MPI_Op_free(&op);
}

static void test_freed_early(void) {
  MPI_Op op;
  MPI_Datatype type = make_record_type();
  MPI_Request request;
  record in[3], out[3];
  memset(out, 0x55, sizeof out);
  for (int n = 0; n < 3; n++)
    in[n] = (record){rank + n, n, 1};
  MPI_Op_create(add_records, 1, &op);
  MPI_Iallreduce(in, out, 3, type, op, MPI_COMM_WORLD, &request);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  check(op == MPI_OP_NULL && type == MPI_DATATYPE_NULL, "freed", 0);
  add_with_another();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int n = 0; n < 3; n++) {
    const unsigned char *bytes = (const unsigned char *)&out[n];
    check(out[n].a == size * (size - 1) / 2 + size * n && out[n].x == size * n && out[n].c == (char)size, "record", n);
    check(bytes[offsetof(record, a) + 4] == 0x55 && bytes[offsetof(record, c) + 1] == 0x55, "gaps of a record", n);
  }
}

static void test_freed_persistent(void) {
  MPI_Datatype every_second;
  MPI_Request request;
  int mine[8], all[4 * MOST_RANKS];
  MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Allgather_init(mine, 1, every_second, all, 4, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Type_free(&every_second);
  for (int round = 0; round < 5; round++) {
    for (int n = 0; n < 8; n++)
      mine[n] = 100 * rank + 10 * round + n;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int n = 0; n < 4 * size; n++)
      check(all[n] == 100 * (n / 4) + 10 * round + 2 * (n % 4), "persistent", n);
  }
  MPI_Request_free(&request);
}

/* ---- types of Fortran's, which nobody may free ---- */

static void test_parts_of_fortran(void) {
  double data[3] = {rank == 0 ? 1.5 : 0, 0, rank == 0 ? 2.5 : 0};
  MPI_Datatype real, three;
  MPI_Type_create_f90_real(15, 307, &real);
  MPI_Type_contiguous(3, real, &three);
  MPI_Type_commit(&three);
  MPI_Bcast(data, 1, three, 0, MPI_COMM_WORLD);
  check(data[0] == 1.5 && data[2] == 2.5, "parts of Fortran's", 0);
  MPI_Type_free(&three);
}

/* ---- what MPI is asked about a type, the first time ---- */

static int asked;

int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count *lower, MPI_Count *extent) {
  int (*next)(MPI_Datatype, MPI_Count *, MPI_Count *) = dlsym(RTLD_NEXT, "PMPI_Type_get_true_extent_x");
  asked++;
  return next(type, lower, extent);
}

/* A whole box of nested vectors. */
static void test_box(void) {
  enum { SIDE = 16 };
  static int box[SIDE][SIDE][SIDE];
  MPI_Datatype line, plane, all;
  memset(box, rank == 0 ? 7 : 0, sizeof box);
  MPI_Type_vector(SIDE, 1, 1, MPI_INT, &line);
  MPI_Type_create_hvector(SIDE, 1, sizeof box[0][0], line, &plane);
  MPI_Type_create_hvector(SIDE, 1, sizeof box[0], plane, &all);
  MPI_Type_commit(&all);
  asked = 0;
  MPI_Bcast(box, 1, all, 0, MPI_COMM_WORLD);
  check(asked > 0 && asked < 4 * SIDE, "questions about a box", asked);
  check(box[SIDE - 1][SIDE - 1][SIDE - 1] == 0x7070707, "the end of a box", box[SIDE - 1][SIDE - 1][SIDE - 1]);
  MPI_Type_free(&line);
  MPI_Type_free(&plane);
  MPI_Type_free(&all);
}

/* ---- nothing ---- */

static void test_nothing(void) {
  int zeros[MOST_RANKS] = {0};
  MPI_Datatype types[MOST_RANKS];
  for (int r = 0; r < size; r++)
    types[r] = MPI_DOUBLE;
  MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce_scatter(NULL, NULL, zeros, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoallv(NULL, zeros, zeros, MPI_INT, NULL, zeros, zeros, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallw(NULL, zeros, zeros, types, NULL, zeros, zeros, types, MPI_COMM_WORLD);
}

/* ---- errors; of MPICH 4.0 itself a negative count is the end ---- */

#ifdef OPEN_MPI
static void expect(int code, int class, const char *what) {
  int found;
  MPI_Error_class(code, &found);
  check(found == class, what, found);
}

static void test_errors(void) {
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_Request request;
  MPI_Datatype pair;
  int one = 1, out = 0, two[2] = {0};
  double x = 1, y;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  expect(MPI_Allreduce(&one, &out, -1, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT, "count");
  expect(MPI_Iallreduce(&one, &out, -1, MPI_INT, MPI_SUM, world, &request), MPI_ERR_COUNT, "count, started");
  expect(MPI_Allreduce(&one, &out, 1, MPI_INT, MPI_OP_NULL, world), MPI_ERR_OP, "operator");
  expect(MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_BAND, world), MPI_ERR_OP, "operator for a type");
  expect(MPI_Bcast(&one, 1, MPI_INT, size, world), MPI_ERR_ROOT, "root");
  expect(MPI_Bcast(&one, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE, "type");
  MPI_Type_contiguous(2, MPI_INT, &pair);
  expect(MPI_Bcast(two, 1, pair, 0, world), MPI_ERR_TYPE, "type that is not committed");
  MPI_Type_commit(&pair);
  expect(MPI_Bcast(two, 1, pair, 0, world), MPI_SUCCESS, "type that is");
  MPI_Type_free(&pair);
  MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}
#endif

/* ---- large ---- */

#if MPI_VERSION >= 4
static void test_large_count(void) {
  MPI_Count count = (MPI_Count)3 << 30;
  char *data = malloc((size_t)count);
  memset(data, rank == 0 ? 7 : 0, (size_t)count);
  MPI_Bcast_c(data, count, MPI_CHAR, 0, MPI_COMM_WORLD);
  check(data[0] == 7 && data[count / 2] == 7 && data[count - 1] == 7, "3 GiB", data[0]);
  free(data);
}
#endif

static void test_large_element(void) {
  const int64_t blocks = 1100, length = 1000000, stride = length + 100;
  short *data = malloc((size_t)(blocks * stride) * sizeof *data);
  MPI_Datatype element;
  memset(data, rank == 0 ? 7 : 0, (size_t)(blocks * stride) * sizeof *data);
  MPI_Type_vector((int)blocks, (int)length, (int)stride, MPI_SHORT, &element);
  MPI_Type_commit(&element);
  MPI_Bcast(data, 1, element, 0, MPI_COMM_WORLD);
  check(data[0] == 0x707 && data[length - 1] == 0x707, "large element", data[0]);
  check(data[length] == (rank == 0 ? 0x707 : 0), "gap of a large element", data[length]);
  check(data[(blocks - 1) * stride + length - 1] == 0x707, "end of a large element", data[stride]);
  MPI_Type_free(&element);
  free(data);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_columns();
  test_even_and_odd();
  test_gap();
  test_bottom();
  for (int n = 0; n < 50; n++)
    test_freed_early();
  test_parts_of_fortran();
  test_box();
  test_nothing();
  test_freed_persistent();
#ifdef OPEN_MPI
  test_errors();
#endif
  if (argc > 1) {
#if MPI_VERSION >= 4
    test_large_count();
#endif
    test_large_element();
  }
  return check_finish();
}
