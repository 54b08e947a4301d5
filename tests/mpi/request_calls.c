/* tests/mpi/request_calls.c - requests of collective calls and of messages in the same MPI calls, and blocking calls of
 * all kinds while collective ones are outstanding.
 *
 *     request_calls NAME...   the named cases; none: all */
#include "request_sum.h"

#include <string.h>

#define LONG 100000 /* doubles: many steps, so that somebody has to move them on */
#define ROUNDS 6

static int to, from; /* ranks on both sides */

static void post_ring(int count, char *out, char *in, int tag, MPI_Request *request) {
  MPI_Irecv(in, count, MPI_CHAR, from, tag, MPI_COMM_WORLD, &request[0]);
  MPI_Isend(out, count, MPI_CHAR, to, tag, MPI_COMM_WORLD, &request[1]);
}

/* ---- both kinds in one call ---- */

enum { SUMS = 5 };

typedef struct mixture {
  sum sums[SUMS];
  char out[SUMS], in[SUMS];
  MPI_Request request[3 * SUMS]; /* sum, receive, send; and so on */
} mixture;

static void mix(mixture *all, int salt) {
  for (int n = 0; n < SUMS; n++) {
    all->sums[n] = sum_create(n % 2 ? 1 : LONG / 10, MPI_COMM_WORLD);
    all->out[n] = (char)(rank + n);
    sum_start(&all->sums[n], salt + n);
    all->request[3 * n] = all->sums[n].request;
    post_ring(1, &all->out[n], &all->in[n], n, &all->request[3 * n + 1]);
  }
}

static void unmix(mixture *all, int salt) {
  for (int n = 0; n < SUMS; n++) {
    sum_check(&all->sums[n], salt + n);
    sum_destroy(&all->sums[n]);
    CHECK(all->in[n] == (char)(from + n));
  }
  for (int n = 0; n < 3 * SUMS; n++)
    CHECK(all->request[n] == MPI_REQUEST_NULL);
}

static void wait_each(int salt) {
  mixture all;
  mix(&all, salt);
  for (int n = 0; n < 3 * SUMS; n++)
    MPI_Wait(&all.request[salt % 2 ? n : 3 * SUMS - 1 - n], MPI_STATUS_IGNORE);
  unmix(&all, salt);
}

static void wait_all(int salt) {
  mixture all;
  MPI_Status status[3 * SUMS];
  mix(&all, salt);
  MPI_Waitall(3 * SUMS, all.request, status);
  for (int n = 0; n < SUMS; n++)
    CHECK(status[3 * n + 1].MPI_SOURCE == from && status[3 * n + 1].MPI_TAG == n);
  unmix(&all, salt);
}

static void wait_any(int salt) {
  mixture all;
  int index, seen = 0;
  mix(&all, salt);
  for (int n = 0; n < 3 * SUMS; n++) {
    MPI_Waitany(3 * SUMS, all.request, &index, MPI_STATUS_IGNORE);
    CHECK(index >= 0 && index < 3 * SUMS && !(seen & 1 << index));
    seen |= 1 << index;
  }
  MPI_Waitany(3 * SUMS, all.request, &index, MPI_STATUS_IGNORE);
  CHECK(index == MPI_UNDEFINED);
  unmix(&all, salt);
}

static void wait_some(int salt) {
  mixture all;
  int done, index[3 * SUMS], seen = 0;
  MPI_Status status[3 * SUMS];
  mix(&all, salt);
  for (int left = 3 * SUMS; left > 0; left -= done) {
    MPI_Waitsome(3 * SUMS, all.request, &done, index, status);
    CHECK(done > 0 && done <= left);
    for (int n = 0; n < done; n++)
      seen |= 1 << index[n];
  }
  CHECK(seen == (1 << 3 * SUMS) - 1);
  MPI_Waitsome(3 * SUMS, all.request, &done, index, MPI_STATUSES_IGNORE);
  CHECK(done == MPI_UNDEFINED);
  unmix(&all, salt);
}

static void test_each(int salt) {
  mixture all;
  mix(&all, salt);
  for (int n = 0; n < 3 * SUMS; n++)
    for (int done = 0; !done;)
      MPI_Test(&all.request[n], &done, MPI_STATUS_IGNORE);
  unmix(&all, salt);
}

static void test_all(int salt) {
  mixture all;
  mix(&all, salt);
  for (int done = 0; !done;)
    MPI_Testall(3 * SUMS, all.request, &done, MPI_STATUSES_IGNORE);
  unmix(&all, salt);
}

