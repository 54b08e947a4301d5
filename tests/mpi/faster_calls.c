/* tests/mpi/faster_calls.c - calls of two lengths: short ones, of at most 64 bytes a vector, and long ones, of 4 KB and
 * more. faster_test.sh lets MPI be the faster one for the short ones and counts what ran where: on each rank, on each
 * of two communicators, every one of 13 collectives is called ROUNDS times short and ROUNDS times long, and besides
 * Iallreduce, a persistent bcast of 8 bytes, gatherv and scatterv as often, and what stands in mix(). All results are
 * checked.
 *
 * faster_calls [seed | wrong]     wrong: one rank calls wrongly, and nothing is counted */
#include "request_sum.h"

#include <stdint.h>
#include <string.h>

enum { ROUNDS = 6, MOST = 1 << 16 };

static int in[MOST], out[MOST];
static uint64_t of_all = 1, of_rank; /* what is drawn by all ranks alike, and by each for itself */

static int draw(uint64_t *state, int limit) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (int)((x ^ x >> 31) % (uint64_t)limit);
}

static int below(int limit) { return draw(&of_all, limit); }

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

/* All ranks know all lengths. Every other time in place. */
static void uneven(const world *of, int each, bool in_place) {
  int counts[64], at[64], total = 0, own;
  for (int r = 0; r < of->size; r++) {
    counts[r] = each + r % 2;
    at[r] = total;
    total += counts[r];
  }
  own = at[of->rank];
  fill(of, total);
  for (int n = 0; n < counts[of->rank] && in_place; n++)
    out[own + n] = in[n];
  MPI_Allgatherv(in_place ? MPI_IN_PLACE : in, counts[of->rank], MPI_INT, out, counts, at, MPI_INT, of->comm);
  for (int r = 0; r < of->size; r++)
    for (int n = 0; n < counts[r]; n++)
      CHECK(out[at[r] + n] == r * 1000 + n);
  fill(of, total);
  MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : in, in_place ? in : out, counts, MPI_INT, MPI_SUM, of->comm);
  for (int n = 0; n < counts[of->rank]; n++)
    CHECK((in_place ? in : out)[n] == sum_to(of->size, own + n));
}

