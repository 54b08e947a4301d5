/* tests/mpi/traps/blocked.c - rank 0 is inside a blocking call of MPI that has nothing to do with tutti, and the others
 * need its part of an outstanding collective before they let it go on. */
#include "traps.h"

#include <stdlib.h>

enum { TAG = 7, BIG = 1 << 20 };

typedef void step(void);

/* rank 0: start, blocked, finish. The others: start, finish, release. */
static void blocked_in(step *blocked, step *release) {
  trap_pending pending = trap_start(MPI_COMM_WORLD);
  if (trap_rank == 0)
    blocked();
  trap_finish(&pending);
  if (trap_rank > 0)
    release();
}

static bool is_last(void) { return trap_rank == trap_size - 1; }

/* ---- what the last rank does to let rank 0 go on ---- */

static void send_word(void) {
  if (is_last())
    MPI_Send(&(int){42}, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
}

static void receive_big(void) {
  char *big = malloc(BIG);
  if (is_last())
    MPI_Recv(big, BIG, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  free(big);
}

static void exchange(void) {
  int got = 0;
  if (is_last())
    MPI_Sendrecv(&(int){42}, 1, MPI_INT, 0, TAG, &got, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- what rank 0 does ---- */

static void get_word(void) {
  int got = 0;
  MPI_Status status;
  MPI_Recv(&got, 1, MPI_INT, trap_size - 1, TAG, MPI_COMM_WORLD, &status);
  CHECK(got == 42 && status.MPI_SOURCE == trap_size - 1, "received %d from %d", got, status.MPI_SOURCE);
}
static void recv_any(void) {
  int got = 0, count = 0;
  MPI_Status status;
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(got == 42 && status.MPI_TAG == TAG && count == 1, "received %d, tag %d", got, status.MPI_TAG);
}
static void probe(void) {
  MPI_Status status;
  MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
  CHECK(status.MPI_SOURCE == trap_size - 1, "probed %d", status.MPI_SOURCE);
  get_word();
}
static void mprobe(void) {
  MPI_Message message;
  int got = 0;
  MPI_Mprobe(trap_size - 1, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  CHECK(got == 42, "received %d", got);
}
static void send_big(void) {
  char *big = calloc(BIG, 1);
  MPI_Send(big, BIG, MPI_CHAR, trap_size - 1, TAG, MPI_COMM_WORLD);
  free(big);
}
static void ssend_big(void) {
  char *big = calloc(BIG, 1);
  MPI_Ssend(big, BIG, MPI_CHAR, trap_size - 1, TAG, MPI_COMM_WORLD);
  free(big);
}
static void sendrecv(void) {
  int got = 0;
  MPI_Sendrecv(&(int){42}, 1, MPI_INT, trap_size - 1, TAG, &got, 1, MPI_INT, trap_size - 1, TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK(got == 42, "received %d", got);
}
static void sendrecv_replace(void) {
  int word = 42;
  MPI_Sendrecv_replace(&word, 1, MPI_INT, trap_size - 1, TAG, trap_size - 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(word == 42, "received %d", word);
}

typedef int wait_function(MPI_Request *request);
static void wait_for_word(wait_function *wait) {
  int got = 0;
  MPI_Request request;
  MPI_Irecv(&got, 1, MPI_INT, trap_size - 1, TAG, MPI_COMM_WORLD, &request);
  wait(&request);
  CHECK(got == 42 && request == MPI_REQUEST_NULL, "received %d", got);
}
static int by_wait(MPI_Request *request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }
static int by_waitall(MPI_Request *request) { return MPI_Waitall(1, request, MPI_STATUSES_IGNORE); }
static int by_waitany(MPI_Request *request) { return MPI_Waitany(1, request, &(int){0}, MPI_STATUS_IGNORE); }
static int by_waitsome(MPI_Request *request) {
  return MPI_Waitsome(1, request, &(int){0}, &(int){0}, MPI_STATUSES_IGNORE);
}
static int by_testing(MPI_Request *request) {
  for (int done = false; !done;)
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
  return MPI_SUCCESS;
}
static void wait_one(void) { wait_for_word(by_wait); }
static void wait_all(void) { wait_for_word(by_waitall); }
static void wait_any(void) { wait_for_word(by_waitany); }
static void wait_some(void) { wait_for_word(by_waitsome); }
static void test_loop(void) { wait_for_word(by_testing); }

static void probe_loop(void) {
  for (int there = false; !there;)
    MPI_Iprobe(trap_size - 1, TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  get_word();
}

/* ---- collective calls that tutti does not serve, and another one of its own ---- */

static MPI_Comm made;
static MPI_Win window;
static int shared[64];

static void dup(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  trap_allreduce(made);
  MPI_Comm_free(&made);
}
static void split(void) {
  MPI_Comm_split(MPI_COMM_WORLD, trap_rank % 2, 0, &made);
  trap_allreduce(made);
  MPI_Comm_free(&made);
}
static void window_create(void) {
  MPI_Win_create(shared, sizeof shared, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_free(&window);
}
static void world(void) { trap_allreduce(MPI_COMM_WORLD); }

static void fence(void) { MPI_Win_fence(0, window); }
static void fence_with_put(void) {
  MPI_Put(&trap_rank, 1, MPI_INT, 0, trap_rank, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
}

/* ---- the traps ---- */

#define BLOCKED(name, blocked, release)                                                                                \
  static void trap_##name(void) { blocked_in(blocked, release); }
#define ROWS(ROW)                                                                                                      \
  ROW(recv, get_word, send_word)                                                                                       \
  ROW(recv_from_any, recv_any, send_word)                                                                              \
  ROW(probe, probe, send_word)                                                                                         \
  ROW(mprobe, mprobe, send_word)                                                                                       \
  ROW(send, send_big, receive_big)                                                                                     \
  ROW(ssend, ssend_big, receive_big)                                                                                   \
  ROW(sendrecv, sendrecv, exchange)                                                                                    \
  ROW(sendrecv_replace, sendrecv_replace, exchange)                                                                    \
  ROW(wait, wait_one, send_word)                                                                                       \
  ROW(waitall, wait_all, send_word)                                                                                    \
  ROW(waitany, wait_any, send_word)                                                                                    \
  ROW(waitsome, wait_some, send_word)                                                                                  \
  ROW(test_loop, test_loop, send_word)                                                                                 \
  ROW(iprobe_loop, probe_loop, send_word)                                                                              \
  ROW(comm_dup, dup, dup)                                                                                              \
  ROW(comm_split, split, split)                                                                                        \
  ROW(win_create, window_create, window_create)                                                                        \
  ROW(another_allreduce, world, world)
ROWS(BLOCKED)

static void trap_fence(void) {
  MPI_Win_create(shared, sizeof shared, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  blocked_in(fence, fence_with_put);
  for (int rank = 1; rank < trap_size && trap_rank == 0; rank++)
    CHECK(shared[rank] == rank, "rank %d put %d", rank, shared[rank]);
  MPI_Win_free(&window);
}

#define LISTED(name, blocked, release) {"outstanding_collective_moves_on_in_" #name, 3, TRAP_ENDS, trap_##name},
const trap trap_blocked[] = {ROWS(LISTED){"outstanding_collective_moves_on_in_win_fence", 3, TRAP_ENDS, trap_fence},
                             {0}};
