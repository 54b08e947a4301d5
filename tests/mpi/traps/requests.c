/* tests/mpi/traps/requests.c - requests of both kinds in the same lists, in every function that takes them. */
#include "../persistent.h"
#include "traps.h"

enum { TAG = 9, KINDS = 5 };

/* From the left neighbor, to the right one, and three collectives. */
typedef struct mixed_requests {
  MPI_Request request[KINDS];
  int from_left, sum, all[64];
} mixed_requests;

static void start_mixed(mixed_requests *of) {
  int left = (trap_rank + trap_size - 1) % trap_size, right = (trap_rank + 1) % trap_size;
  of->from_left = of->sum = -1;
  MPI_Iallreduce(&trap_rank, &of->sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &of->request[0]);
  MPI_Irecv(&of->from_left, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &of->request[1]);
  MPI_Iallgather(&trap_rank, 1, MPI_INT, of->all, 1, MPI_INT, MPI_COMM_WORLD, &of->request[2]);
  MPI_Isend(&trap_rank, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &of->request[3]);
  MPI_Ibarrier(MPI_COMM_WORLD, &of->request[4]);
}

static void check_mixed(const mixed_requests *of) {
  CHECK(of->from_left == (trap_rank + trap_size - 1) % trap_size, "from the left: %d", of->from_left);
  CHECK(of->sum == trap_size * (trap_size - 1) / 2, "the sum is %d", of->sum);
  for (int k = 0; k < trap_size; k++)
    CHECK(of->all[k] == k, "gathered %d from %d", of->all[k], k);
  for (int k = 0; k < KINDS; k++)
    CHECK(of->request[k] == MPI_REQUEST_NULL, "request %d is not null", k);
}

static void waitany_over_both_kinds(void) {
  mixed_requests of;
  for (int times = 0; times < 50; times++) {
    int index, seen = 0;
    start_mixed(&of);
    for (int k = 0; k < KINDS; k++) {
      MPI_Waitany(KINDS, of.request, &index, MPI_STATUS_IGNORE);
      CHECK(index >= 0 && index < KINDS, "index %d", index);
      seen |= 1 << index;
    }
    MPI_Waitany(KINDS, of.request, &index, MPI_STATUS_IGNORE);
    CHECK(seen == (1 << KINDS) - 1 && index == MPI_UNDEFINED, "seen %#x, then %d", (unsigned)seen, index);
    check_mixed(&of);
  }
}

static void testsome_over_both_kinds(void) {
  mixed_requests of;
  for (int times = 0; times < 50; times++) {
    int count, done = 0, indices[KINDS];
    MPI_Status statuses[KINDS];
    start_mixed(&of);
    while (done < KINDS) {
      MPI_Testsome(KINDS, of.request, &count, indices, statuses);
      CHECK(count != MPI_UNDEFINED, "%d of %d are done and none is left", done, KINDS);
      for (int k = 0; k < count; k++)
        CHECK(indices[k] != 1 || statuses[k].MPI_TAG == TAG, "tag %d", statuses[k].MPI_TAG);
      done += count;
    }
    check_mixed(&of);
  }
}

static void testany_and_testall_over_both_kinds(void) {
  mixed_requests of;
  for (int times = 0; times < 50; times++) {
    int flag = 0, index = 0;
    start_mixed(&of);
    while (!flag && times % 2)
      MPI_Testall(KINDS, of.request, &flag, MPI_STATUSES_IGNORE);
    while (!(flag && index == MPI_UNDEFINED) && times % 2 == 0)
      MPI_Testany(KINDS, of.request, &index, &flag, MPI_STATUS_IGNORE);
    check_mixed(&of);
  }
}

/* It does not free the request, and tells the truth as often as it is asked. */
static void get_status_moves_on(void) {
  mixed_requests of;
  start_mixed(&of);
  for (int k = 0; k < KINDS; k++)
    for (int done = 0; !done;)
      MPI_Request_get_status(of.request[k], &done, MPI_STATUS_IGNORE);
  for (int k = 0; k < KINDS; k++) {
    int done = 0;
    MPI_Request_get_status(of.request[k], &done, MPI_STATUS_IGNORE);
    CHECK(done, "request %d was complete before", k);
  }
  MPI_Waitall(KINDS, of.request, MPI_STATUSES_IGNORE);
  check_mixed(&of);
}

