/* bench/exchange.c - the floor under an all-to-all between processes of one machine: the bytes move, and nothing else.
 *
 * N processes, rank r on core r mod C, each with N blocks for the others and its own. No library, no choice, no checks:
 *
 *     slots    every block is copied into memory that both share, and out of it: SLOTS slots of SLOT bytes a pair
 *     kernel   every rank says that its blocks are there, reads the others' (process_vm_readv), and waits until all
 *              have read its own
 *     shared   the same, if all memory were shared: memcpy. What is a user's own memory is not
 *
 * Memory that is not shared leaves a library the first two; the lesser of them is what it could come to.
 *
 *     bench_exchange [RANKS] [SIZES...]    bytes of a block; default 2, and 8 .. 16M */
#include "base/base.h"
#include "cores.h"
#include "stats.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS_MOST = 16, SLOTS = 4, SLOT = 32 << 10, BATCHES = 15, SPINS = 100 };

#define BATCH_NS 2000000.0

typedef struct counter {
  _Alignas(128) _Atomic uint64_t value;
} counter;

typedef struct board { /* shared by all */
  counter come[RANKS_MOST], ready[RANKS_MOST], finished[RANKS_MOST];
  struct {
    counter written, read;
    _Alignas(128) unsigned char slot[SLOTS][SLOT];
  } pair[RANKS_MOST][RANKS_MOST]; /* [from][to] */
  struct {
    pid_t pid;
    unsigned char *in;
  } process[RANKS_MOST];
} board;

static board *shared;
static unsigned char *common; /* `in` of each rank, for the way that has all in shared memory */
static int rank, ranks = 2, cores;
static unsigned char *in, *out;
static uint64_t rounds; /* of everything that ranks wait for each other in */
static pid_t leader;    /* rank 0; the others end with it */

static void give_up(const char *what) {
  perror(what);
  if (rank > 0)
    kill(leader, SIGTERM);
  exit(1);
}

static void wait_for(const counter *of, uint64_t value) {
  for (int n = 1; atomic_load_explicit(&of->value, memory_order_acquire) < value; n++)
    if (ranks > cores || n % SPINS == 0)
      sched_yield();
}

static void meet(counter *at, uint64_t value) {
  atomic_store_explicit(&at[rank].value, value, memory_order_release);
  for (int r = 0; r < ranks; r++)
    wait_for(&at[r], value);
}

/* ---- the three ways ---- */

/* Of what a rank sends or has got in a call, with each other rank. */
typedef struct progress {
  size_t sent[RANKS_MOST], got[RANKS_MOST];
} progress;

static size_t piece(size_t bytes, size_t done) { return bytes - done < SLOT ? bytes - done : SLOT; }

static bool send_to(int to, size_t bytes, size_t *sent) {
  counter *written = &shared->pair[rank][to].written;
  uint64_t at = atomic_load_explicit(&written->value, memory_order_relaxed);
  if (*sent == bytes || at - atomic_load_explicit(&shared->pair[rank][to].read.value, memory_order_acquire) >= SLOTS)
    return false;
  size_t now = piece(bytes, *sent);
  memcpy(shared->pair[rank][to].slot[at % SLOTS], in + (size_t)to * bytes + *sent, now);
  *sent += now;
  atomic_store_explicit(&written->value, at + 1, memory_order_release);
  return true;
}

static bool get_from(int from, size_t bytes, size_t *got) {
  counter *read = &shared->pair[from][rank].read;
  uint64_t at = atomic_load_explicit(&read->value, memory_order_relaxed);
  if (*got == bytes || atomic_load_explicit(&shared->pair[from][rank].written.value, memory_order_acquire) <= at)
    return false;
  size_t now = piece(bytes, *got);
  memcpy(out + (size_t)from * bytes + *got, shared->pair[from][rank].slot[at % SLOTS], now);
  *got += now;
  atomic_store_explicit(&read->value, at + 1, memory_order_release);
  return true;
}

static void copy_own(size_t bytes) { memcpy(out + (size_t)rank * bytes, in + (size_t)rank * bytes, bytes); }

static void by_slots(size_t bytes) {
  progress of = {.sent = {0}};
  copy_own(bytes);
  for (bool left = true; left;) {
    bool moved = false;
    left = false;
    for (int n = 1; n < ranks; n++) {
      int peer = (rank + n) % ranks;
      moved = send_to(peer, bytes, &of.sent[peer]) || moved;
      moved = get_from(peer, bytes, &of.got[peer]) || moved;
      left = left || of.sent[peer] < bytes || of.got[peer] < bytes;
    }
    if (!moved && ranks > cores)
      sched_yield();
  }
}

static void read_block(int from, size_t bytes) {
  unsigned char *to = out + (size_t)from * bytes, *source = shared->process[from].in + (size_t)rank * bytes;
  for (size_t done = 0; done < bytes;) {
    struct iovec local = {to + done, bytes - done}, remote = {source + done, bytes - done};
    ssize_t got = process_vm_readv(shared->process[from].pid, &local, 1, &remote, 1, 0);
    if (got <= 0)
      give_up("process_vm_readv");
    done += (size_t)got;
  }
}

