/* tests/cluster/traffic.c - how much collectives send from one node to the other, against what a plan has to send that
 * uses shared memory inside nodes.
 *
 *     mpirun ... traffic RANKS_OF_NODE_0 [bytes | plain]
 *
 * Bytes are what the node's NICs count, of calls with long blocks; messages are tutti's (wire.c), of calls with 8
 * bytes. Collectives of n bytes a block, a ranks on the root's node and b on the other, have to send, in blocks:
 *
 *                  allreduce   bcast   reduce   allgather   gather   scatter   reduce_scatter   alltoall
 *     from root's      1         1        0         a          0         b            b            ab
 *     from other       1         0        1         b          b         0            a            ab
 *
 * bytes: only those are looked at, where tutti has connections of its own. plain: an MPI alone runs, which is only
 * measured. */
#include <dlfcn.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RANKS = 16, LONG = 1 << 20, LONG_CALLS = 4, SHORT = 8, SHORT_CALLS = 512 };

typedef enum kind { ALLREDUCE, BCAST, REDUCE, ALLGATHER, GATHER, SCATTER, REDUCE_SCATTER, ALLTOALL, KINDS } kind;

static const char *const names[KINDS] = {"allreduce", "bcast",   "reduce",         "allgather",
                                         "gather",    "scatter", "reduce_scatter", "alltoall"};

typedef struct traffic { /* of each node */
  int64_t bytes[2], messages[2];
} traffic;

static struct {
  int rank, size, node;
  double in[RANKS * LONG / sizeof(double)], out[RANKS * LONG / sizeof(double)];
} self;

static void call(kind of, int bytes) {
  int count = bytes / (int)sizeof(double);
  MPI_Comm comm = MPI_COMM_WORLD;
  switch (of) {
  case ALLREDUCE:
    MPI_Allreduce(self.in, self.out, count, MPI_DOUBLE, MPI_SUM, comm);
    break;
  case BCAST:
    MPI_Bcast(self.out, count, MPI_DOUBLE, 0, comm);
    break;
  case REDUCE:
    MPI_Reduce(self.in, self.out, count, MPI_DOUBLE, MPI_SUM, 0, comm);
    break;
  case ALLGATHER:
    MPI_Allgather(self.in, count, MPI_DOUBLE, self.out, count, MPI_DOUBLE, comm);
    break;
  case GATHER:
    MPI_Gather(self.in, count, MPI_DOUBLE, self.out, count, MPI_DOUBLE, 0, comm);
    break;
  case SCATTER:
    MPI_Scatter(self.in, count, MPI_DOUBLE, self.out, count, MPI_DOUBLE, 0, comm);
    break;
  case REDUCE_SCATTER:
    MPI_Reduce_scatter_block(self.in, self.out, count, MPI_DOUBLE, MPI_SUM, comm);
    break;
  default:
    MPI_Alltoall(self.in, count, MPI_DOUBLE, self.out, count, MPI_DOUBLE, comm);
  }
}

/* ---- counters ---- */

static int64_t sent_bytes(void) {
  FILE *file = fopen("/sys/class/net/eth0/statistics/tx_bytes", "r");
  int64_t bytes = 0;
  if (!file || fscanf(file, "%" SCNd64, &bytes) != 1)
    MPI_Abort(MPI_COMM_WORLD, 2);
  fclose(file);
  return bytes;
}

static int64_t sent_messages(void) {
  int64_t (*messages)(void);
  *(void **)&messages = dlsym(RTLD_DEFAULT, "wire_messages");
  return messages ? messages() : 0;
}

/* Of this moment. By point to point messages inside PMPI, so that tutti does not count them. */
static traffic read_counters(void) {
  traffic mine = {{0}, {0}}, all;
  PMPI_Barrier(MPI_COMM_WORLD);
  mine.bytes[self.node] = sent_bytes();
  mine.messages[self.node] = sent_messages();
  PMPI_Allreduce(mine.bytes, all.bytes, 2, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  PMPI_Allreduce(mine.messages, all.messages, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static traffic measure(kind of, int bytes, int calls) {
  call(of, bytes); /* connections, streams */
  traffic before = read_counters();
  for (int n = 0; n < calls; n++)
    call(of, bytes);
  traffic after = read_counters();
  for (int node = 0; node < 2; node++) {
    after.bytes[node] -= before.bytes[node];
    after.messages[node] -= before.messages[node];
  }
  return after;
}

/* ---- what is to be expected ---- */

static double blocks_of(kind of, int node, const int *ranks) {
  double own = ranks[node], others = ranks[1 - node];
  switch (of) {
  case ALLREDUCE:
    return 1;
  case BCAST:
    return node == 0;
  case REDUCE:
    return node == 1;
  case ALLGATHER:
    return own;
  case GATHER:
    return node == 1 ? own : 0;
  case SCATTER:
    return node == 0 ? others : 0;
  case REDUCE_SCATTER:
    return others;
  default:
    return own * others;
  }
}

/* A long reduce may be a reduce-scatter and a gather, so that all ranks combine: then parts go from the root's node to
 * the other, and back in the other's block. */
static double most_blocks_of(kind of, int node, const int *ranks) {
  return of == REDUCE && node == 0 ? (double)ranks[1] / (ranks[0] + ranks[1]) : blocks_of(of, node, ranks);
}

static bool check_long(kind of, const int *ranks, bool plain) {
  traffic sent = measure(of, LONG, LONG_CALLS);
  bool right = true;
  for (int node = 0; node < 2; node++) {
    double blocks = (double)sent.bytes[node] / LONG_CALLS / LONG, least = blocks_of(of, node, ranks);
    /* TCP has heads and acknowledgments */
    bool fits = plain || (blocks >= least && blocks <= 1.05 * most_blocks_of(of, node, ranks) + 0.05);
    if (self.rank == 0)
      printf("%-15s node %d sends %6.2f blocks a call, %4.0f needed%s\n", names[of], node, blocks, least,
             fits ? "" : "  WRONG");
    right = right && fits;
  }
  return right;
}

/* One message to the other node where there is anything to say at all; and some with credits, or of ranks that waited
 * long and ask why: 30 or so when the machine stalls once, which is little in that many calls. */
static bool check_short(kind of, const int *ranks) {
  traffic sent = measure(of, SHORT, SHORT_CALLS);
  bool right = true;
  for (int node = 0; node < 2; node++) {
    double messages = (double)sent.messages[node] / SHORT_CALLS, least = blocks_of(of, node, ranks) > 0;
    bool fits = messages >= least && messages <= least + 0.5;
    if (self.rank == 0)
      printf("%-15s node %d sends %6.2f messages a call of 8 bytes, %.0f needed%s\n", names[of], node, messages, least,
             fits ? "" : "  WRONG");
    right = right && fits;
  }
  return right;
}

int main(int argc, char **argv) {
  char host[64] = "";
  const char *mode = argc > 2 ? argv[2] : "";
  bool right = true;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &self.size);
  gethostname(host, sizeof host - 1);
  self.node = strcmp(host, "node0") != 0;
  const int ranks[2] = {atoi(argv[1]), self.size - atoi(argv[1])};
  for (int of = 0; of < KINDS; of++)
    right = check_long((kind)of, ranks, strcmp(mode, "plain") == 0) && right;
  for (int of = 0; of < KINDS && !*mode; of++)
    right = check_short((kind)of, ranks) && right;
  MPI_Finalize();
  return !right;
}
