/* tests/mpi/refused.c - one rank makes a call with a wrong argument, the others make it rightly: an error there, an
 * error that names it on others that wait for it, no hang, and the communicator works on.
 *
 *     refused RANK     that rank refuses, of MPI_COMM_WORLD
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONG = 60000, AFTER = 6, LOST = 2 }; /* of the calls after it so many may be lost, with ranks that ran ahead */

typedef enum wrong { BAD_ROOT, BAD_COUNT, NO_TYPE, NO_OP, BAD_PAIR, BAD_IN_PLACE, ALIASED, WRONGS } wrong;
static const char *const wrong_names[] = {"root",  "count",  "type", "operator", "operator of a type",
                                          "place", "buffers"};

typedef enum collective {
  BCAST,
  REDUCE,
  ALLREDUCE,
  SCAN,
  GATHER,
  SCATTER,
  ALLGATHER,
  ALLTOALL,
  GATHERV,
  COLLECTIVES
} collective;
static const char *const names[] = {"bcast",   "reduce",    "allreduce", "scan",   "gather",
                                    "scatter", "allgather", "alltoall",  "gatherv"};

static int rank, size, refuser, failures, others_told;
static MPI_Comm comm;
static char what[200];
static int *in, *out, *counts, *places;

static void fail(const char *why, int number) {
  if (failures++ < 10)
    printf("rank %d, %s: %s (%d)\n", rank, what, why, number);
  fflush(stdout);
}

/* ---- calls ---- */

/* Which arguments of a collective can be wrong. */
static bool can_be(collective which, wrong how) {
  bool reduces = which == REDUCE || which == ALLREDUCE || which == SCAN;
  switch (how) {
  case BAD_ROOT:
    return which == BCAST || which == REDUCE || which == GATHER || which == SCATTER || which == GATHERV;
  case NO_OP:
  case BAD_PAIR:
    return reduces;
  case BAD_IN_PLACE: /* of a result */
    return which == ALLREDUCE || which == ALLGATHER || which == ALLTOALL;
  case ALIASED: /* at a root, which refuses; Open MPI does not look */
#ifdef MPICH_NUMVERSION
    return which >= GATHER;
#else
    return false;
#endif
  default:
    return true;
  }
}

static int call(collective which, bool waits, int count, int root, MPI_Datatype type, MPI_Op op, void *to) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;
#define BOTH(name, iname, ...)                                                                                         \
  code = waits ? MPI_##name(__VA_ARGS__, comm) : MPI_##iname(__VA_ARGS__, comm, &request);                             \
  break
  switch (which) {
  case BCAST:
    BOTH(Bcast, Ibcast, to, count, type, root);
  case REDUCE:
    BOTH(Reduce, Ireduce, in, to, count, type, op, root);
  case ALLREDUCE:
    BOTH(Allreduce, Iallreduce, in, to, count, type, op);
  case SCAN:
    BOTH(Scan, Iscan, in, to, count, type, op);
  case GATHER:
    BOTH(Gather, Igather, in, count, type, to, count, type, root);
  case SCATTER:
    BOTH(Scatter, Iscatter, in, count, type, to, count, type, root);
  case ALLGATHER:
    BOTH(Allgather, Iallgather, in, count, type, to, count, type);
  case ALLTOALL:
    BOTH(Alltoall, Ialltoall, in, count, type, to, count, type);
  default:
    for (int r = 0; r < size; r++) {
      counts[r] = count;
      places[r] = r * (count > 0 ? count : 0);
    }
    BOTH(Gatherv, Igatherv, in, count, type, to, counts, places, type, root);
  }
  return code == MPI_SUCCESS && !waits ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/* The rank's own block is in both buffers. */
static int call_aliased(collective which, bool waits, int count, int root) {
  int *kept = in, own = rank * count;
  if (which == SCATTER)
    return call(which, waits, count, root, MPI_INT, MPI_BAND, in + own);
  if (which != ALLTOALL)
    in += own;
  int code = call(which, waits, count, root, MPI_INT, MPI_BAND, kept);
  in = kept;
  return code;
}

static int call_wrongly(collective which, bool waits, int count, int root, wrong how) {
  if (how == ALIASED)
    return call_aliased(which, waits, count, root);
  return call(which, waits, how == BAD_COUNT ? -1 : count, how == BAD_ROOT ? size + 7 : root,
              how == NO_TYPE    ? MPI_DATATYPE_NULL
              : how == BAD_PAIR ? MPI_DOUBLE_INT
                                : MPI_INT,
              how == NO_OP ? MPI_OP_NULL : MPI_BAND, how == BAD_IN_PLACE ? MPI_IN_PLACE : out);
}

/* ---- trials ---- */