/* Persistent ones of both kinds are started together; one that is inactive is complete at once. */
static void startall_over_both_kinds(void) {
  int left = (trap_rank + trap_size - 1) % trap_size, right = (trap_rank + 1) % trap_size;
  int word = -1, from_left = -1, sum = -1, index;
  MPI_Request request[4];
  MPI_Send_init(&word, 1, MPI_INT, right, TAG, MPI_COMM_WORLD, &request[0]);
  MPI_Allreduce_init(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
  MPI_Recv_init(&from_left, 1, MPI_INT, left, TAG, MPI_COMM_WORLD, &request[2]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request[3]);
  MPI_Wait(&request[1], MPI_STATUS_IGNORE);
  MPI_Waitany(4, request, &index, MPI_STATUS_IGNORE);
  CHECK(index == MPI_UNDEFINED, "inactive requests: index %d", index);
  for (int times = 0; times < 20; times++) {
    word = trap_rank + times;
    MPI_Startall(4, request);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    CHECK(from_left == left + times, "from the left: %d", from_left);
    CHECK(sum == trap_size * (trap_size - 1) / 2 + trap_size * times, "the sum is %d", sum);
    CHECK(request[1] != MPI_REQUEST_NULL, "a persistent request is gone");
  }
  for (int k = 0; k < 4; k++)
    MPI_Request_free(&request[k]);
}

/* Made, never started, freed; started and completed on some ranks later than on others. */
static void persistent_requests_are_freed(void) {
  int sum = 0;
  for (int times = 0; times < 100; times++) {
    MPI_Request request[2];
    for (int k = 0; k < 2; k++)
      MPI_Allreduce_init(&trap_rank, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL, &request[k]);
    MPI_Start(&request[1]);
    MPI_Request_free(&request[0]);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    CHECK(sum == trap_size - 1, "the maximum is %d", sum);
    MPI_Request_free(&request[1]);
    CHECK(request[1] == MPI_REQUEST_NULL, "the handle is not null");
  }
}

/* The status of a collective says nothing, and does not look like an error. */
static void statuses_are_empty(void) {
  MPI_Status status;
  MPI_Request request;
  int count = -1, cancelled = -1, sum;
  status.MPI_ERROR = 77;
  MPI_Iallreduce(&trap_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  int code = MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK(code == MPI_SUCCESS && cancelled == 0 && count == 0, "code %d, cancelled %d, count %d", code, cancelled, count);
}

static bool is_of_nobody(const MPI_Status *status) {
  int count = -1;
  MPI_Get_count(status, MPI_INT, &count);
  return status->MPI_SOURCE == MPI_PROC_NULL && status->MPI_TAG == MPI_ANY_TAG && count == 0;
}

/* MPICH's MPI_Irecv tells something else. */
static void nobody_is_the_source_beside_a_collective(void) {
  MPI_Status status = {.MPI_SOURCE = 7};
  MPI_Request request;
  int word = 0, sent = 0;
  if (trap_rank > 0)
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
  CHECK(is_of_nobody(&status), "MPI_Recv: source %d, tag %d", status.MPI_SOURCE, status.MPI_TAG);
  status.MPI_SOURCE = 7;
  MPI_Sendrecv(&sent, 1, MPI_INT, MPI_PROC_NULL, 4, &word, 1, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD, &status);
  CHECK(is_of_nobody(&status), "MPI_Sendrecv: source %d, tag %d", status.MPI_SOURCE, status.MPI_TAG);
  if (trap_rank == 0)
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

enum { OUTSTANDING = 500 };

static void five_hundred_are_outstanding(void) {
  static MPI_Request requests[OUTSTANDING];
  static int sums[OUTSTANDING];
  for (int k = 0; k < OUTSTANDING; k++)
    MPI_Iallreduce(&trap_rank, &sums[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[k]);
  MPI_Waitall(OUTSTANDING, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < OUTSTANDING; k++)
    CHECK(sums[k] == trap_size * (trap_size - 1) / 2, "sum %d is %d", k, sums[k]);
}

const trap trap_requests[] = {
    {"waitany_over_both_kinds", 4, TRAP_ENDS, waitany_over_both_kinds},
    {"testsome_over_both_kinds", 3, TRAP_ENDS, testsome_over_both_kinds},
    {"testany_and_testall_over_both_kinds", 3, TRAP_ENDS, testany_and_testall_over_both_kinds},
    {"get_status_moves_on", 3, TRAP_ENDS, get_status_moves_on},
    {"startall_over_both_kinds", 3, TRAP_ENDS, startall_over_both_kinds},
    {"persistent_requests_are_freed", 2, TRAP_ENDS, persistent_requests_are_freed},
    {"statuses_are_empty", 2, TRAP_ENDS, statuses_are_empty},
    {"nobody_is_the_source_beside_a_collective", 2, TRAP_ENDS, nobody_is_the_source_beside_a_collective},
    {"five_hundred_are_outstanding", 3, TRAP_ENDS, five_hundred_are_outstanding},
    {0},
};
