/* bench/mpi/yield.h - lets MPICH over UCX yield where ranks share cores.
 *
 * Debian's MPICH 4.0.2 (ch4:ucx) never yields: the library has no call of sched_yield, and MPIR_CVAR_POLLS_BEFORE_YIELD
 * does nothing in it, so four ranks on two cores need a time slice for every message. Its waiting loop calls
 * ucp_worker_progress; defined here, in the program, that one is found first, and yields after UCX's own has found
 * nothing to do. With BENCH_YIELD unset, or what else the program has for YIELD_VARIABLE, nothing changes. */
#ifndef BENCH_MPI_YIELD_H
#define BENCH_MPI_YIELD_H

#ifndef YIELD_VARIABLE
#define YIELD_VARIABLE "BENCH_YIELD"
#endif

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned (*progress_function)(void *worker);

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker) {
  static progress_function progress;
  static int yields;
  if (!progress) {
    void *symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
    memcpy(&progress, &symbol, sizeof progress);
    yields = getenv(YIELD_VARIABLE) != NULL;
  }
  unsigned events = progress(worker);
  if (events == 0 && yields)
    sched_yield();
  return events;
}

#endif
