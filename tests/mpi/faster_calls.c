/* tests/mpi/faster_calls.c - calls of two lengths: short ones, of at most 64 bytes a vector, and long ones, of 4 KB and
 * more. faster_test.sh lets MPI be the faster one for the short ones and counts what ran where: on each rank, on each
 * of two communicators, every one of 11 collectives is called ROUNDS times short and ROUNDS times long, and besides
 * Iallreduce and a persistent bcast of 8 bytes as often, and what stands in mix(). All results are checked.
 *
 * faster_calls [seed] */
#include "request_sum.h"

#include <stdint.h>
#include <string.h>

enum { ROUNDS = 6, MOST = 1 << 16 };

static int in[MOST], out[MOST];
static uint64_t state = 1;

static int below(int limit) { /* the same on all ranks */
  uint64_t x = state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (int)((x ^ x >> 31) % (uint64_t)limit);
}

/* ---- one call of each, of so many ints a rank or a block ---- */

typedef struct world {
  MPI_Comm comm;
  int rank, size;
} world;

static world world_of(MPI_Comm comm) {
  world of = {.comm = comm};
  MPI_Comm_rank(comm, &of.rank);
  MPI_Comm_size(comm, &of.size);
  return of;
}

static void fill(const world *of, int count) {
  for (int n = 0; n < count; n++) {
    in[n] = of->rank * 1000 + n;
    out[n] = -1;
  }
}

/* Of the sums over ranks 0 .. ranks - 1 of element n. */
static int sum_to(int ranks, int n) { return 1000 * (ranks * (ranks - 1) / 2) + ranks * n; }

static void reductions(const world *of, int count, int root) {
  fill(of, count * of->size);
  MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, of->comm);
  for (int n = 0; n < count; n++)
    CHECK(out[n] == sum_to(of->size, n));
  fill(of, count);
  MPI_Reduce(of->rank == root ? MPI_IN_PLACE : in, of->rank == root ? in : out, count, MPI_INT, MPI_SUM, root,
             of->comm);
  for (int n = 0; n < count && of->rank == root; n++)
    CHECK(in[n] == sum_to(of->size, n));
  fill(of, count + of->size);
  MPI_Reduce_scatter_block(in, out, count / of->size + 1, MPI_INT, MPI_SUM, of->comm);
  for (int n = 0; n < count / of->size + 1; n++)
    CHECK(out[n] == sum_to(of->size, of->rank * (count / of->size + 1) + n));
  fill(of, count);
  MPI_Scan(in, out, count, MPI_INT, MPI_SUM, of->comm);
  for (int n = 0; n < count; n++)
    CHECK(out[n] == sum_to(of->rank + 1, n));
  fill(of, count);
  MPI_Exscan(in, out, count, MPI_INT, MPI_SUM, of->comm);
  for (int n = 0; n < count && of->rank > 0; n++)
    CHECK(out[n] == sum_to(of->rank, n));
}

/* Ranks describe the same data by types of their own: what decides is the number of bytes. */
static void bcast(const world *of, int count, int root) {
  MPI_Datatype pairs;
  MPI_Type_vector(count / 2, 1, 2, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  fill(of, count);
  bool odd = of->rank % 2 != 0;
  MPI_Bcast(in, odd ? 1 : count / 2, odd ? pairs : MPI_INT, root, of->comm);
  for (int n = 0; n < count / 2; n++)
    CHECK(in[odd ? 2 * n : n] == root * 1000 + (root % 2 != 0 ? 2 * n : n));
  MPI_Type_free(&pairs);
}

/* The root passes MPI_IN_PLACE, and has no count of its own block then. */
static void gather(const world *of, int count, int root) {
  int *at = of->rank == root ? out + root * count : in;
  fill(of, count * of->size);
  for (int n = 0; n < count; n++)
    at[n] = of->rank * 1000 + n;
  if (of->rank == root)
    MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, count, MPI_INT, root, of->comm);
  else
    MPI_Gather(in, count, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, of->comm);
  for (int n = 0; n < count * of->size && of->rank == root; n++)
    CHECK(out[n] == n / count * 1000 + n % count);
}

