/* tests/mpi/request_threads.c - MPI_THREAD_MULTIPLE: threads in collective calls of communicators of their own, in
 * waits for requests of their own and in messages, all at once; and one in a blocking call when another starts
 * something.
 *
 *     request_threads [ROUNDS] */
#include "request_sum.h"

#include <pthread.h>

enum { THREADS = 4 };

typedef struct worker {
  int number, rounds;
  MPI_Comm comm;
  pthread_t thread;
} worker;

static int lengths[] = {1, 20000};

static void blocking(const worker *self, int salt) {
  sum one = sum_create(lengths[salt % 2], self->comm);
  sum_fill(&one, salt);
  MPI_Allreduce(one.in, one.out, one.count, MPI_DOUBLE, MPI_SUM, one.comm);
  sum_check(&one, salt);
  MPI_Barrier(self->comm);
  sum_destroy(&one);
}

/* A sum and a message around the ring, waited for in several ways. */
static void mixed(const worker *self, int salt) {
  int to = (rank + 1) % size, from = (rank + size - 1) % size, in = -1, index, done;
  sum one = sum_create(lengths[salt % 2], self->comm);
  MPI_Request request[3];
  sum_start(&one, salt);
  request[0] = one.request;
  MPI_Irecv(&in, 1, MPI_INT, from, self->number, MPI_COMM_WORLD, &request[1]);
  MPI_Isend(&rank, 1, MPI_INT, to, self->number, MPI_COMM_WORLD, &request[2]);
  for (int left = 3; salt % 3 == 1 && left > 0; left--)
    MPI_Waitany(3, request, &index, MPI_STATUS_IGNORE);
  for (done = 0; salt % 3 == 2 && !done;)
    MPI_Testall(3, request, &done, MPI_STATUSES_IGNORE);
  MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
  CHECK(in == from);
  sum_check(&one, salt);
  sum_destroy(&one);
}

static void persistent(const worker *self, int salt) {
  sum one = sum_create(lengths[salt % 2], self->comm);
  MPI_Request request;
  MPI_Allreduce_init(one.in, one.out, one.count, MPI_DOUBLE, MPI_SUM, one.comm, MPI_INFO_NULL, &request);
  for (int n = 0; n < 3; n++) {
    sum_fill(&one, salt + n);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    sum_check(&one, salt + n);
  }
  MPI_Request_free(&request);
  sum_destroy(&one);
}

static void messages(const worker *self, int salt) {
  int to = (rank + 1) % size, from = (rank + size - 1) % size, in = -1;
  sum one = sum_create(1, self->comm);
  sum_start(&one, salt);
  if (rank % 2 == 0 && to != rank)
    MPI_Send(&rank, 1, MPI_INT, to, THREADS + self->number, MPI_COMM_WORLD);
  if (to != rank)
    MPI_Recv(&in, 1, MPI_INT, from, THREADS + self->number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank % 2)
    MPI_Send(&rank, 1, MPI_INT, to, THREADS + self->number, MPI_COMM_WORLD);
  CHECK(to == rank || in == from);
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  sum_check(&one, salt);
  sum_destroy(&one);
}

static void *work(void *argument) {
  const worker *self = argument;
  for (int salt = 0; salt < self->rounds; salt++) {
    blocking(self, salt);
    mixed(self, salt);
    persistent(self, salt);
    messages(self, salt);
  }
  return NULL;
}

static void run_workers(int rounds) {
  worker all[THREADS];
  for (int n = 0; n < THREADS; n++) {
    all[n] = (worker){.number = n, .rounds = rounds};
    MPI_Comm_dup(MPI_COMM_WORLD, &all[n].comm);
  }
  for (int n = 0; n < THREADS; n++)
    pthread_create(&all[n].thread, NULL, work, &all[n]);
  for (int n = 0; n < THREADS; n++) {
    pthread_join(all[n].thread, NULL);
    MPI_Comm_free(&all[n].comm);
  }
}

/* ---- a type that all threads use for the first time ---- */

enum { TYPES = 40 };

typedef struct pair {
  double value, gap;
} pair;

typedef struct adder {
  MPI_Comm comm;
  MPI_Datatype *type;
  MPI_Op op;
  pthread_barrier_t *met;
  pthread_t thread;
} adder;

static void add_pairs(void *in, void *inout, int *count, MPI_Datatype *type) {
  (void)type;
  for (int n = 0; n < *count; n++)
    ((pair *)inout)[n].value += ((const pair *)in)[n].value;
}

static void *add_all(void *argument) {
  const adder *self = argument;
  for (int n = 0; n < TYPES; n++) {
    pair one = {rank + n, 0}, all = {-1, -1};
    pthread_barrier_wait(self->met);
    MPI_Allreduce(&one, &all, 1, self->type[n], self->op, self->comm);
    CHECK(all.value == size * n + size * (size - 1) / 2 && all.gap == -1);
  }
  return NULL;
}

static void first_uses(void) {
  adder all[THREADS];
  MPI_Datatype type[TYPES], tight;
  pthread_barrier_t met;
  MPI_Type_contiguous(1, MPI_DOUBLE, &tight);
  for (int n = 0; n < TYPES; n++) {
    MPI_Type_create_resized(tight, 0, sizeof(pair), &type[n]);
    MPI_Type_commit(&type[n]);
  }
  pthread_barrier_init(&met, NULL, THREADS);
  for (int n = 0; n < THREADS; n++) {
    all[n] = (adder){.type = type, .met = &met};
    MPI_Op_create(add_pairs, 1, &all[n].op);
    MPI_Comm_dup(MPI_COMM_WORLD, &all[n].comm);
  }
  for (int n = 0; n < THREADS; n++)
    pthread_create(&all[n].thread, NULL, add_all, &all[n]);
  for (int n = 0; n < THREADS; n++) {
    pthread_join(all[n].thread, NULL);
    MPI_Op_free(&all[n].op);
    MPI_Comm_free(&all[n].comm);
  }
  for (int n = 0; n < TYPES; n++)
    MPI_Type_free(&type[n]);
  MPI_Type_free(&tight);
  pthread_barrier_destroy(&met);
}

/* Rank 0 waits for a message that rank 1 sends when its sum is done, which rank 0 has started in another thread after
 * that. */
static void *start_late(void *argument) {
  sum_start(argument, 0);
  return NULL;
}

static void started_while_another_receives(void) {
  sum one = sum_create(300000, MPI_COMM_WORLD);
  pthread_t thread;
  if (rank == 0)
    pthread_create(&thread, NULL, start_late, &one);
  else
    sum_start(&one, 0);
  if (rank == 0 && size > 1)
    MPI_Recv(NULL, 0, MPI_INT, 1, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0)
    pthread_join(thread, NULL);
  MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  if (rank == 1)
    MPI_Send(NULL, 0, MPI_INT, 0, 77, MPI_COMM_WORLD);
  sum_check(&one, 0);
  sum_destroy(&one);
}

int main(int argc, char **argv) {
  int level, rounds = argc > 1 ? atoi(argv[1]) : 20;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(level == MPI_THREAD_MULTIPLE);
  run_workers(rounds);
  first_uses();
  for (int n = 0; n < rounds; n++)
    started_while_another_receives();
  if (rank == 0)
    printf("threads: %d rounds\n", rounds);
  MPI_Finalize();
  return 0;
}