static void expect_told(int code) {
  char text[MPI_MAX_ERROR_STRING], wanted[40];
  int length;
  if (code == MPI_SUCCESS)
    return;
  MPI_Error_string(code, text, &length);
  snprintf(wanted, sizeof wanted, "rank %d refused call", refuser);
  if (!strstr(text, wanted)) {
    fail("another error", code);
    printf("%s\n", text);
  }
  others_told++;
}

/* Sums on all ranks, of which the first may be lost. */
static void go_on(void) {
  for (int n = 0; n < AFTER; n++) {
    int one = rank + n, sum = -1, code;
    MPI_Request request;
    if (n == AFTER - 1) {
      MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
      code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    }
    if (code == MPI_SUCCESS && sum != size * n + size * (size - 1) / 2)
      fail("a wrong sum", sum);
    if (code != MPI_SUCCESS && n >= LOST)
      fail("a later call fails", n);
    else
      expect_told(code);
  }
}

static void try(collective which, wrong how, bool waits, int count, int any_root) {
  int root = how == ALIASED ? refuser : any_root;
  snprintf(what, sizeof what, "%s%s of %d, root %d, wrong %s", waits ? "" : "i", names[which], count, root,
           wrong_names[how]);
  for (int n = 0; n < LONG * size; n++)
    in[n] = rank;
  if (rank == refuser) {
    if (call_wrongly(which, waits, count, root, how) == MPI_SUCCESS)
      fail("no error on the rank itself", 0);
  } else {
    expect_told(call(which, waits, count, root, MPI_INT, MPI_BAND, out));
  }
  go_on();
}

/* ---- several at once ---- */

static int sum_of(int count) { return call(ALLREDUCE, true, count, 0, MPI_INT, MPI_BAND, out); }

static int wrong_sum(void) { return call(ALLREDUCE, true, -1, 0, MPI_INT, MPI_BAND, out); }

/* Who refuses which of two calls, bits by rank. */
static void try_two(const char *name, unsigned first, unsigned second) {
  snprintf(what, sizeof what, "%s", name);
  for (int n = 0; n < 2; n++) {
    bool refuses = (n ? second : first) >> rank & 1;
    int code = refuses ? wrong_sum() : sum_of(5);
    if (refuses && code == MPI_SUCCESS)
      fail("no error on the rank itself", n);
    else if (!refuses && ((n ? second : first) != 0) && code == MPI_SUCCESS)
      fail("no error on another rank", n);
  }
  for (int n = 0; n < LOST + 2; n++) { /* of two refusals, each may cost some */
    int one = 1, sum = -1, code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (code == MPI_SUCCESS ? sum != size : n >= LOST)
      fail("a later call", n);
  }
}

/* Who refuses one call after the other then waits in a call that is not a collective one, for ranks that are in those.
 */
static void try_row(void) {
  enum { ROW = 5 };
  int word = 0;
  snprintf(what, sizeof what, "a row, then a message");
  for (int n = 0; n < ROW; n++) {
    int code = rank == refuser ? wrong_sum() : sum_of(5);
    if (code == MPI_SUCCESS)
      fail("no error", n);
    else if (rank != refuser)
      expect_told(code);
  }
  for (int r = 0; r < size && rank == refuser; r++)
    if (r != refuser)
      MPI_Recv(&word, 1, MPI_INT, r, 0, comm, MPI_STATUS_IGNORE);
  if (rank != refuser)
    MPI_Send(&word, 1, MPI_INT, refuser, 0, comm);
  go_on();
}

/* Calls that were posted before are right, those behind it right or told. */
static void try_among(void) {
  enum { POSTED = 6, WRONG = 3 };
  static int data[POSTED][2][LONG];
  MPI_Request requests[POSTED];
  MPI_Status statuses[POSTED];
  int codes[POSTED];
  snprintf(what, sizeof what, "among others");
  for (int n = 0; n < POSTED; n++) {
    for (int k = 0; k < LONG; k++)
      data[n][0][k] = rank + k;
    bool refuses = n == WRONG && rank == refuser;
    codes[n] = MPI_Iallreduce(data[n][0], data[n][1], refuses ? -1 : LONG, MPI_INT, MPI_SUM, comm, &requests[n]);
    if (codes[n] != MPI_SUCCESS)
      requests[n] = MPI_REQUEST_NULL;
  }
  for (int n = 0; n < POSTED; n++) {
    if (codes[n] == MPI_SUCCESS)
      codes[n] = MPI_Wait(&requests[n], &statuses[n]);
    if (codes[n] != MPI_SUCCESS && n != WRONG)
      fail("a call beside it fails", n);
    if (codes[n] == MPI_SUCCESS && n == WRONG)
      fail("it does not fail", n);
    for (int k = 0; codes[n] == MPI_SUCCESS && k < LONG; k += 777)
      if (data[n][1][k] != size * k + size * (size - 1) / 2)
        fail("a wrong sum", k);
  }
}

