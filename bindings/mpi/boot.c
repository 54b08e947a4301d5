/* bindings/mpi/boot.c - a job of tutti from MPI's: its ranks, and an allgather. */
#include "boot.h"

#include "state.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define YIELDS 50
#define NAP_NS 50000

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Between looks. */
static void stand_back(int64_t looks) {
  if (looks > YIELDS)
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
  else
    sched_yield();
}

bool tt_mpi_boot_wait_within(MPI_Request *request, int64_t timeout_ns) {
  int done = 0;
  int64_t until_ns = now_ns() + timeout_ns;
  PMPI_Test(request, &done, MPI_STATUS_IGNORE);
  for (int64_t looks = 1; !done && now_ns() < until_ns; looks++) {
    stand_back(looks);
    PMPI_Test(request, &done, MPI_STATUS_IGNORE);
  }
  return done != 0;
}

void tt_mpi_boot_wait(MPI_Request *request) {
  while (!tt_mpi_boot_wait_within(request, INT64_C(1000000000)))
    ;
}

/* On buffers of its own, which are MPI's for good when it gives up: an allgather cannot be taken back. */
static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  const tutti_boot *boot = user;
  size_t total = bytes * (size_t)boot->rank_count;
  char *copy = bytes <= INT_MAX ? malloc(bytes + total + 1) : NULL;
  MPI_Request request;
  if (!copy)
    return TUTTI_ERR_MEMORY;
  memcpy(copy, mine, bytes);
  PMPI_Iallgather(copy, (int)bytes, MPI_BYTE, copy + bytes, (int)bytes, MPI_BYTE, tt_mpi.world, &request);
  if (!tt_mpi_boot_wait_within(&request, timeout_ns)) {
    if (missing)
      snprintf(missing, missing_size, "unknown, in MPI_Init (MPI does not say which)");
    return TUTTI_ERR_TIMEOUT;
  }
  memcpy(all, copy + bytes, total);
  free(copy);
  return TUTTI_OK;
}

tutti_boot tt_mpi_boot(void) {
  int rank, size;
  PMPI_Comm_rank(tt_mpi.world, &rank);
  PMPI_Comm_size(tt_mpi.world, &size);
  return (tutti_boot){.size = sizeof(tutti_boot), .rank = rank, .rank_count = size, .allgather = allgather};
}
