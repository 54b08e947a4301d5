/* tests/mpi/traps/objects.c - types, operators, addresses and handlers, as programs use them. */
#include "traps.h"

/* The type and the operator of an outstanding call may be freed at once. */
static void add_ints(void *in, void *in_out, int *count, MPI_Datatype *type) {
  (void)type;
  for (int k = 0; k < *count; k++)
    ((int *)in_out)[k] += ((int *)in)[k];
}

static void freed_types_and_operators_are_still_used(void) {
  enum { COUNT = 10000 };
  static int in[3 * COUNT], out[64 * 3 * COUNT], sum[COUNT];
  MPI_Datatype type;
  MPI_Op op;
  MPI_Request request[2];
  for (int k = 0; k < 3 * COUNT; k++)
    in[k] = trap_rank + k;
  MPI_Type_vector(COUNT, 1, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_ints, 1, &op);
  MPI_Igather(in, 1, type, out, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request[0]);
  MPI_Iallreduce(in, sum, COUNT, MPI_INT, op, MPI_COMM_WORLD, &request[1]);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  for (int k = 0; k < COUNT; k++)
    CHECK(sum[k] == trap_size * (trap_size - 1) / 2 + trap_size * k, "sum %d is %d", k, sum[k]);
  for (int k = 0; k < COUNT * trap_size && trap_rank == 0; k++)
    CHECK(out[k] == k / COUNT + k % COUNT * 3, "element %d is %d", k, out[k]);
}

/* Handles are used again by the MPI after they were freed. */
static void types_and_operators_come_and_go(void) {
  for (int n = 1; n < 300; n++) {
    int in[16], out[16] = {0};
    MPI_Datatype type;
    MPI_Op op;
    for (int k = 0; k < 16; k++)
      in[k] = k + n;
    MPI_Type_vector(1 + n % 4, 1, 1 + n % 3, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_ints, n % 2, &op);
    MPI_Bcast(trap_rank == 0 ? in : out, 1, type, 0, MPI_COMM_WORLD);
    for (int k = 0; k < 1 + n % 4 && trap_rank > 0; k++)
      CHECK(out[k * (1 + n % 3)] == k * (1 + n % 3) + n, "type %d: element %d is %d", n, k, out[k * (1 + n % 3)]);
    MPI_Allreduce(in, out, 16, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(out[15] == trap_size * in[15], "operator %d: %d", n, out[15]);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
  }
}

static void bottom_and_absolute_addresses(void) {
  int first = trap_rank == 1 ? 11 : 0;
  double second = trap_rank == 1 ? 22 : 0;
  MPI_Aint at[2];
  MPI_Datatype type;
  MPI_Get_address(&first, &at[0]);
  MPI_Get_address(&second, &at[1]);
  MPI_Type_create_struct(2, (int[]){1, 1}, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(MPI_BOTTOM, 1, type, 1, MPI_COMM_WORLD);
  CHECK(first == 11 && second == 22, "got %d and %g", first, second);
  MPI_Type_free(&type);
}

/* A user's operator sees the type of the call, whatever its size. */
static MPI_Datatype seen;
static void see_type(void *in, void *in_out, int *count, MPI_Datatype *type) {
  (void)in, (void)in_out, (void)count;
  seen = *type;
}

static void operators_see_the_type_of_the_call(void) {
  double in[4] = {0}, out[4] = {0};
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(see_type, 0, &op);
  seen = MPI_DATATYPE_NULL;
  MPI_Scan(in, out, 2, type, op, MPI_COMM_WORLD);
  CHECK(seen == type || trap_rank == 0, "another type");
  MPI_Scan(in, out, 4, MPI_DOUBLE, op, MPI_COMM_WORLD);
  CHECK(seen == MPI_DOUBLE || trap_rank == 0, "another type");
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

/* ---- what MPI must find out is found out as before ---- */

static int called;
static void count_call(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  called++;
}

static void expect_class(int code, int wanted, const char *what) {
  int class = -1;
  MPI_Error_class(code, &class);
  CHECK(class == wanted, "%s: error class %d instead of %d", what, class, wanted);
}

/* Every rank makes the same mistake, and nobody waits. */
static void wrong_arguments_are_errors(void) {
  int word = 0, other = 0;
  MPI_Comm twin;
  MPI_Datatype loose;
  MPI_Errhandler handler;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  MPI_Comm_create_errhandler(count_call, &handler);
  MPI_Comm_set_errhandler(twin, handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Type_contiguous(2, MPI_INT, &loose);
  expect_class(MPI_Bcast(&word, -1, MPI_INT, 0, twin), MPI_ERR_COUNT, "negative count");
  expect_class(MPI_Bcast(&word, 1, MPI_DATATYPE_NULL, 0, twin), MPI_ERR_TYPE, "null type");
  expect_class(MPI_Bcast(&word, 1, loose, 0, twin), MPI_ERR_TYPE, "type that is not committed");
  expect_class(MPI_Bcast(&word, 1, MPI_INT, trap_size, twin), MPI_ERR_ROOT, "root beyond the last rank");
  expect_class(MPI_Bcast(&word, 1, MPI_INT, -7, twin), MPI_ERR_ROOT, "negative root");
  expect_class(MPI_Allreduce(&word, &other, 1, MPI_INT, MPI_OP_NULL, twin), MPI_ERR_OP, "null operator");
  expect_class(MPI_Allreduce(&word, &other, 1, MPI_DOUBLE, MPI_BAND, twin), MPI_ERR_OP, "operator for another type");
  CHECK(called == 7, "the error handler was called %d times", called);
  expect_class(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM, "null communicator");
  trap_allreduce(twin);
  MPI_Type_free(&loose);
  MPI_Comm_free(&twin);
  MPI_Errhandler_free(&handler);
}

static void return_errors(void) { /* Open MPI calls the handler of MPI_COMM_WORLD for some */
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static void in_place_misuse_is_an_error(void) {
  int words[64] = {0};
  return_errors();
  int code = MPI_Allreduce(words, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  expect_class(code, MPI_ERR_BUFFER, "in place as output");
  trap_allreduce(MPI_COMM_SELF);
}

#ifdef OPEN_MPI /* does not look */
enum { SAME_BUFFER = MPI_SUCCESS };
#else
enum { SAME_BUFFER = MPI_ERR_BUFFER };
#endif

static void same_buffer_twice_is_what_it_was(void) {
  int word = 0;
  return_errors();
  int code = MPI_Allreduce(&word, &word, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  expect_class(code, SAME_BUFFER, "the same buffer twice");
}

const trap trap_objects[] = {
    {"freed_types_and_operators_are_still_used", 3, TRAP_ENDS, freed_types_and_operators_are_still_used},
    {"types_and_operators_come_and_go", 3, TRAP_ENDS, types_and_operators_come_and_go},
    {"bottom_and_absolute_addresses", 3, TRAP_ENDS, bottom_and_absolute_addresses},
    {"operators_see_the_type_of_the_call", 3, TRAP_ENDS, operators_see_the_type_of_the_call},
    {"wrong_arguments_are_errors", 3, TRAP_ENDS, wrong_arguments_are_errors},
    {"in_place_misuse_is_an_error", 1, TRAP_ENDS, in_place_misuse_is_an_error},
    {"same_buffer_twice_is_what_it_was", 1, TRAP_ENDS, same_buffer_twice_is_what_it_was},
    {0},
};
