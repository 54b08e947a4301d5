/* bench/transport.c - what the shared memory transport costs by itself, beside what the machine can do at best.
 *
 * Two processes, one a core. Latency: one way from core to core, of a bare flag, and of 8 bytes through a stream.
 * Bandwidth: a buffer copied into slots by one rank and out of them by the other, for slot sizes and counts, as a share
 * of the rate at which both cores memcpy at the same time: 1.00 means that the transport costs nothing. Times are the
 * best of some batches.
 *
 *     bench_transport [BYTES]    bytes of the buffer, default 16M */
#include "transport/transport.h"
#include "cores.h"
#include "dtype/dtype.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCHES 15
#define TURNS 20000
#define MESSAGE_MOST 4096 /* bytes that take turns */

static const tutti_transport_ops *ops;
static int rank; /* 0 measures, 1 is the child */
static int core[2];
static size_t bytes = 16 << 20;
static char *mine, *other; /* buffers of this process, with room for each message, too */

/* Where both ranks meet between measurements, not through what is measured. */
static struct {
  _Alignas(128) _Atomic uint64_t flag[2][16];
  _Alignas(128) _Atomic uint64_t arrived[2][16];
} *shared;

static void meet(void) {
  uint64_t round = atomic_load_explicit(&shared->arrived[rank][0], memory_order_relaxed) + 1;
  atomic_store_explicit(&shared->arrived[rank][0], round, memory_order_release);
  while (atomic_load_explicit(&shared->arrived[1 - rank][0], memory_order_acquire) < round)
    tt_relax();
}

/* Best time in ns of one call of `run`, which both ranks do at once. */
static double measure(void (*run)(void *), void *argument) {
  double best = 0;
  run(argument); /* touches pages */
  for (int b = 0; b < BATCHES; b++) {
    meet();
    int64_t start_ns = tt_clock_ns();
    run(argument);
    meet();
    double time = (double)(tt_clock_ns() - start_ns);
    best = b == 0 || time < best ? time : best;
  }
  return best;
}

/* ---- latency ---- */

static void turn_flags(void *argument) {
  _Atomic uint64_t *own = &shared->flag[rank][0], *its = &shared->flag[1 - rank][0];
  uint64_t number = atomic_load_explicit(own, memory_order_relaxed);
  (void)argument;
  for (int n = 0; n < TURNS; n++) {
    number++;
    if (rank == 0)
      atomic_store_explicit(own, number, memory_order_release);
    while (atomic_load_explicit(its, memory_order_acquire) != number)
      ;
    if (rank == 1)
      atomic_store_explicit(own, number, memory_order_release);
  }
}

typedef struct pair {
  void *self;
  tutti_stream *out, *in;
  size_t message;
} pair;

static void put(const pair *both, const void *from, size_t size) {
  tutti_slot_header *header;
  void *data;
  size_t room = 0;
  while (room == 0)
    ops->reserve(both->self, both->out, &header, &data, &room);
  *header = (tutti_slot_header){1, 1};
  memcpy(data, from, size);
  ops->commit(both->self, both->out, size);
}

static void take(const pair *both, void *to, size_t size) {
  const tutti_slot_header *header = NULL;
  const void *data;
  size_t came;
  while (header == NULL)
    ops->peek(both->self, both->in, &header, &data, &came);
  memcpy(to, data, size);
  ops->release(both->self, both->in);
}

static void turn_messages(void *argument) {
  const pair *both = argument;
  for (int n = 0; n < TURNS; n++) {
    if (rank == 0)
      put(both, mine, both->message);
    take(both, other, both->message);
    if (rank == 1)
      put(both, mine, both->message);
  }
}

/* ---- bandwidth ---- */

static void copy_both(void *argument) {
  (void)argument;
  tt_dtype_copy(other, mine, bytes, false);
}

/* As much as can go on now in one direction; returns the bytes done. */
static size_t push(const pair *both, size_t done) {
  tutti_slot_header *header;
  void *data;
  size_t room;
  ops->reserve(both->self, both->out, &header, &data, &room);
  if (room == 0)
    return done;
  size_t size = bytes - done < both->message ? bytes - done : both->message;
  tt_dtype_copy(data, mine + done, size, false);
  ops->commit(both->self, both->out, size);
  return done + size;
}

static size_t pull(const pair *both, size_t done) {
  const tutti_slot_header *header;
  const void *data;
  size_t size;
  ops->peek(both->self, both->in, &header, &data, &size);
  if (header == NULL)
    return done;
  tt_dtype_copy(other + done, data, size, false);
  ops->release(both->self, both->in);
  return done + size;
}

static void one_way(void *argument) {
  for (size_t done = 0; done < bytes;)
    done = rank == 0 ? push(argument, done) : pull(argument, done);
}

static void both_ways(void *argument) {
  for (size_t sent = 0, got = 0; sent < bytes || got < bytes;) {
    if (sent < bytes)
      sent = push(argument, sent);
    if (got < bytes)
      got = pull(argument, got);
  }
}

