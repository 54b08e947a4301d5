/* bench/pace.h - how many calls make a batch, and how many batches a set: the same in every way to measure.
 *
 * Of a batch the slowest rank counts. Where calls are apart, another rank is the slowest in each: that of a root's own
 * call, while the others only send. So a batch of them is one call; the longest sum of any rank would be too short. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include "protocol.h"

#define BENCH_BATCH_NS 100000        /* a batch is at least so long where every rank has a core */
#define BENCH_BATCH_SHARED_NS 400000 /* where ranks share cores: they leave a barrier further apart */
#define BENCH_BATCH_APART_NS 2000000 /* between machines: still further */

/* For the next batch, after one of so many that took so long; 0 calls: the first. */
static inline int64_t bench_more_calls(int64_t calls, int64_t batch_ns, int64_t target_ns) {
  int64_t factor = batch_ns > 0 ? 1 + target_ns * 5 / 4 / batch_ns : 1;
  return calls == 0 ? 1 : calls * (factor < 2 ? 2 : factor > 64 ? 64 : factor);
}

/* Of an answer's batches; at least 1 ns. */
static inline int64_t bench_shortest(const bench_answer *answer) {
  int64_t least_ns = answer->slowest_ns[0];
  for (int b = 1; b < answer->batch_count; b++)
    least_ns = answer->slowest_ns[b] < least_ns ? answer->slowest_ns[b] : least_ns;
  return least_ns > 0 ? least_ns : 1;
}

/* As many as fill that time, 1 .. most. */
static inline int32_t bench_set_batches(int64_t set_ns, int64_t batch_ns, int32_t most) {
  int64_t batches = set_ns / batch_ns;
  return batches < 1 ? 1 : batches > most ? most : (int32_t)batches;
}

#endif
