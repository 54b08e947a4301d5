/* tests/mpi/transport_calls.c - every collective over the transport of bindings/mpi, without the interposer.
 *
 *     mpirun -n N transport_calls FILE SEED ROUNDS NODES
 *
 * Rounds of calls that are outstanding together on four communicators (conformance/program.h). FILE: memory that the
 * ranks share, to check barriers. NODES: 0: all ranks reach each other by messages; else rank r pretends to be on node
 * r % NODES, and shares memory with the ranks there. Then broadcasts, after which nobody calls MPI until all have
 * returned; and a message that MPI fails to receive. Slots that nobody wants, and several that are lost at once. */
#include "bindings/mpi/transport.h"
#include "conformance/program.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  (void)timeout_ns, (void)missing, (void)missing_size;
  int code = PMPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *(MPI_Comm *)user);
  return code == MPI_SUCCESS ? TUTTI_OK : TUTTI_ERR_SYSTEM;
}

typedef struct memory { /* of all ranks */
  program_memory program;
  _Atomic int64_t met;
} memory;

static memory *share(const char *path) {
  int file = open(path, O_RDWR | O_CREAT, 0600);
  CHECK(file >= 0 && ftruncate(file, sizeof(memory)) == 0);
  void *shared = mmap(NULL, sizeof(memory), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(shared != MAP_FAILED);
  close(file);
  return shared;
}

static tutti_context *join(MPI_Comm *comm, int64_t nodes) {
  int rank, size;
  tutti_context *context;
  tutti_context_options options;
  PMPI_Comm_rank(*comm, &rank);
  PMPI_Comm_size(*comm, &size);
  tutti_boot boot = {sizeof boot, rank, size, comm, allgather};
  tutti_context_options_init(&options);
  options.boot = &boot;
  options.transport = tt_mpi_transport();
  options.transport_config = comm;
  options.node = nodes ? rank % nodes : -1;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  return context;
}

/* All ranks have come here; by memory alone. Each one's add pairs with the load of the others. */
static void meet(memory *shared, int64_t ranks) {
  int64_t turn = atomic_fetch_add_explicit(&shared->met, 1, memory_order_acq_rel) / ranks;
  time_t until = time(NULL) + 30;
  while (atomic_load_explicit(&shared->met, memory_order_acquire) < (turn + 1) * ranks) {
    CHECK(time(NULL) <= until);
    sched_yield();
  }
}

/* Who has returned may compute for long: what it has sent must reach the others without its help. */
static void compute_after_calls(tutti_context *context, memory *shared) {
  enum { BYTES = 200000 };
  static unsigned char in[BYTES], out[BYTES];
  int64_t ranks = tutti_context_size(context);
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  for (int64_t root = 0; root < ranks; root++) {
    memset(in, (int)root + 1, BYTES);
    CHECK(tutti_broadcast(in, out, BYTES, TUTTI_UINT8, root, comm) == TUTTI_OK);
    meet(shared, ranks);
    CHECK(out[0] == root + 1 && memcmp(out, out + 1, BYTES - 1) == 0);
  }
  tutti_comm_destroy(comm);
}

static bool loses; /* messages that come */

int PMPI_Imrecv(void *data, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request) {
  if (!loses)
    return MPI_Imrecv(data, count, type, message, request);
  MPI_Mrecv(data, count, type, message, MPI_STATUS_IGNORE);
  return MPI_ERR_OTHER;
}

static bool loses_late; /* messages that come, when they are complete */

int PMPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
  *done = 0;
  return loses_late ? MPI_SUCCESS : MPI_Test(request, done, status);
}

int PMPI_Testsome(int count, MPI_Request *requests, int *done, int *which, MPI_Status *statuses) {
  int code = MPI_Testsome(count, requests, done, which, statuses);
  for (int n = 0; loses_late && n < *done; n++)
    statuses[n].MPI_ERROR = MPI_ERR_OTHER;
  return loses_late && *done > 0 ? MPI_ERR_IN_STATUS : code;
}

/* An error, and nobody waits for ever. */
static void lose_a_message(tutti_context *context, memory *shared) {
  int word = 7;
  tutti_comm *comm;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  loses = tutti_context_rank(context) > 0;
  meet(shared, tutti_context_size(context));
  tutti_status status = tutti_broadcast(&word, &word, 1, TUTTI_INT32, 0, comm);
  CHECK(status == TUTTI_ERR_PEER || !loses);
  loses = false;
  meet(shared, tutti_context_size(context)); /* before somebody says goodbye */
  tutti_comm_destroy(comm);
}

