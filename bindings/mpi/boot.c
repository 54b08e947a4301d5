/* bindings/mpi/boot.c - a job of tutti from MPI's: its ranks, their machines, and an allgather. */
#include "boot.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static bool complete_within(MPI_Request *request, int64_t timeout_ns) {
  int done = 0;
  for (int64_t until_ns = now_ns() + timeout_ns; !done && now_ns() < until_ns; sched_yield())
    PMPI_Test(request, &done, MPI_STATUS_IGNORE);
  return done != 0;
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
  if (!complete_within(&request, timeout_ns)) {
    if (missing)
      snprintf(missing, missing_size, "others in MPI_Init, of whom MPI does not say which");
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

int64_t tt_mpi_boot_node(bool *several) {
  int size, here, first = 0, node;
  MPI_Comm machine;
  MPI_Group group;
  PMPI_Comm_size(tt_mpi.world, &size);
  PMPI_Comm_split_type(tt_mpi.world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  PMPI_Comm_size(machine, &here);
  PMPI_Comm_group(machine, &group);
  PMPI_Group_translate_ranks(group, 1, &first, tt_mpi.world_group, &node);
  PMPI_Group_free(&group);
  PMPI_Comm_free(&machine);
  *several = here < size;
  return node;
}
