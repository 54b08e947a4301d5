/* tests/mpi/traps/progress.c - a blocking collective of tutti must let MPI's messages move, and a non-blocking one must
 * not wait for anybody. */
#include "traps.h"

#include <stdlib.h>

enum { TAG = 3, BIG = 4 << 20 };

/* The first non-blocking call on a communicator may not wait for ranks that have not come yet. */
static void send_follows_first_nonblocking_call(void) {
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  char *big = calloc(BIG, 1);
  trap_pending pending;
  if (trap_rank == 0) {
    pending = trap_start(twin);
    for (int to = 1; to < trap_size; to++)
      MPI_Send(big, BIG, MPI_CHAR, to, TAG, MPI_COMM_WORLD);
  } else {
    MPI_Recv(big, BIG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pending = trap_start(twin);
  }
  trap_finish(&pending);
  free(big);
  MPI_Comm_free(&twin);
}

/* Rank 1 gets its message before it comes to the barrier, in which rank 0 waits for it. */
static void isend_moves_on_in_barrier(void) {
  char *big = calloc(BIG, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  big[BIG - 1] = (char)(trap_rank == 0);
  if (trap_rank == 0)
    MPI_Isend(big, BIG, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &request);
  else if (trap_rank == 1)
    MPI_Recv(big, BIG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(trap_rank > 1 || big[BIG - 1] == 1, "the message did not come");
  free(big);
}

/* The same, and what waits is a non-blocking call. */
static void isend_moves_on_in_wait_for_a_collective(void) {
  char *big = calloc(BIG, 1);
  MPI_Request send = MPI_REQUEST_NULL;
  if (trap_rank == 0)
    MPI_Isend(big, BIG, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &send);
  else if (trap_rank == 1)
    MPI_Recv(big, BIG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  trap_pending pending = trap_start(MPI_COMM_WORLD);
  trap_finish(&pending);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  free(big);
}

/* Rank 0 waits in a barrier while rank 1 works on its memory. */
static void passive_target_is_served_in_barrier(void) {
  static _Alignas(64) long memory; /* MPICH 4.0.2 puts windows at multiples of 16 bytes */
  long seen = -1;
  MPI_Win window;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (trap_rank > 0) {
    for (int n = 0; n < 100; n++) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Accumulate(&(long){1}, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, window);
      MPI_Win_unlock(0, window);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  MPI_Get(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
  MPI_Win_unlock(0, window);
  CHECK(seen == 100L * (trap_size - 1), "accumulated %ld", seen);
  MPI_Win_free(&window);
}

/* Even ranks start first what odd ranks start last. */
static void communicators_have_no_common_order(void) {
  MPI_Comm twin[2];
  trap_pending pending[2];
  for (int k = 0; k < 2; k++)
    MPI_Comm_dup(MPI_COMM_WORLD, &twin[k]);
  for (int times = 0; times < 10; times++) {
    int first = (trap_rank + times) % 2;
    pending[first] = trap_start(twin[first]);
    pending[1 - first] = trap_start(twin[1 - first]);
    trap_finish(&pending[trap_rank / 2 % 2]);
    trap_finish(&pending[1 - trap_rank / 2 % 2]);
  }
  for (int k = 0; k < 2; k++)
    MPI_Comm_free(&twin[k]);
}

/* A blocking collective on one communicator while another rank first finishes a non-blocking one on another. */
static void blocking_call_moves_on_outstanding_ones(void) {
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  trap_pending pending = trap_start(twin);
  if (trap_rank > 0)
    trap_finish(&pending);
  trap_allreduce(MPI_COMM_WORLD);
  if (trap_rank == 0)
    trap_finish(&pending);
  MPI_Comm_free(&twin);
}

const trap trap_progress[] = {
    {"send_follows_first_nonblocking_call", 3, TRAP_ENDS, send_follows_first_nonblocking_call},
    {"isend_moves_on_in_barrier", 2, TRAP_ENDS, isend_moves_on_in_barrier},
    {"isend_moves_on_in_wait_for_a_collective", 3, TRAP_ENDS, isend_moves_on_in_wait_for_a_collective},
    {"passive_target_is_served_in_barrier", 3, TRAP_ENDS, passive_target_is_served_in_barrier},
    {"communicators_have_no_common_order", 4, TRAP_ENDS, communicators_have_no_common_order},
    {"blocking_call_moves_on_outstanding_ones", 3, TRAP_ENDS, blocking_call_moves_on_outstanding_ones},
    {0},
};
