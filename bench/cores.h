/* bench/cores.h - the cores that this process may use, and how to stay on one of them. */
#ifndef BENCH_CORES_H
#define BENCH_CORES_H

#include <sched.h>
#include <stdio.h>

/* Their numbers, ascending, at most `room`; returns how many. */
static inline int bench_cores(int *core, int room) {
  cpu_set_t usable;
  int count = 0;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0)
    return perror("sched_getaffinity"), 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && count < room; cpu++)
    if (CPU_ISSET((size_t)cpu, &usable))
      core[count++] = cpu;
  return count;
}

static inline void bench_bind(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET((size_t)core, &only);
  if (sched_setaffinity(0, sizeof only, &only) != 0)
    perror("sched_setaffinity");
}

#endif