static void test_any(int salt) {
  mixture all;
  int index, done;
  mix(&all, salt);
  for (int left = 3 * SUMS; left > 0; left -= done) {
    MPI_Testany(3 * SUMS, all.request, &index, &done, MPI_STATUS_IGNORE);
    CHECK(!done || (index >= 0 && index < 3 * SUMS));
  }
  MPI_Testany(3 * SUMS, all.request, &index, &done, MPI_STATUS_IGNORE);
  CHECK(done && index == MPI_UNDEFINED);
  unmix(&all, salt);
}

static void test_some(int salt) {
  mixture all;
  int done, index[3 * SUMS];
  mix(&all, salt);
  for (int left = 3 * SUMS; left > 0; left -= done)
    MPI_Testsome(3 * SUMS, all.request, &done, index, MPI_STATUSES_IGNORE);
  unmix(&all, salt);
}

static void get_status(int salt) {
  sum one = sum_create(LONG, MPI_COMM_WORLD);
  sum_start(&one, salt);
  for (int done = 0; !done;)
    MPI_Request_get_status(one.request, &done, MPI_STATUS_IGNORE);
  sum_check(&one, salt);
  CHECK(one.request != MPI_REQUEST_NULL);
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  sum_destroy(&one);
}

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
/* Which of several are complete: asked in three ways, and nothing else moves them on. Of MPICH 4.2 alone no such
 * question moves its messages on, so that this hangs without tutti, and so does the next. */
static void get_status_of_several(int salt) {
  mixture all;
  int done = 0, count = 0, index[3 * SUMS];
  mix(&all, salt);
  while (!done)
    MPI_Request_get_status_any(3 * SUMS, all.request, index, &done, MPI_STATUS_IGNORE);
  while (count < 3 * SUMS && salt % 2)
    MPI_Request_get_status_some(3 * SUMS, all.request, &count, index, MPI_STATUSES_IGNORE);
  for (done = 0; !done;)
    MPI_Request_get_status_all(3 * SUMS, all.request, &done, MPI_STATUSES_IGNORE);
  for (int n = 0; n < 3 * SUMS; n++)
    CHECK(all.request[n] != MPI_REQUEST_NULL);
  MPI_Waitall(3 * SUMS, all.request, MPI_STATUSES_IGNORE);
  unmix(&all, salt);
}
#endif

#if MPI_VERSION >= 4
/* Rank 0 sends when it has the sum, to which the others add while they ask whether anything has arrived. */
static void parts_arrive_after_sum(int salt) {
  int in = -1, out = rank + salt, arrived = 0;
  MPI_Request part[2];
  sum one = sum_create(LONG, MPI_COMM_WORLD);
  MPI_Precv_init(&in, 1, 1, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &part[0]);
  MPI_Psend_init(&out, 1, 1, MPI_INT, to, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &part[1]);
  MPI_Startall(2, part);
  sum_start(&one, salt);
  if (rank == 0)
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  MPI_Pready(0, part[1]);
  while (rank != 0 && !arrived)
    MPI_Parrived(part[0], 0, &arrived);
  MPI_Waitall(2, part, MPI_STATUSES_IGNORE);
  CHECK(in == from + salt);
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  sum_check(&one, salt);
  sum_destroy(&one);
  MPI_Request_free(&part[0]);
  MPI_Request_free(&part[1]);
}
#endif

static void cancel_beside(int salt) {
  sum one = sum_create(LONG, MPI_COMM_WORLD);
  char never;
  int cancelled;
  MPI_Request request[2];
  MPI_Status status[2];
  sum_start(&one, salt);
  request[0] = one.request;
  MPI_Irecv(&never, 1, MPI_CHAR, from, 99, MPI_COMM_WORLD, &request[1]);
  MPI_Cancel(&request[1]);
  MPI_Waitall(2, request, status);
  MPI_Test_cancelled(&status[1], &cancelled);
  CHECK(cancelled);
  sum_check(&one, salt);
  sum_destroy(&one);
}

/* ---- persistent ---- */

