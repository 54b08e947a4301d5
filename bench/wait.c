/* bench/wait.c - the floor under small calls: what it takes ranks to tell each other one word, and nothing else.
 *
 * Each of N processes, rank r on core r mod C, stores a counter into its line and waits for everyone's: a barrier
 * without any library around it, in two ways of waiting. `in order`: for rank 0, 1, ..., yielding. `neighbours first`:
 * for those on the same core first, since they need the core, then spinning for the others (api/wait.c). Where ranks
 * share cores the floor is the kernel's switch between processes, once a rank and round.
 *
 *     bench_wait [SECONDS]    for each line, default 0.5 */
#include "base/base.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS_A_LOOK 256
#define SPINS 100

typedef struct line {
  _Alignas(128) _Atomic uint64_t count;
} line;

typedef struct job {
  line *line; /* of each rank; [ranks]: the last round */
  int ranks, cores, rank;
  bool neighbours_first;
  uint64_t yields;
} job;

static bool has_come(const job *of, int rank, uint64_t round) {
  return atomic_load_explicit(&of->line[rank].count, memory_order_acquire) >= round;
}

static void await(job *of, int rank, uint64_t round, int spins) {
  for (int n = 0; !has_come(of, rank, round); n++)
    if (n % (spins + 1) == spins) {
      sched_yield();
      of->yields++;
    }
}

static bool is_neighbour(const job *of, int rank) { return rank % of->cores == of->rank % of->cores; }

static void meet(job *of, uint64_t round) {
  atomic_store_explicit(&of->line[of->rank].count, round, memory_order_release);
  for (int r = 0; r < of->ranks; r++)
    if (!of->neighbours_first || is_neighbour(of, r))
      await(of, r, round, of->ranks > of->cores ? 0 : SPINS);
  for (int r = 0; r < of->ranks && of->neighbours_first; r++)
    if (!is_neighbour(of, r))
      await(of, r, round, SPINS);
}

static void bind_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)core, &set);
  if (sched_setaffinity(0, sizeof set, &set))
    perror("sched_setaffinity");
}

/* Rounds until rank 0 has said which one is the last. */
static uint64_t play(job *of, int64_t for_ns) {
  int64_t end_ns = tt_clock_ns() + for_ns;
  for (uint64_t round = 1;; round++) {
    if (of->rank == 0 && round % ROUNDS_A_LOOK == 0 && tt_clock_ns() > end_ns)
      atomic_store_explicit(&of->line[of->ranks].count, round, memory_order_relaxed); /* before it comes to it */
    meet(of, round);
    if (atomic_load_explicit(&of->line[of->ranks].count, memory_order_relaxed) == round)
      return round;
  }
}

static void measure(job of, double seconds) {
  size_t bytes = (size_t)(of.ranks + 1) * sizeof(line);
  of.line = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (of.line == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  for (int r = 1; r < of.ranks; r++)
    if (fork() == 0) {
      of.rank = r;
      bind_core(r % of.cores);
      play(&of, 0);
      _exit(0);
    }
  bind_core(0);
  int64_t begin_ns = tt_clock_ns();
  uint64_t rounds = play(&of, (int64_t)(seconds * 1e9));
  double us = (double)(tt_clock_ns() - begin_ns) * 1e-3 / (double)rounds;
  while (wait(NULL) > 0)
    continue;
  printf("%5d  %-16s  %8.3f  %14.2f\n", of.ranks, of.neighbours_first ? "neighbours first" : "in order", us,
         (double)of.yields / (double)rounds);
  munmap(of.line, bytes);
}

int main(int count, char **arguments) {
  double seconds = count > 1 ? atof(arguments[1]) : 0.5;
  int cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("ranks  waiting             us a round  yields a round (rank 0), %d cores\n", cores);
  for (int ranks = 2; ranks <= 8; ranks *= 2)
    for (int way = 0; way < 2; way++)
      measure((job){.ranks = ranks, .cores = cores, .neighbours_first = way}, seconds);
  return 0;
}