static void copy_block(int from, size_t bytes) {
  const unsigned char *source = common + ((size_t)from * (size_t)ranks + (size_t)rank) * bytes;
  memcpy(out + (size_t)from * bytes, source, bytes);
}

static void by_reading(size_t bytes, void (*take)(int from, size_t bytes)) {
  rounds++;
  atomic_store_explicit(&shared->ready[rank].value, rounds, memory_order_release);
  copy_own(bytes);
  for (int n = 1; n < ranks; n++) {
    int from = (rank + n) % ranks;
    wait_for(&shared->ready[from], rounds);
    take(from, bytes);
  }
  meet(shared->finished, rounds);
}

static void by_kernel(size_t bytes) { by_reading(bytes, read_block); }

static void by_sharing(size_t bytes) { by_reading(bytes, copy_block); }

/* ---- measuring ---- */

/* Median over batches, in ns; the number of calls in a batch is the same on all ranks. */
static double measure(void (*call)(size_t bytes), size_t bytes) {
  double batch_ns[BATCHES];
  int64_t calls = (int64_t)(BATCH_NS / (300.0 * ranks + (double)bytes * ranks * ranks / 3)) + 1;
  for (int b = -1; b < BATCHES; b++) { /* the first one brings memory into the caches */
    meet(shared->come, ++rounds);
    int64_t start_ns = tt_clock_ns();
    for (int64_t n = 0; n < calls; n++)
      call(bytes);
    if (b >= 0)
      batch_ns[b] = (double)(tt_clock_ns() - start_ns) / (double)calls;
  }
  return bench_median(batch_ns, BATCHES);
}

static void *map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    give_up("mmap");
  return memory;
}

/* Buffers of a rank's own, as a user has them; the first process has made those that are shared. */
static void measure_size(size_t bytes) {
  size_t all = bytes * (size_t)ranks;
  in = aligned_alloc(4096, (all + 4095) / 4096 * 4096);
  out = aligned_alloc(4096, (all + 4095) / 4096 * 4096);
  if (!in || !out)
    give_up("two buffers");
  memset(in, rank + 1, all);
  memset(out, 0, all);
  memset(common + (size_t)rank * all, rank + 1, all);
  shared->process[rank].pid = getpid();
  shared->process[rank].in = in;
  double slots_ns = measure(by_slots, bytes), kernel_ns = measure(by_kernel, bytes);
  double sharing_ns = measure(by_sharing, bytes), least_ns = slots_ns < kernel_ns ? slots_ns : kernel_ns;
  char text[16];
  tt_format_bytes((int64_t)bytes, text);
  if (rank == 0)
    printf("%8s  %10.3f  %10.3f  %10.3f  %12.3f\n", text, slots_ns * 1e-3, kernel_ns * 1e-3, least_ns * 1e-3,
           sharing_ns * 1e-3);
  meet(shared->come, ++rounds); /* nobody reads any more */
  free(in);
  free(out);
}

static int run_ranks(const int *core, int count, char **sizes) {
  leader = getpid();
  for (int r = 1; r < ranks; r++) {
    pid_t child = fork();
    if (child < 0)
      return perror("fork"), 1;
    if (child == 0) {
      rank = r;
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != leader)
        return 1;
      break;
    }
  }
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  bench_bind(core[rank % cores]);
  for (int n = 0; n < count; n++) {
    int64_t bytes = 0;
    (void)tt_parse_bytes(sizes[n], &bytes);
    measure_size((size_t)bytes);
  }
  int result = 0, status = 0;
  while (rank == 0 && wait(&status) > 0)
    result = result || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  return result;
}

int main(int count, char **arguments) {
  static char *usual[] = {"8", "32", "128", "512", "2K", "8K", "32K", "128K", "512K", "2M", "8M", "16M"};
  static int core[1024];
  char **sizes = count > 2 ? arguments + 2 : usual;
  int size_count = count > 2 ? count - 2 : (int)TT_COUNT(usual);
  int64_t most = 0, bytes;
  ranks = count > 1 ? atoi(arguments[1]) : ranks;
  cores = bench_cores(core, (int)TT_COUNT(core));
  if (ranks < 2 || ranks > RANKS_MOST || cores == 0)
    return fprintf(stderr, "ranks '%s': 2 to %d\n", count > 1 ? arguments[1] : "", RANKS_MOST), 2;
  for (int n = 0; n < size_count; n++) {
    if (tt_parse_bytes(sizes[n], &bytes) != TUTTI_OK || bytes <= 0)
      return fprintf(stderr, "size '%s': bytes, such as 64K\n", sizes[n]), 2;
    most = bytes > most ? bytes : most;
  }
  shared = map(sizeof *shared);
  common = map((size_t)most * (size_t)ranks * (size_t)ranks);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("%d ranks on %d cores, us a call\n%8s  %10s  %10s  %10s  %12s\n", ranks, cores, "block", "slots", "kernel",
         "the lesser", "all shared");
  return run_ranks(core, size_count, sizes);
}