/* ---- the table ---- */

static pair open_pair(void *self, uint64_t id) {
  pair both = {.self = self};
  for (int64_t source = 0; source < 2; source++) {
    int64_t reader = 1 - source;
    tutti_stream_spec spec = {.id = id, .source = source, .readers = &reader, .reader_count = 1};
    if (ops->stream_open(self, &spec, source == rank ? &both.out : &both.in) != TUTTI_OK)
      abort();
  }
  return both;
}

static void close_pair(pair *both) {
  meet();
  ops->stream_close(both->self, both->out);
  ops->stream_close(both->self, both->in);
}

/* Runs `body` on both ranks of a new job, one a core. */
static void with_job(size_t slot_bytes, size_t slot_count, void (*body)(void *self)) {
  tt_shm_config config = {.slot_bytes = slot_bytes, .slot_count = slot_count};
  void *self[2];
  if (tt_shm_open_threads(&config, 2, self) != TUTTI_OK) {
    fprintf(stderr, "bench_transport: %s\n", tutti_last_error());
    exit(1);
  }
  fflush(stdout);
  memset(shared, 0, sizeof *shared);
  pid_t child = fork();
  rank = child == 0;
  if (rank == 1)
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  bench_bind(core[rank]);
  body(self[rank]);
  if (rank == 1)
    _exit(0);
  waitpid(child, NULL, 0);
  for (int r = 0; r < 2; r++)
    ops->close(self[r]);
}

static void print_latency(void *self) {
  double flag = measure(turn_flags, NULL) / (2 * TURNS);
  if (rank == 0)
    printf("one way, flag      %8.1f ns\n", flag);
  static const size_t sizes[] = {8, 32, 64, 1024, MESSAGE_MOST};
  pair both = open_pair(self, 1);
  for (size_t s = 0; s < TT_COUNT(sizes); s++) {
    both.message = sizes[s];
    double time = measure(turn_messages, &both) / (2 * TURNS);
    if (rank == 0)
      printf("one way, %4zu B    %8.1f ns  %5.2f flags\n", sizes[s], time, time / flag);
  }
  close_pair(&both);
}

#define SIZES 7  /* of slots: 16K to 1M */
#define COUNTS 4 /* of slots: 2 to 16 */

static double copy_ns, one_way_ns[SIZES][COUNTS], both_ways_ns[SIZES][COUNTS];
static int size_row, count_column;

static void measure_bandwidth(void *self) {
  pair both = open_pair(self, 1);
  tutti_slot_header *header;
  void *data;
  ops->reserve(self, both.out, &header, &data, &both.message);
  double copy = measure(copy_both, NULL);
  copy_ns = copy_ns == 0 || copy < copy_ns ? copy : copy_ns;
  one_way_ns[size_row][count_column] = measure(one_way, &both);
  both_ways_ns[size_row][count_column] = measure(both_ways, &both);
  close_pair(&both);
}

/* Shares: of the time in which each core copies once (one way) or twice (both ways). */
static void print_bandwidth(void) {
  printf("\nboth cores copy %zu KiB at once: %.2f GB/s each\n", bytes >> 10, (double)bytes / copy_ns);
  printf("share of it through slots, one way and both ways\n\nslot ");
  for (int c = 0; c < COUNTS; c++)
    printf("%8d slots", 2 << c);
  putchar('\n');
  for (int s = 0; s < SIZES; s++) {
    printf("%4dK", 16 << s);
    for (int c = 0; c < COUNTS; c++)
      printf("   %4.2f  %4.2f ", copy_ns / one_way_ns[s][c], 2 * copy_ns / both_ways_ns[s][c]);
    putchar('\n');
  }
}

int main(int argc, char **argv) {
  int64_t size = (int64_t)bytes;
  if (argc > 2 || (argc == 2 && (tt_parse_bytes(argv[1], &size) != TUTTI_OK || size < 1))) {
    fprintf(stderr, "usage: bench_transport [BYTES]\n");
    return 2;
  }
  if (bench_cores(core, 2) < 2) {
    fprintf(stderr, "bench_transport: two cores are needed\n");
    return 1;
  }
  ops = tt_shm_ops();
  bytes = (size_t)size;
  size_t room = bytes > MESSAGE_MOST ? bytes : MESSAGE_MOST;
  mine = malloc(room);
  other = malloc(room);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mine == NULL || other == NULL || shared == MAP_FAILED)
    return 1;
  memset(mine, 1, room);
  with_job(0, 0, print_latency);
  for (size_row = 0; size_row < SIZES; size_row++)
    for (count_column = 0; count_column < COUNTS; count_column++)
      with_job((size_t)16384 << size_row, (size_t)2 << count_column, measure_bandwidth);
  print_bandwidth();
  free(mine);
  free(other);
  return 0;
}
