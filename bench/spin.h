/* bench/spin.h - work of the processor alone, of a length that is known beforehand: what calls overlap with, and what
 * makes them longer.
 *
 * Small calls take less than reading the clock a few times, so a spin does not look at it: it takes as many steps as
 * its time needs, each of which waits for the one before it. What a step takes is measured once a point. */
#ifndef BENCH_SPIN_H
#define BENCH_SPIN_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

static inline int64_t bench_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline void bench_compute(int64_t steps) {
  static volatile double sink = 1;
  double x = sink;
  for (int64_t n = 0; n < steps; n++)
    x = x * 0.999 + 0.001;
  sink = x;
}

/* What comes behind begins when all before it has ended: processors run ahead, and would hide a short spin. */
static inline void bench_settle(void) {
#if defined __x86_64__
  __builtin_ia32_lfence();
#elif defined __aarch64__
  __asm__ volatile("isb" ::: "memory");
#else
  atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline void bench_spin(int64_t steps) {
  bench_settle();
  bench_compute(steps);
  bench_settle();
}

typedef struct bench_spin_cost {
  double empty_ns, step_ns; /* of a spin without steps; of each step */
} bench_spin_cost;

/* Of a spin of so many steps: the shortest of a few trials, since others may take the core for a while. */
static inline double bench_spin_ns(int64_t steps) {
  const int trials = 9, spins = 64;
  int64_t least_ns = INT64_MAX;
  for (int trial = 0; trial < trials; trial++) {
    int64_t start_ns = bench_clock_ns();
    for (int n = 0; n < spins; n++)
      bench_spin(steps);
    int64_t elapsed_ns = bench_clock_ns() - start_ns;
    least_ns = elapsed_ns < least_ns ? elapsed_ns : least_ns;
  }
  return (double)least_ns / spins;
}

static inline bench_spin_cost bench_spin_measure(void) {
  const int64_t steps = 64;
  double empty_ns = bench_spin_ns(0);
  return (bench_spin_cost){empty_ns, (bench_spin_ns(steps) - empty_ns) / (double)steps};
}

/* The nearest number; none where even an empty spin takes longer. */
static inline int64_t bench_spin_steps(const bench_spin_cost *cost, double ns) {
  return ns > cost->empty_ns && cost->step_ns > 0 ? (int64_t)((ns - cost->empty_ns) / cost->step_ns + 0.5) : 0;
}

/* What makes calls longer, by as much as was asked for: part of a spin passes while others work or their data is on its
 * way, so each batch tells how much longer it has become, and the next spins are longer or shorter for it. */
typedef struct bench_spinner {
  bench_spin_cost cost;
  int64_t steps;   /* behind each call of the batch that runs; 0: nothing */
  double gain;     /* a spin is as many times the time that was asked for */
  int64_t batches; /* so far */
} bench_spinner;

#define BENCH_GAIN_MOST 8
#define BENCH_GAIN_BATCHES 8 /* over which it is averaged, at most */

static inline bench_spinner bench_spinner_make(void) {
  return (bench_spinner){.cost = bench_spin_measure(), .gain = 1};
}

static inline void bench_spinner_set(bench_spinner *spin, double ns) {
  spin->steps = bench_spin_steps(&spin->cost, ns * spin->gain);
}

/* seen: by how much the batch has become longer, where 1 is what was asked for. A batch that was held up, or the plain
 * one before it, says little: so 0 and 2 are the least and the most that count. */
static inline void bench_spinner_learn(bench_spinner *spin, double seen) {
  double lacks = 1 - (seen < 0 ? 0 : seen > 2 ? 2 : seen);
  int64_t over = ++spin->batches < BENCH_GAIN_BATCHES ? spin->batches + 1 : BENCH_GAIN_BATCHES;
  double gain = spin->gain * (1 + lacks / (double)over);
  spin->gain = gain < 1.0 / BENCH_GAIN_MOST ? 1.0 / BENCH_GAIN_MOST : gain > BENCH_GAIN_MOST ? BENCH_GAIN_MOST : gain;
}

#endif
