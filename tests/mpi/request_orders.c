/* Persistent collectives of mixed kinds on several communicators, which each rank starts and completes in an order of
 * its own, between calls of other kinds: MPI orders their making only.
 *
 * request_orders [rounds [seed]] */
#include "request_sum.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { REQUESTS = 50, COMMS = 3, MOST = 20000, RANKS = 8 };

enum kind { ALLREDUCE, IN_PLACE, BCAST, REDUCE, ALLGATHER, ALLTOALL, SCATTERV, SCAN, STRIDED, BARRIER, KINDS };

typedef struct call {
  enum kind kind;
  int count, root, counts[RANKS], offsets[RANKS];
  MPI_Comm comm;
  int *in, *out;
} call;

static call calls[REQUESTS];
static MPI_Request requests[REQUESTS];
static MPI_Comm comms[COMMS];
static MPI_Datatype every_second;

static uint64_t next(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static int below(uint64_t *state, int limit) { return (int)(next(state) % (uint64_t)limit); }

static int value(int what, int round, int of, int n) { return what * 10007 + round * 101 + of * 13 + n; }

/* ---- one of them ---- */

static int init_scatterv(call *of, MPI_Request *request) {
  int at = 0;
  for (int r = 0; r < size; r++) {
    of->counts[r] = (of->count + r) % MOST;
    of->offsets[r] = at;
    at += of->counts[r];
  }
  return MPI_Scatterv_init(of->in, of->counts, of->offsets, MPI_INT, of->out, of->counts[rank], MPI_INT, of->root,
                           of->comm, MPI_INFO_NULL, request);
}

static int init(call *of, MPI_Request *request) {
  MPI_Info none = MPI_INFO_NULL;
  switch (of->kind) {
  case ALLREDUCE:
    return MPI_Allreduce_init(of->in, of->out, of->count, MPI_INT, MPI_SUM, of->comm, none, request);
  case IN_PLACE:
    return MPI_Allreduce_init(MPI_IN_PLACE, of->out, of->count, MPI_INT, MPI_SUM, of->comm, none, request);
  case BCAST:
    return MPI_Bcast_init(of->out, of->count, MPI_INT, of->root, of->comm, none, request);
  case REDUCE:
    return MPI_Reduce_init(of->in, of->out, of->count, MPI_INT, MPI_SUM, of->root, of->comm, none, request);
  case ALLGATHER:
    return MPI_Allgather_init(of->in, of->count, MPI_INT, of->out, of->count, MPI_INT, of->comm, none, request);
  case ALLTOALL:
    return MPI_Alltoall_init(of->in, of->count, MPI_INT, of->out, of->count, MPI_INT, of->comm, none, request);
  case SCATTERV:
    return init_scatterv(of, request);
  case SCAN:
    return MPI_Scan_init(of->in, of->out, of->count, MPI_INT, MPI_SUM, of->comm, none, request);
  case STRIDED:
    return MPI_Bcast_init(of->out, of->count, every_second, of->root, of->comm, none, request);
  default:
    return MPI_Barrier_init(of->comm, none, request);
  }
}

static void make(call *of, MPI_Request *request, uint64_t *same) {
  static const int counts[] = {0, 1, 2, 30, 500, 3000};
  of->kind = (enum kind)below(same, KINDS);
  of->count = below(same, 25) ? counts[below(same, 6)] : MOST;
  of->root = below(same, size);
  of->comm = comms[below(same, COMMS)];
  CHECK(init(of, request) == MPI_SUCCESS);
}

static int width(const call *of) {
  return of->kind == ALLTOALL ? of->count * size : of->kind == SCATTERV ? of->count * size + RANKS * RANKS : of->count;
}

static void put(call *of, int what, int round) {
  bool from_out = of->kind == IN_PLACE || of->kind == BCAST || of->kind == STRIDED;
  int step = of->kind == STRIDED ? 2 : 1;
  memset(of->out, 0xff, sizeof(int) * (size_t)(of->count * (size > 2 ? size : 2)));
  if (from_out && of->kind != IN_PLACE && rank != of->root)
    return;
  for (int n = 0; n < width(of); n++)
    (from_out ? of->out : of->in)[n * step] = value(what, round, rank, n);
}

static int sum_of(int what, int round, int ranks, int n) {
  return ranks * value(what, round, 0, n) + 13 * ranks * (ranks - 1) / 2;
}

static void check_from(const call *of, int at, int what, int round, int from, int first, int count) {
  for (int n = 0; n < count; n++)
    CHECK(of->out[at + n] == value(what, round, from, first + n));
}

static void check_sums(const call *of, int what, int round, int ranks) {
  for (int n = 0; n < of->count; n++)
    CHECK(of->out[n] == sum_of(what, round, ranks, n));
}

static void check(const call *of, int what, int round) {
  int count = of->count;
  if (of->kind == ALLREDUCE || of->kind == IN_PLACE || (of->kind == REDUCE && rank == of->root))
    check_sums(of, what, round, size);
  if (of->kind == SCAN)
    check_sums(of, what, round, rank + 1);
  if (of->kind == BCAST)
    check_from(of, 0, what, round, of->root, 0, count);
  if (of->kind == SCATTERV)
    check_from(of, 0, what, round, of->root, of->offsets[rank], of->counts[rank]);
  for (int r = 0; r < size && of->kind == ALLGATHER; r++)
    check_from(of, r * count, what, round, r, 0, count);
  for (int r = 0; r < size && of->kind == ALLTOALL; r++)
    check_from(of, r * count, what, round, r, rank * count, count);
  for (int n = 0; n < count && of->kind == STRIDED; n++) {
    CHECK(of->out[2 * n] == value(what, round, of->root, n));
    CHECK(n + 1 == count || rank == of->root || of->out[2 * n + 1] == -1);
  }
}

/* ---- all of them ---- */

static void mix(int *order, uint64_t *own) {
  for (int n = 0; n < REQUESTS; n++) {
    int at = below(own, n + 1);
    order[n] = order[at];
    order[at] = n;
  }
}

/* Calls that all ranks make in one order, while any of the requests may be started. */
static void call_between(int what) {
  int in = what + rank, out = -1, expected = size * what + size * (size - 1) / 2;
  MPI_Request request;
  if (what % 3 == 0)
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, comms[what % COMMS]);
  if (what % 3 == 1) {
    MPI_Iallreduce(&in, &out, 1, MPI_INT, MPI_SUM, comms[what % COMMS], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (what % 3 == 2) {
    out = rank == what % size ? expected : -1;
    MPI_Bcast(&out, 1, MPI_INT, what % size, comms[what % COMMS]);
  }
  CHECK(out == expected);
}

/* One at a time or several at once, with calls in between. */
static void start_all(const int *order, int round, uint64_t *own) {
  int calls_made = 0;
  for (int n = 0; n < REQUESTS;) {
    MPI_Request some[REQUESTS];
    int count = below(own, 3) ? 1 : 1 + below(own, REQUESTS - n);
    for (int k = 0; k < count; k++)
      some[k] = requests[order[n + k]];
    if (count == 1)
      MPI_Start(some);
    else
      MPI_Startall(count, some);
    n += count;
    for (; calls_made < 4 && below(own, 12) == 0; calls_made++)
      call_between(4 * round + calls_made);
  }
  for (; calls_made < 4; calls_made++)
    call_between(4 * round + calls_made);
}

static void wait_all(const int *order, uint64_t *own) {
  int way = below(own, 4), done = 0;
  if (way == 0)
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
  for (int n = 0, which; n < REQUESTS && way == 1; n++)
    MPI_Waitany(REQUESTS, requests, &which, MPI_STATUS_IGNORE);
  for (int n = 0; n < REQUESTS && way == 2; n++)
    MPI_Wait(&requests[order[n]], MPI_STATUS_IGNORE);
  for (int n = 0; n < REQUESTS && way == 3; n++)
    for (done = 0; !done;)
      MPI_Test(&requests[order[n]], &done, MPI_STATUS_IGNORE);
}

static void play(int round, uint64_t *same, uint64_t *own) {
  int order[REQUESTS], other[REQUESTS];
  mix(order, own);
  mix(other, own);
  for (int n = 0; n < REQUESTS; n++)
    put(&calls[n], n, round);
  start_all(order, round, own);
  wait_all(other, own);
  for (int n = 0; n < REQUESTS; n++)
    check(&calls[n], n, round);
  int again = below(same, REQUESTS);
  MPI_Request_free(&requests[again]);
  make(&calls[again], &requests[again], same);
}

/* ---- two of them ---- */

static void cross(int count, int round) {
  int *data[2] = {malloc(sizeof(int) * (size_t)count), malloc(sizeof(int) * (size_t)count)};
  MPI_Request both[2], turned[2];
  for (int n = 0; n < 2; n++) {
    memset(data[n], 0, sizeof(int) * (size_t)count);
    for (int k = 0; k < count && rank == 0; k++)
      data[n][k] = value(n, round, 0, k);
    MPI_Bcast_init(data[n], count, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[n]);
  }
  for (int n = 0; n < 2; n++)
    turned[n] = both[rank % 2 ? 1 - n : n];
  MPI_Startall(2, turned);
  for (int n = 0; n < 2; n++)
    MPI_Wait(&turned[n], MPI_STATUS_IGNORE);
  for (int n = 0; n < 2; n++)
    for (int k = 0; k < count; k++)
      CHECK(data[n][k] == value(n, round, 0, k));
  for (int n = 0; n < 2; n++) {
    MPI_Request_free(&both[n]);
    free(data[n]);
  }
}

/* Rank 0 starts and then blocks, the others block and then start. */
static void cross_blocking(int count, int round) {
  int *data = malloc(sizeof(int) * (size_t)count), *other = malloc(sizeof(int) * (size_t)count);
  MPI_Request request;
  for (int k = 0; k < count; k++) {
    data[k] = rank == 0 ? value(0, round, 0, k) : 0;
    other[k] = rank == 0 ? value(1, round, 0, k) : 0;
  }
  MPI_Bcast_init(data, count, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (rank == 0)
    MPI_Start(&request);
  MPI_Bcast(other, count, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank != 0)
    MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int k = 0; k < count; k++)
    CHECK(data[k] == value(0, round, 0, k) && other[k] == value(1, round, 0, k));
  MPI_Request_free(&request);
  free(data);
  free(other);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int rounds = argc > 1 ? atoi(argv[1]) : 50;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("request_orders %d %" PRIu64 "\n", rounds, seed);
  uint64_t same = seed, own = seed + 1 + (uint64_t)rank;
  comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comms[2]);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second);
  MPI_Type_commit(&every_second);
  for (int n = 0; n < 10; n++) {
    cross(n % 2 ? 1 : MOST, n);
    cross_blocking(n % 2 ? 1 : MOST, n);
  }
  size_t bytes = sizeof(int) * (size_t)(MOST * (size > 2 ? size : 2) + RANKS * RANKS);
  for (int n = 0; n < REQUESTS; n++) {
    calls[n].in = malloc(bytes);
    calls[n].out = malloc(bytes);
    make(&calls[n], &requests[n], &same);
  }
  for (int round = 0; round < rounds; round++)
    play(round, &same, &own);
  for (int n = 0; n < REQUESTS; n++) {
    MPI_Request_free(&requests[n]);
    free(calls[n].in);
    free(calls[n].out);
  }
  MPI_Type_free(&every_second);
  MPI_Comm_free(&comms[1]);
  MPI_Comm_free(&comms[2]);
  MPI_Finalize();
  return 0;
}
