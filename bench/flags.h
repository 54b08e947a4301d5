/* bench/flags.h - the floor under small calls: what it takes ranks to tell each other one word, and nothing else.
 *
 * Each of N processes, rank r on core r mod C, stores a counter into its line and waits for everyone's: a barrier
 * without any library around it, in two ways of waiting. `in order`: for rank 0, 1, ..., yielding. `neighbours first`:
 * for those on the same core first, since they need the core, then spinning for the others (wait/ladder.c). Where ranks
 * share cores the floor is the kernel's switch between processes, once a rank and round. */
#ifndef BENCH_FLAGS_H
#define BENCH_FLAGS_H

#include "base/base.h"
#include "cores.h"
#include "stats.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define BENCH_FLAGS_ROUNDS 256 /* from one look at the clock to the next */
#define BENCH_FLAGS_LOOKS 4096
#define BENCH_FLAGS_SPINS 100

typedef struct bench_flags_line {
  _Alignas(128) _Atomic uint64_t count;
} bench_flags_line;

typedef struct bench_flags {
  const int *core;
  int ranks, cores, rank;
  bool neighbours_first;
  bench_flags_line *line; /* of each rank; [ranks]: the last round */
  uint64_t yields;        /* of this rank */
  int looks;
  double look_ns[BENCH_FLAGS_LOOKS]; /* rank 0: time of a round since the look before */
} bench_flags;

static inline bool bench_flags_came(const bench_flags *of, int rank, uint64_t round) {
  return atomic_load_explicit(&of->line[rank].count, memory_order_acquire) >= round; /* pairs with the store in meet */
}

static inline void bench_flags_await(bench_flags *of, int rank, uint64_t round, int spins) {
  for (int n = 0; !bench_flags_came(of, rank, round); n++)
    if (n % (spins + 1) == spins) {
      sched_yield();
      of->yields++;
    }
}

static inline bool bench_flags_near(const bench_flags *of, int rank) {
  return rank % of->cores == of->rank % of->cores;
}

static inline void bench_flags_meet(bench_flags *of, uint64_t round) {
  atomic_store_explicit(&of->line[of->rank].count, round, memory_order_release);
  for (int r = 0; r < of->ranks; r++)
    if (!of->neighbours_first || bench_flags_near(of, r))
      bench_flags_await(of, r, round, of->ranks > of->cores ? 0 : BENCH_FLAGS_SPINS);
  for (int r = 0; r < of->ranks && of->neighbours_first; r++)
    if (!bench_flags_near(of, r))
      bench_flags_await(of, r, round, BENCH_FLAGS_SPINS);
}

/* Rank 0's look at the clock; returns whether it was the last one. */
static inline bool bench_flags_look(bench_flags *of, int64_t *last_ns, int64_t end_ns) {
  int64_t now_ns = tt_clock_ns();
  of->look_ns[of->looks++] = (double)(now_ns - *last_ns) / BENCH_FLAGS_ROUNDS;
  *last_ns = now_ns;
  return now_ns > end_ns || of->looks == BENCH_FLAGS_LOOKS;
}

/* Rounds until rank 0 has said which one is the last. */
static inline uint64_t bench_flags_play(bench_flags *of, int64_t for_ns) {
  int64_t last_ns = tt_clock_ns(), end_ns = last_ns + for_ns;
  for (uint64_t round = 1;; round++) {
    if (of->rank == 0 && round % BENCH_FLAGS_ROUNDS == 0 && bench_flags_look(of, &last_ns, end_ns))
      atomic_store_explicit(&of->line[of->ranks].count, round, memory_order_relaxed); /* before it comes to it */
    bench_flags_meet(of, round);
    if (atomic_load_explicit(&of->line[of->ranks].count, memory_order_relaxed) == round)
      return round;
  }
}

static inline void bench_flags_become(bench_flags *of, int rank) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  of->rank = rank;
  bench_bind(of->core[rank % of->cores]);
  bench_flags_play(of, 0);
  _exit(0);
}

typedef struct bench_flags_result {
  double round_ns; /* median; 0: could not be measured */
  double yields;   /* of rank 0, a round */
} bench_flags_result;

/* Starts ranks 1, 2, ... and is rank 0 itself. Should it fail, the others die with this process. */
static inline bench_flags_result bench_flags_lead(bench_flags *of, int64_t for_ns) {
  for (int r = 1; r < of->ranks; r++) {
    pid_t child = fork();
    if (child == 0)
      bench_flags_become(of, r);
    if (child < 0)
      return (bench_flags_result){0};
  }
  bench_bind(of->core[0]);
  double rounds = (double)bench_flags_play(of, for_ns);
  while (wait(NULL) > 0)
    continue;
  qsort(of->look_ns, (size_t)of->looks, sizeof of->look_ns[0], bench_by_value);
  return (bench_flags_result){of->look_ns[of->looks / 2], (double)of->yields / rounds};
}

/* Ranks on core[0], core[1], ..., around; in processes of their own, so that the caller stays where it is. */
static inline bench_flags_result bench_flags_measure(const int *core, int cores, int ranks, bool neighbours_first,
                                                     double seconds) {
  bench_flags_result result = {0};
  size_t bytes = (size_t)(ranks + 2) * sizeof(bench_flags_line); /* the last one is for the result */
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return result;
  bench_flags of = {.core = core, .cores = cores, .ranks = ranks, .neighbours_first = neighbours_first, .line = memory};
  void *told = &of.line[ranks + 1];
  pid_t leader = fork();
  if (leader == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    result = bench_flags_lead(&of, (int64_t)(seconds * 1e9));
    memcpy(told, &result, sizeof result);
    _exit(0);
  }
  if (leader > 0 && waitpid(leader, NULL, 0) == leader)
    memcpy(&result, told, sizeof result);
  munmap(memory, bytes);
  return result;
}

#endif