/* Nobody calls anything on it any more. */
static void try_freed(void) {
  MPI_Comm kept = comm;
  snprintf(what, sizeof what, "freed");
  MPI_Comm_dup(kept, &comm);
  if (rank == refuser)
    wrong_sum();
  else
    expect_told(sum_of(5));
  MPI_Comm_free(&comm);
  comm = kept;
}

/* The last call: who only sends is in MPI_Finalize before it is refused, and is heard there. */
static void try_last(void) {
  int root = (refuser + 1) % size;
  snprintf(what, sizeof what, "the last call");
  MPI_Barrier(comm);
  if (rank == refuser) {
    usleep(100000);
    call(REDUCE, true, -1, root, MPI_INT, MPI_BAND, out);
    return;
  }
  int code = call(REDUCE, true, 3, root, MPI_INT, MPI_BAND, out);
  if (rank == root && code == MPI_SUCCESS)
    fail("no error", 0);
  expect_told(code);
}

/* A communicator that was never set, as the first call and after others are gone; MPIs have the error on one of two. */
static void try_unset_comm(void) {
  MPI_Comm unset = (MPI_Comm)0, gone;
  int class;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int n = 0; n < 2; n++) {
    MPI_Error_class(MPI_Barrier(unset), &class);
    if (class != MPI_ERR_COMM)
      fail("the class of a communicator that was never set", class);
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    MPI_Barrier(gone);
    MPI_Comm_free(&gone);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void expect_class(const char *of, int wanted, int code) {
  int class;
  MPI_Error_class(code, &class);
  if (class != wanted)
    fail(of, class);
}

/* Of an error that MPIs have. */
static void try_classes(void) {
  expect_class("a root's class", MPI_ERR_ROOT, call(BCAST, true, 1, size, MPI_INT, MPI_BAND, out));
  expect_class("a count's class", MPI_ERR_COUNT, call(BCAST, true, -1, 0, MPI_INT, MPI_BAND, out));
  expect_class("a type's class", MPI_ERR_TYPE, call(ALLREDUCE, false, 1, 0, MPI_DATATYPE_NULL, MPI_BAND, out));
  expect_class("the class of a type that is received", MPI_ERR_TYPE,
               MPI_Allgather(in, 1, MPI_INT, out, 1, MPI_DATATYPE_NULL, comm));
  expect_class("no counts", MPI_ERR_ARG, MPI_Reduce_scatter(in, out, NULL, MPI_INT, MPI_SUM, comm));
  MPI_Datatype unset = (MPI_Datatype)0;
  expect_class("the class of what is no type", MPI_ERR_TYPE, call(BCAST, true, 1, 0, unset, MPI_BAND, out));
  expect_class("the class of what is no type, to reduce", MPI_ERR_TYPE,
               call(ALLREDUCE, true, 1, 0, unset, MPI_BAND, out));
#if MPI_VERSION >= 4
  MPI_Count large = (MPI_Count)1 << 62; /* bytes, and elements of all ranks, that no 64 bits count */
  expect_class("a large count's class", MPI_ERR_COUNT, MPI_Allreduce_c(in, out, large, MPI_INT, MPI_SUM, comm));
  expect_class("the class of a count that is large for all ranks", MPI_ERR_COUNT,
               MPI_Reduce_scatter_block_c(in, out, large, MPI_BYTE, MPI_BAND, comm));
#endif
}

int main(int argc, char **argv) {
  int told = 0, all = 0, tried = 0;
  refuser = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Init(NULL, NULL);
  try_unset_comm();
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  in = malloc(sizeof *in * LONG * (size_t)size);
  out = malloc(sizeof *out * LONG * (size_t)size);
  counts = malloc(sizeof *counts * (size_t)size);
  places = malloc(sizeof *places * (size_t)size);
  for (collective which = 0; which < COLLECTIVES; which++)
    for (wrong how = 0; how < WRONGS; how++)
      for (int form = 0; can_be(which, how) && form < 4; form++, tried++)
        try(which, how, form % 2 == 0, form < 2 ? 3 : LONG, (tried / 4) % size);
  unsigned all_ranks = (1u << size) - 1, one = 1u << refuser, other = 1u << (refuser + 1) % size;
  try_two("twice", one, one);
  try_two("all", all_ranks, 0);
  try_two("all twice", all_ranks, all_ranks);
  try_two("one, then another", one, other);
  try_two("another, then one", other, one);
  try_two("two", one | other, 0);
  try_row();
  try_among();
  try_classes();
  try_freed();
  MPI_Allreduce(&others_told, &told, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%d calls refused, %d times told, %d failures\n", tried, told, all);
  try_last();
  MPI_Finalize();
  return all > 0 || failures > 0 || told < tried / 2;
}