static void scatter(const world *of, int count, int root) {
  fill(of, count * of->size);
  if (of->rank == root)
    MPI_Scatter(in, count, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, root, of->comm);
  else
    MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, out, count, MPI_INT, root, of->comm);
  for (int n = 0; n < count && of->rank != root; n++)
    CHECK(out[n] == root * 1000 + of->rank * count + n);
}

static void all(const world *of, int count) {
  fill(of, count * of->size);
  MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, of->comm);
  for (int n = 0; n < count * of->size; n++)
    CHECK(out[n] == n / count * 1000 + n % count);
  fill(of, count * of->size);
  MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, of->comm);
  for (int n = 0; n < count * of->size; n++)
    CHECK(out[n] == n / count * 1000 + of->rank * count + n % count);
}

static void call_all(const world *of, int ints, int root) {
  int each = ints / of->size;
  reductions(of, ints, root);
  bcast(of, 2 * ints, root);
  gather(of, each, root);
  scatter(of, each, root);
  all(of, each);
  MPI_Barrier(of->comm);
}

/* ---- forms that stay on tutti ---- */

static void others(const world *of, int root) {
  double one = of->rank, sum = -1;
  MPI_Request request;
  MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, of->comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(sum == of->size * (of->size - 1) / 2);
  one = of->rank;
  MPI_Bcast_init(&one, 1, MPI_DOUBLE, root, of->comm, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  CHECK(one == root);
}

/* ---- outstanding calls of tutti while others pass ---- */

enum { MIXES = 30, REQUESTS = 8, LONGEST = 40000 };

/* Broadcasts and sums are under way, short and long, while passed calls of the same communicator wait for ranks that
 * come late: MIXES Ibcast and Iallreduce each, and as many allreduces of 8 bytes, which pass. */
static void mix(const world *of) {
  static int data[REQUESTS][LONGEST];
  int root[REQUESTS], count[REQUESTS], round[REQUESTS];
  MPI_Request request[REQUESTS];
  double one = 1, sum_of;
  for (int n = 0; n < REQUESTS; n++)
    request[n] = MPI_REQUEST_NULL;
  for (int r = 0; r < MIXES; r++) {
    int at = below(REQUESTS), late = below(of->size);
    MPI_Wait(&request[at], MPI_STATUS_IGNORE);
    round[at] = r, root[at] = below(of->size), count[at] = below(2) ? 1 + below(10) : LONGEST - below(1000);
    for (int n = 0; n < count[at]; n++)
      data[at][n] = of->rank == root[at] ? r * 100 + n : -1;
    MPI_Ibcast(data[at], count[at], MPI_INT, root[at], of->comm, &request[at]);
    sum long_one = sum_create(below(2) ? 1 : 20000, of->comm);
    sum_start(&long_one, r);
    for (volatile int spin = 0; of->rank == late && spin < 2000000; spin++)
      ;
    MPI_Allreduce(&one, &sum_of, 1, MPI_DOUBLE, MPI_SUM, of->comm);
    CHECK(sum_of == of->size);
    MPI_Wait(&long_one.request, MPI_STATUS_IGNORE);
    sum_check(&long_one, r);
    sum_destroy(&long_one);
    if (below(2))
      continue;
    MPI_Wait(&request[at], MPI_STATUS_IGNORE);
    for (int n = 0; n < count[at]; n++)
      CHECK(data[at][n] == round[at] * 100 + n);
  }
  MPI_Waitall(REQUESTS, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv) {
  MPI_Comm halves;
  state = argc > 1 ? (uint64_t)atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &halves);
  const world both[] = {world_of(MPI_COMM_WORLD), world_of(halves)};
  for (int n = 0; n < 2 * ROUNDS; n++) {
    const world *of = &both[n % 2];
    call_all(of, 8, n / 2 % of->size);
    call_all(of, 1024, n / 2 % of->size);
    others(of, n / 2 % of->size);
  }
  mix(&both[0]);
  mix(&both[1]);
  MPI_Comm_free(&halves);
  return MPI_Finalize();
}
