/* tests/mpi/traps/threads.c - MPI_THREAD_MULTIPLE. */
#include "traps.h"

#include <pthread.h>

enum { THREADS = 4, TIMES = 100, TAG = 11 };

typedef struct worker {
  pthread_t thread;
  MPI_Comm comm;
  int number;
} worker;

static void run_workers(void *(*body)(void *)) {
  worker workers[THREADS];
  for (int k = 0; k < THREADS; k++) {
    workers[k].number = k;
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[k].comm);
  }
  for (int k = 0; k < THREADS; k++)
    pthread_create(&workers[k].thread, NULL, body, &workers[k]);
  for (int k = 0; k < THREADS; k++)
    pthread_join(workers[k].thread, NULL);
  for (int k = 0; k < THREADS; k++)
    MPI_Comm_free(&workers[k].comm);
}

static void *blocking_body(void *user) {
  worker *own = user;
  for (int n = 0; n < TIMES; n++)
    trap_allreduce(own->comm);
  return NULL;
}
static void threads_call_on_their_communicators(void) { run_workers(blocking_body); }

/* Blocking and non-blocking calls and messages, on communicators that come and go. */
static void *varied_body(void *user) {
  worker *own = user;
  for (int n = 0; n < TIMES / 10; n++) {
    int left = (trap_rank + trap_size - 1) % trap_size, right = (trap_rank + 1) % trap_size, got = -1;
    trap_pending pending = trap_start(own->comm);
    MPI_Sendrecv(&n, 1, MPI_INT, right, TAG, &got, 1, MPI_INT, left, TAG, own->comm, MPI_STATUS_IGNORE);
    CHECK(got == n, "got %d in turn %d", got, n);
    trap_finish(&pending);
    MPI_Comm twin;
    MPI_Comm_dup(own->comm, &twin);
    trap_allreduce(twin);
    MPI_Comm_free(&twin);
  }
  return NULL;
}
static void threads_do_different_things(void) { run_workers(varied_body); }

/* One thread is in a receive all the time; what it waits for comes last. */
static void *receive_body(void *user) {
  int got = -1;
  MPI_Recv(&got, 1, MPI_INT, 0, TAG, *(MPI_Comm *)user, MPI_STATUS_IGNORE);
  CHECK(got == 42, "received %d", got);
  return NULL;
}
static void thread_is_in_receive(void) {
  pthread_t thread;
  MPI_Comm twin;
  MPI_Comm_dup(MPI_COMM_WORLD, &twin);
  pthread_create(&thread, NULL, receive_body, &twin);
  for (int n = 0; n < TIMES; n++) {
    trap_allreduce(MPI_COMM_WORLD);
    trap_pending pending = {0};
    if (n % 20 == 0) {
      pending = trap_start(MPI_COMM_WORLD);
      trap_finish(&pending);
    }
  }
  for (int to = 0; to < trap_size && trap_rank == 0; to++)
    MPI_Send(&(int){42}, 1, MPI_INT, to, TAG, twin);
  pthread_join(thread, NULL);
  MPI_Comm_free(&twin);
}

/* One thread starts, another one waits. */
static void *wait_body(void *user) {
  trap_finish(user);
  return NULL;
}
static void another_thread_waits(void) {
  for (int n = 0; n < TIMES / 10; n++) {
    pthread_t thread;
    trap_pending pending = trap_start(MPI_COMM_WORLD);
    pthread_create(&thread, NULL, wait_body, &pending);
    pthread_join(thread, NULL);
  }
}

const trap trap_threads[] = {
    {"threads_call_on_their_communicators", 3, TRAP_THREADS, threads_call_on_their_communicators},
    {"threads_do_different_things", 2, TRAP_THREADS, threads_do_different_things},
    {"thread_is_in_receive", 3, TRAP_THREADS, thread_is_in_receive},
    {"another_thread_waits", 2, TRAP_THREADS, another_thread_waits},
    {0},
};