static tutti_stream *open_stream(const tutti_transport_ops *ops, void *transport, uint64_t id, int64_t source,
                                 int64_t reader) {
  tutti_stream *stream;
  const tutti_stream_spec spec = {
      .id = id, .source = source, .readers = &reader, .reader_count = 1, .slot_bytes_minimum = 64};
  CHECK(ops->stream_open(transport, &spec, &stream) == TUTTI_OK);
  return stream;
}

static void write_slot(const tutti_transport_ops *ops, void *transport, uint64_t id, int64_t source, int64_t reader) {
  tutti_slot_header *header;
  void *data;
  size_t room = 0;
  int64_t peer;
  tutti_stream *stream = open_stream(ops, transport, id, source, reader);
  CHECK(ops->reserve(transport, stream, &header, &data, &room) == TUTTI_OK && room >= 64);
  CHECK(ops->commit(transport, stream, 64) == TUTTI_OK);
  while (ops->unsent(transport, stream) > 0)
    CHECK(ops->progress(transport, &peer) == TUTTI_OK);
}

static bool has_slot(const tutti_transport_ops *ops, void *transport, tutti_stream *stream) {
  const tutti_slot_header *header;
  const void *data;
  size_t bytes;
  int64_t peer;
  CHECK(ops->progress(transport, &peer) == TUTTI_OK);
  CHECK(ops->peek(transport, stream, &header, &data, &bytes) == TUTTI_OK);
  return header != NULL;
}

/* What came for a stream that its reader never opens: rank 0 writes into two, rank 1 waits for the second one's. */
static void forget_a_slot(const tutti_transport_ops *ops, void *transport, int rank, int size) {
  if (rank == 0 && size > 1) {
    write_slot(ops, transport, 7, 0, 1);
    write_slot(ops, transport, 9, 0, 1);
  }
  if (rank == 1) {
    tutti_stream *second = open_stream(ops, transport, 9, 0, 1);
    while (!has_slot(ops, transport, second))
      ;
    ops->forget(transport, 6, 4); /* and not what is open */
    CHECK(has_slot(ops, transport, second));
    CHECK(!has_slot(ops, transport, open_stream(ops, transport, 7, 0, 1)));
  }
}

/* Of all other ranks at once: rank 0 is told of each. */
static void lose_one_of_each(const tutti_transport_ops *ops, void *transport, MPI_Comm comm, int rank, int size) {
  if (rank > 0)
    write_slot(ops, transport, 11, rank, 0);
  PMPI_Barrier(comm);
  time_t until = time(NULL) + 30;
  loses_late = rank == 0;
  for (int told = 0; rank == 0 && told < size - 1;) {
    int64_t peer = -1;
    tutti_status status = ops->progress(transport, &peer);
    CHECK(time(NULL) <= until && (status == TUTTI_OK || (status == TUTTI_ERR_PEER && peer > 0)));
    told += status == TUTTI_ERR_PEER;
  }
  loses_late = false;
}

/* Slots alone. */
static void test_transport(MPI_Comm *comm) {
  const tutti_transport_ops *ops = tt_mpi_transport();
  int rank, size;
  void *transport;
  PMPI_Comm_rank(*comm, &rank);
  PMPI_Comm_size(*comm, &size);
  tutti_boot boot = {sizeof boot, rank, size, comm, allgather};
  CHECK(ops->open(comm, &boot, &transport) == TUTTI_OK);
  forget_a_slot(ops, transport, rank, size);
  PMPI_Barrier(*comm);
  lose_one_of_each(ops, transport, *comm, rank, size);
  PMPI_Barrier(*comm);
  ops->close(transport);
}

int main(int argc, char **argv) {
  if (argc != 5)
    return fprintf(stderr, "usage: transport_calls FILE SEED ROUNDS NODES\n"), 2;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  memory *shared = share(argv[1]);
  program_options options = {strtoull(argv[2], NULL, 10), atoi(argv[3]), 65537, &shared->program};
  test_transport(&comm);
  tutti_context *context = join(&comm, atoi(argv[4]));
  program_run(context, &options);
  compute_after_calls(context, shared);
  if (atoi(argv[4]) == 0)
    lose_a_message(context, shared);
  tutti_context_destroy(context);
  munmap(shared, sizeof *shared);
  PMPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