static void persistent(int salt) {
  sum one = sum_create(LONG / 10, MPI_COMM_WORLD);
  MPI_Request request[4];
  char out = 0, in = 0;
  MPI_Allreduce_init(one.in, one.out, one.count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
  MPI_Recv_init(&in, 1, MPI_CHAR, from, 5, MPI_COMM_WORLD, &request[2]);
  MPI_Send_init(&out, 1, MPI_CHAR, to, 5, MPI_COMM_WORLD, &request[3]);
  MPI_Waitall(4, request, MPI_STATUSES_IGNORE); /* none is active */
  for (int n = 0; n < 4; n++) {
    sum_fill(&one, salt + n);
    out = (char)(rank + n);
    if (n % 2) {
      MPI_Startall(4, request);
    } else {
      for (int k = 0; k < 4; k++)
        MPI_Start(&request[k]);
    }
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    sum_check(&one, salt + n);
    CHECK(in == (char)(from + n));
  }
  for (int n = 0; n < 4; n++) {
    CHECK(request[n] != MPI_REQUEST_NULL);
    MPI_Request_free(&request[n]);
    CHECK(request[n] == MPI_REQUEST_NULL);
  }
  sum_destroy(&one);
}

/* ---- blocking calls while something is outstanding: the last rank is done with its sum before it does its part ----
 */

typedef void (*blocking)(bool last, int salt);

static void around(blocking call, int salt) {
  sum one = sum_create(LONG, MPI_COMM_WORLD);
  bool last = rank == size - 1;
  sum_start(&one, salt);
  if (last)
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  call(last, salt);
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  sum_check(&one, salt);
  sum_destroy(&one);
}

/* The last rank to all others. */
static void tell(int value) {
  for (int r = 0; r < size - 1; r++)
    MPI_Send(&value, 1, MPI_INT, r, 7, MPI_COMM_WORLD);
}

static void receive(bool last, int salt) {
  int value = salt;
  if (last)
    tell(salt);
  else
    MPI_Recv(&value, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(value == salt);
}

static void probe(bool last, int salt) {
  MPI_Status status;
  int count;
  if (last) {
    tell(salt);
    return;
  }
  MPI_Probe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(status.MPI_SOURCE == size - 1 && count == 1);
  receive(last, salt);
}

static void probe_matched(bool last, int salt) {
  MPI_Message message;
  int value;
  if (last) {
    tell(salt);
    return;
  }
  MPI_Mprobe(size - 1, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  CHECK(value == salt);
}

static void ask(bool last, int salt) {
  if (last) {
    tell(salt);
    return;
  }
  for (int found = 0; !found;)
    MPI_Iprobe(size - 1, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  receive(last, salt);
}

static void send_synchronous(bool last, int salt) {
  int value;
  if (!last) {
    MPI_Ssend(&salt, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD);
    return;
  }
  for (int r = 0; r < size - 1; r++) {
    MPI_Recv(&value, 1, MPI_INT, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == salt);
  }
}

static void send_receive(bool last, int salt) {
  int value = -1;
  (void)last;
  MPI_Sendrecv(&rank, 1, MPI_INT, to, salt, &value, 1, MPI_INT, from, salt, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(value == from);
}

static void replace(bool last, int salt) {
  int value = rank;
  (void)last;
  MPI_Sendrecv_replace(&value, 1, MPI_INT, to, salt, from, salt, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(value == from);
}

static void fence(bool last, int salt) {
  int *value;
  MPI_Win window;
  (void)last;
  MPI_Win_allocate(sizeof *value, sizeof *value, MPI_INFO_NULL, MPI_COMM_WORLD, &value, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&salt, 1, MPI_INT, to, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  CHECK(*value == salt);
  MPI_Win_free(&window);
}

static void duplicate(bool last, int salt) {
  MPI_Comm made;
  (void)last;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  sum one = sum_create(salt % 7, made);
  sum_start(&one, salt);
  MPI_Comm_free(&made); /* while its call goes on */
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  one.comm = MPI_COMM_WORLD;
  sum_check(&one, salt);
  sum_destroy(&one);
}

static void collective(bool last, int salt) {
  int value = last ? salt : -1;
  MPI_Bcast(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  CHECK(value == salt);
  MPI_Barrier(MPI_COMM_WORLD);
}

#define AROUND(name)                                                                                                   \
  static void around_##name(int salt) { around(name, salt); }
AROUND(receive)
AROUND(probe)
AROUND(probe_matched)
AROUND(ask)
AROUND(send_synchronous)
AROUND(send_receive)
AROUND(replace)
AROUND(fence)
AROUND(duplicate)
AROUND(collective)

/* ---- MPI moves on while a collective call waits ---- */

static void message_beside_barrier(int salt) {
  int count = 4 << 20;
  char *buffer = calloc((size_t)count, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  buffer[count - 1] = (char)(rank == 0 ? salt : 0);
  if (rank == 0 && size > 1)
    MPI_Isend(buffer, count, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD, &request);
  else if (rank == size - 1 && size > 1)
    MPI_Recv(buffer, count, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK((rank != 0 && rank != size - 1) || buffer[count - 1] == (char)salt);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(buffer);
}

static void message_beside_wait(int salt) {
  int count = 4 << 20;
  char *buffer = calloc((size_t)count, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  sum one = sum_create(1, MPI_COMM_WORLD);
  if (rank == 0 && size > 1)
    MPI_Isend(buffer, count, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD, &request);
  else if (rank == size - 1 && size > 1)
    MPI_Recv(buffer, count, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sum_start(&one, salt);
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  sum_check(&one, salt);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sum_destroy(&one);
  free(buffer);
}

static void passive_target(int salt) {
  int *value, one = 1;
  MPI_Win window;
  MPI_Win_allocate(sizeof *value, sizeof *value, MPI_INFO_NULL, MPI_COMM_WORLD, &value, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  *value = salt;
  MPI_Win_unlock(rank, window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1)
    for (int n = 0; n < 10; n++) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window);
      MPI_Win_unlock(0, window);
    }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  CHECK(*value == (rank == 0 ? salt + 10 : salt));
  MPI_Win_unlock(rank, window);
  MPI_Win_free(&window);
}

/* ---- many ---- */

enum { MANY = 10000, COMMS = 16 };

static void many_of(int count, MPI_Comm *comms, int comm_count) {
  MPI_Request *request = malloc((size_t)count * sizeof *request);
  double *out = malloc((size_t)count * sizeof *out), one = 1;
  for (int n = 0; n < count; n++)
    MPI_Iallreduce(&one, &out[n], 1, MPI_DOUBLE, MPI_SUM, comms[n % comm_count], &request[n]);
  for (int n = 0; n < count / 2; n++) {
    MPI_Wait(&request[(n * 7919 + rank) % count], MPI_STATUS_IGNORE);
    CHECK(out[(n * 7919 + rank) % count] == size);
  }
  MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
  for (int n = 0; n < count; n++)
    CHECK(out[n] == size);
  free(request);
  free(out);
}

static void many(int salt) {
  MPI_Comm comms[COMMS];
  if (salt > 0)
    return;
  for (int n = 0; n < COMMS; n++)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[n]);
  many_of(MANY, comms, 1);
  many_of(MANY, comms, COMMS);
  for (int n = 0; n < COMMS; n++)
    MPI_Comm_free(&comms[n]);
}

/* ---- all ---- */

static const struct {
  const char *name;
  void (*run)(int salt);
} cases[] = {
    {"wait", wait_each},
    {"waitall", wait_all},
    {"waitany", wait_any},
    {"waitsome", wait_some},
    {"test", test_each},
    {"testall", test_all},
    {"testany", test_any},
    {"testsome", test_some},
    {"get_status", get_status},
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    {"get_status_of_several", get_status_of_several},
#endif
#if MPI_VERSION >= 4
    {"parrived", parts_arrive_after_sum},
#endif
    {"cancel", cancel_beside},
    {"persistent", persistent},
    {"recv", around_receive},
    {"probe", around_probe},
    {"mprobe", around_probe_matched},
    {"iprobe", around_ask},
    {"ssend", around_send_synchronous},
    {"sendrecv", around_send_receive},
    {"sendrecv_replace", around_replace},
    {"fence", around_fence},
    {"dup", around_duplicate},
    {"collective", around_collective},
    {"message_beside_barrier", message_beside_barrier},
    {"message_beside_wait", message_beside_wait},
    {"passive_target", passive_target},
    {"many", many},
};

static bool is_wanted(const char *name, int argc, char **argv) {
  bool wanted = argc < 2;
  for (int n = 1; n < argc; n++)
    wanted = wanted || strcmp(argv[n], name) == 0;
  return wanted;
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  to = (rank + 1) % size;
  from = (rank + size - 1) % size;
  for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
    if (!is_wanted(cases[n].name, argc, argv))
      continue;
    double began = MPI_Wtime();
    for (int salt = 0; salt < ROUNDS; salt++)
      cases[n].run(salt);
    if (rank == 0)
      printf("%s %.3f s\n", cases[n].name, MPI_Wtime() - began);
    fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
