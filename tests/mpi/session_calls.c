/* Communicators of sessions: in programs that have nothing else, beside MPI_Init, before and after it.
 *
 * session_calls only | beside | before | after | parts | none | fail */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                          \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

static MPI_Session open_session(void) {
  MPI_Session session;
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  return session;
}

/* Of the ranks first, first + stride, ... of all. */
static MPI_Comm make_some(MPI_Session session, const char *set, const char *name, int first, int stride) {
  MPI_Group all, some;
  MPI_Comm comm;
  int size;
  CHECK(MPI_Group_from_session_pset(session, set, &all) == MPI_SUCCESS);
  MPI_Group_size(all, &size);
  CHECK(MPI_Group_range_incl(all, 1, (int[1][3]){{first, size - 1, stride}}, &some) == MPI_SUCCESS);
  CHECK(MPI_Comm_create_from_group(some, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) == MPI_SUCCESS);
  MPI_Group_free(&some);
  MPI_Group_free(&all);
  return comm;
}

static MPI_Comm make_world(MPI_Session session, const char *name) {
  return make_some(session, "mpi://WORLD", name, 0, 1);
}

static void call(MPI_Comm comm) {
  int rank, size, sum = -1, all[64];
  MPI_Request request;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK(size <= 64);
  for (int n = 0; n < 20; n++) {
    int mine = n + rank;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * n + size * (size - 1) / 2);
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < size; r++)
      CHECK(all[r] == n + r);
    sum = rank == n % size ? n : -1;
    MPI_Bcast(&sum, 1, MPI_INT, n % size, comm);
    CHECK(sum == n);
  }
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int n = 0; n < *count; n++)
    ((int *)inout)[n] += ((const int *)in)[n];
}

/* The program's own operator. */
static void call_operator(MPI_Comm comm) {
  int one[3] = {1, 2, 3}, sum[3] = {0}, size;
  MPI_Op op;
  MPI_Comm_size(comm, &size);
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce(one, sum, 3, MPI_INT, op, comm);
  CHECK(sum[0] == size && sum[1] == 2 * size && sum[2] == 3 * size);
  MPI_Op_free(&op);
}

/* And of what is made of it. */
static void call_family(MPI_Comm comm) {
  MPI_Comm twin, part;
  int rank;
  MPI_Comm_rank(comm, &rank);
  call_operator(comm);
  MPI_Comm_dup(comm, &twin);
  MPI_Comm_split(comm, rank % 2, -rank, &part);
  call(comm);
  call(twin);
  call(part);
  MPI_Comm_free(&part);
  call(comm);
  MPI_Comm_free(&twin);
}

static int rank_of(MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

/* Sessions of which each rank has others at a time, and one that comes when all have ended. */
static void have_only_sessions(void) {
  MPI_Session first = open_session(), second;
  MPI_Comm self = make_some(first, "mpi://SELF", "self", 0, 1), a = make_world(first, "a"), b;
  call(self);
  call_family(a);
  int early = rank_of(a) % 2;
  if (early)
    second = open_session();
  MPI_Comm_free(&self);
  MPI_Comm_free(&a);
  MPI_Session_finalize(&first);
  if (!early)
    second = open_session();
  b = make_world(second, "b");
  call_family(b);
  MPI_Comm_free(&b);
  MPI_Session_finalize(&second);
}

static void have_one_beside(void) {
  MPI_Init(NULL, NULL);
  MPI_Session session = open_session();
  MPI_Comm comm = make_world(session, "beside");
  call_family(comm);
  call_family(MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  MPI_Finalize();
}

static void have_one_before(void) {
  MPI_Session session = open_session();
  MPI_Comm comm = make_world(session, "before");
  call_family(comm);
  MPI_Init(NULL, NULL);
  call_family(MPI_COMM_WORLD);
  call_family(comm);
  MPI_Finalize();
  call_family(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

/* It opens when MPI_Finalize is over. */
static void have_one_after(void) {
  MPI_Session early = open_session();
  MPI_Init(NULL, NULL);
  call_family(MPI_COMM_WORLD);
  MPI_Finalize();
  MPI_Session late = open_session();
  MPI_Comm comm = make_world(late, "after");
  call_family(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&late);
  MPI_Session_finalize(&early);
}

/* Those of even and of odd numbers do not know each other when they meet. */
static void have_parts_first(int rank) {
  MPI_Session session = open_session();
  MPI_Comm part = make_some(session, "mpi://WORLD", rank % 2 ? "odd" : "even", rank % 2, 2), all;
  call_family(part);
  all = make_world(session, "all");
  call_family(all);
  call_family(part);
  MPI_Comm_free(&all);
  MPI_Comm_free(&part);
  MPI_Session_finalize(&session);
}

/* Of no ranks no communicator is made, which is nobody else's business. */
static void have_none(int rank) {
  MPI_Session session = open_session();
  MPI_Comm none = MPI_COMM_WORLD, all;
  if (rank == 1) {
    CHECK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none) == MPI_SUCCESS);
    CHECK(none == MPI_COMM_NULL);
  }
  all = make_world(session, "all");
  call_family(all);
  MPI_Comm_free(&all);
  MPI_Session_finalize(&session);
}

/* Rank 1 fails, and the others wait for it. */
static void fail(void) {
  MPI_Comm comm = make_world(open_session(), "fail");
  call(comm);
  alarm(20);
  if (rank_of(comm) == 1)
    exit(3);
  MPI_Barrier(comm);
}

/* As the launcher says. */
static int early_rank(void) {
  const char *rank = getenv("PMI_RANK");
  return atoi(rank ? rank : getenv("OMPI_COMM_WORLD_RANK"));
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "only";
  if (strcmp(what, "beside") == 0)
    have_one_beside();
  else if (strcmp(what, "before") == 0)
    have_one_before();
  else if (strcmp(what, "after") == 0)
    have_one_after();
  else if (strcmp(what, "fail") == 0)
    fail();
  else if (strcmp(what, "parts") == 0)
    have_parts_first(early_rank());
  else if (strcmp(what, "none") == 0)
    have_none(early_rank());
  else
    have_only_sessions();
  return 0;
}