static void call_all(const world *of, int ints, int root) {
  int each = ints / of->size;
  reductions(of, ints, root);
  bcast(of, 2 * ints, root);
  gather(of, each, root);
  scatter(of, each, root);
  all(of, each);
  uneven(of, each, root % 2 != 0);
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

/* The root alone knows all lengths. */
static void by_lists(const world *of, int root) {
  int counts[64], at[64], mine = 1 + of->rank % 2, all = 0;
  for (int r = 0; r < of->size; r++) {
    counts[r] = of->rank == root ? 1 + r % 2 : -1;
    at[r] = all;
    all += 1 + r % 2;
  }
  fill(of, all);
  MPI_Gatherv(in, mine, MPI_INT, out, counts, at, MPI_INT, root, of->comm);
  for (int n = 0; n < all && of->rank == root; n++)
    CHECK(out[n] == n / 3 * 2000 + (n % 3 > 0) * 1000 + (n % 3 == 2));
  fill(of, all);
  MPI_Scatterv(in, counts, at, MPI_INT, out, mine, MPI_INT, root, of->comm);
  for (int n = 0; n < mine; n++)
    CHECK(out[n] == root * 1000 + at[of->rank] + n);
}

/* ---- outstanding calls of tutti while others pass ---- */

enum { MIXES = 40, REQUESTS = 8, LONGEST = 40000 };

typedef struct pending {
  MPI_Request request;
  const world *of;
  int round, root, count;
  int sums; /* or it is a broadcast */
  int data[LONGEST];
} pending;

static void start(pending *at, const world *of, int round) {
  *at = (pending){.of = of, .round = round, .root = below(of->size), .sums = below(2)};
  at->count = below(2) ? 1 + below(10) : LONGEST - below(1000);
  for (int n = 0; n < at->count; n++)
    at->data[n] = at->sums ? of->rank * 1000 + round + n : of->rank == at->root ? round * 100 + n : -1;
  if (at->sums)
    MPI_Iallreduce(MPI_IN_PLACE, at->data, at->count, MPI_INT, MPI_SUM, of->comm, &at->request);
  else
    MPI_Ibcast(at->data, at->count, MPI_INT, at->root, of->comm, &at->request);
}

static void finish(pending *at) {
  int done = 0;
  if (at->request == MPI_REQUEST_NULL)
    return;
  for (int looks = draw(&of_rank, 50); looks > 0 && !done; looks--)
    MPI_Test(&at->request, &done, MPI_STATUS_IGNORE);
  MPI_Wait(&at->request, MPI_STATUS_IGNORE);
  for (int n = 0; n < at->count; n++)
    CHECK(at->data[n] == (at->sums ? sum_to(at->of->size, n + at->round) : at->round * 100 + n));
}

/* Three calls that pass, for which one rank comes late. */
static void pass(const world *of, int round) {
  double one = 1, sum_of;
  int late = below(of->size), root = below(of->size), words[2] = {of->rank == root ? round : -1, of->rank};
  for (volatile int spin = 0; of->rank == late && spin < 500000; spin++)
    ;
  MPI_Allreduce(&one, &sum_of, 1, MPI_DOUBLE, MPI_SUM, of->comm);
  CHECK(sum_of == of->size);
  MPI_Bcast(words, 2, MPI_INT, root, of->comm);
  CHECK(words[0] == round && words[1] == root);
  MPI_Barrier(of->comm);
}

/* Broadcasts and sums are under way on both communicators, short and long, while passed calls of both wait for late
 * ranks: MIXES times, an allreduce, a bcast and a barrier of each. Each rank waits for its requests in an order of its
 * own. */
static void mix(const world both[2]) {
  static pending all[REQUESTS];
  for (int n = 0; n < REQUESTS; n++)
    all[n].request = MPI_REQUEST_NULL;
  for (int round = 0; round < MIXES; round++) {
    pending *at = &all[below(REQUESTS)];
    int first = below(2);
    finish(at);
    start(at, &both[below(2)], round);
    pass(&both[first], round);
    finish(&all[draw(&of_rank, REQUESTS)]);
    pass(&both[1 - first], round);
  }
  for (int left = REQUESTS, first = draw(&of_rank, REQUESTS), step = 1 + 2 * draw(&of_rank, REQUESTS / 2); left > 0;
       left--)
    finish(&all[(first + left * step) % REQUESTS]);
}

/* ---- one rank calls wrongly ---- */

static int call_wrongly(int way, int *data, int count, MPI_Comm comm) {
  if (way == 0)
    return MPI_Bcast(data, -1, MPI_INT, 0, comm);
  if (way == 1)
    return MPI_Bcast(data, count, MPI_DATATYPE_NULL, 0, comm);
  return MPI_Allreduce(data, out, count, MPI_INT, MPI_OP_NULL, comm);
}

/* It is told, and calls again, rightly; no other rank hears of it. */
static void recover(const world *of) {
  MPI_Comm_set_errhandler(of->comm, MPI_ERRORS_RETURN);
  for (int n = 0; n < 9; n++) {
    fill(of, 1024);
    if (of->rank == 1)
      CHECK(call_wrongly(n % 3, in, 2, of->comm) != MPI_SUCCESS);
    pass(of, n);
    for (int more = 0; more < 3; more++) {
      fill(of, 1024 + more);
      CHECK(MPI_Allreduce(in + more, out, 1024, MPI_INT, MPI_SUM, of->comm) == MPI_SUCCESS);
      CHECK(out[0] == sum_to(of->size, more) && out[1023] == sum_to(of->size, 1023 + more));
    }
  }
}

int main(int argc, char **argv) {
  MPI_Comm halves;
  of_all = argc > 1 ? (uint64_t)atoi(argv[1]) : 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  of_rank = of_all * 1000 + (uint64_t)rank;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &halves);
  const world both[] = {world_of(MPI_COMM_WORLD), world_of(halves)};
  if (argc > 1 && strcmp(argv[1], "wrong") == 0)
    recover(&both[0]);
  for (int n = 0; n < 2 * ROUNDS && of_all; n++) {
    const world *of = &both[n % 2];
    call_all(of, 8, n / 2 % of->size);
    call_all(of, 1024, n / 2 % of->size);
    others(of, n / 2 % of->size);
    by_lists(of, n / 2 % of->size);
  }
  if (of_all)
    mix(both);
  MPI_Comm_free(&halves);
  return MPI_Finalize();
}
