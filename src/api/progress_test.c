/* With TUTTI_PROGRESS=thread a rank's outstanding calls go on while it makes no call of tutti: the others come to their
 * end though it stands still. Calls of the program and the thread take turns at a context. */
#include "conformance/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { RANKS = 3, LENGTH = 200000, TURNS = 20 };

static pthread_barrier_t others_are_done;

static float *numbers(int64_t rank) {
  float *made = malloc(LENGTH * sizeof *made);
  CHECK(made != NULL);
  for (int64_t n = 0; n < LENGTH; n++)
    made[n] = (float)(rank + n % 50);
  return made;
}

static void check(const float *out) {
  for (int64_t n = 0; n < LENGTH; n++)
    CHECK(out[n] == (float)(RANKS * (RANKS - 1) / 2 + RANKS * (n % 50)));
}

/* Rank 0 posts and then does nothing until the others have their results; these need what only it has. */
static void stand_still(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm;
  tutti_request *request;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  float *in = numbers(at->rank), *out = numbers(at->rank);
  CHECK(tutti_allreduce_start(in, out, LENGTH, TUTTI_FLOAT32, TUTTI_SUM, comm, &request) == TUTTI_OK);
  if (at->rank > 0)
    CHECK(tutti_wait(&request) == TUTTI_OK);
  pthread_barrier_wait(&others_are_done);
  if (at->rank == 0)
    CHECK(tutti_wait(&request) == TUTTI_OK);
  check(out);
  tutti_comm_destroy(comm);
  free(in);
  free(out);
}

/* Requests on two communicators, blocking calls between their starts and their ends. */
static void mix(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm[2];
  tutti_request *request[2];
  CHECK(tutti_comm_create(context, &comm[0]) == TUTTI_OK && tutti_comm_create(context, &comm[1]) == TUTTI_OK);
  float *in = numbers(at->rank), *out[2] = {numbers(at->rank), numbers(at->rank)};
  for (int turn = 0; turn < TURNS; turn++) {
    int64_t mine = at->rank, sum = 0, before = 0;
    int done = 0;
    for (int n = 0; n < 2; n++)
      CHECK(tutti_allreduce_start(in, out[n], LENGTH, TUTTI_FLOAT32, TUTTI_SUM, comm[n], &request[n]) == TUTTI_OK);
    CHECK(tutti_exscan(&mine, &before, 1, TUTTI_INT64, TUTTI_SUM, comm[turn % 2]) == TUTTI_OK);
    CHECK(tutti_allreduce(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm[1 - turn % 2]) == TUTTI_OK);
    CHECK(sum == RANKS * (RANKS - 1) / 2 && before == at->rank * (at->rank - 1) / 2);
    while (!done)
      CHECK(tutti_test(&request[1], &done) == TUTTI_OK);
    CHECK(tutti_wait(&request[0]) == TUTTI_OK);
    check(out[turn % 2]);
  }
  for (int n = 0; n < 2; n++) {
    tutti_comm_destroy(comm[n]);
    free(out[n]);
  }
  free(in);
}

typedef struct second {
  tutti_comm *comm;
  const float *in;
  float *out;
} second;

static void *call_beside(void *argument) {
  const second *of = argument;
  tutti_request *request;
  for (int turn = 0; turn < TURNS; turn++) {
    CHECK(tutti_allreduce_start(of->in, of->out, LENGTH, TUTTI_FLOAT32, TUTTI_SUM, of->comm, &request) == TUTTI_OK);
    CHECK(tutti_wait(&request) == TUTTI_OK);
    check(of->out);
  }
  return NULL;
}

/* Rank 0 waits for a call that the others make only after another one, which rank 0 makes in another thread. */
static void wait_in_two_threads(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm[2];
  tutti_request *request;
  pthread_t thread;
  CHECK(tutti_comm_create(context, &comm[0]) == TUTTI_OK && tutti_comm_create(context, &comm[1]) == TUTTI_OK);
  float *in = numbers(at->rank), *out[2] = {numbers(at->rank), numbers(at->rank)};
  second beside = {comm[1], in, out[1]};
  if (at->rank > 0)
    call_beside(&beside);
  CHECK(tutti_allreduce_start(in, out[0], LENGTH, TUTTI_FLOAT32, TUTTI_SUM, comm[0], &request) == TUTTI_OK);
  if (at->rank == 0)
    CHECK(pthread_create(&thread, NULL, call_beside, &beside) == 0);
  CHECK(tutti_wait(&request) == TUTTI_OK);
  check(out[0]);
  if (at->rank == 0)
    CHECK(pthread_join(thread, NULL) == 0);
  for (int n = 0; n < 2; n++) {
    tutti_comm_destroy(comm[n]);
    free(out[n]);
  }
  free(in);
}

static void *sum_beside(void *comm) {
  int64_t one = 1, sum = 0;
  CHECK(tutti_allreduce(&one, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm) == TUTTI_OK && sum == RANKS);
  return NULL;
}

/* The same with calls that block: the thread of rank 0 has mostly begun its call when the other one comes. */
static void block_in_two_threads(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm[2];
  pthread_t thread;
  CHECK(tutti_comm_create(context, &comm[0]) == TUTTI_OK && tutti_comm_create(context, &comm[1]) == TUTTI_OK);
  if (at->rank == 0) {
    CHECK(pthread_create(&thread, NULL, sum_beside, comm[0]) == 0);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  sum_beside(comm[1]);
  if (at->rank == 0)
    CHECK(pthread_join(thread, NULL) == 0);
  else
    sum_beside(comm[0]);
  for (int n = 0; n < 2; n++)
    tutti_comm_destroy(comm[n]);
}

static atomic_int waits_end;

/* Until rank 0 says that it is enough. */
static void *call_on(void *argument) {
  tutti_comm *comm = argument;
  tutti_request *request;
  for (int64_t enough = 0, any = 0; !any;) {
    enough = atomic_load_explicit(&waits_end, memory_order_relaxed);
    CHECK(tutti_allreduce_start(&enough, &any, 1, TUTTI_INT64, TUTTI_MAX, comm, &request) == TUTTI_OK);
    CHECK(tutti_wait(&request) == TUTTI_OK);
  }
  return NULL;
}

/* Rank 0 waits for a call that no other rank makes, while another thread's calls never stand still. */
static void time_out(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm[2];
  tutti_request *request;
  pthread_t thread;
  CHECK(tutti_comm_create(context, &comm[0]) == TUTTI_OK && tutti_comm_create(context, &comm[1]) == TUTTI_OK);
  float *in = numbers(at->rank), *out = numbers(at->rank);
  if (at->rank == 0) {
    CHECK(tutti_allreduce_start(in, out, LENGTH, TUTTI_FLOAT32, TUTTI_SUM, comm[0], &request) == TUTTI_OK);
    CHECK(pthread_create(&thread, NULL, call_on, comm[1]) == 0);
    CHECK(tutti_wait_for(&request, 50000000) == TUTTI_ERR_TIMEOUT);
    atomic_store_explicit(&waits_end, 1, memory_order_relaxed);
    CHECK(pthread_join(thread, NULL) == 0);
  } else {
    call_on(comm[1]);
  }
  for (int n = 0; n < 2; n++)
    tutti_comm_destroy(comm[n]);
  free(in);
  free(out);
}

static void run(void (*body)(const threads_rank *, tutti_context *, void *)) {
  for (int shm = 0; shm < 2; shm++)
    threads_run(&(threads_options){.count = RANKS, .shm = shm, .slot_bytes = 4096, .body = body});
}

static void test_a_rank_that_stands_still_keeps_nobody_waiting(void **state) {
  (void)state;
  pthread_barrier_init(&others_are_done, NULL, RANKS);
  run(stand_still);
  pthread_barrier_destroy(&others_are_done);
}

static void test_calls_and_the_thread_take_turns(void **state) {
  (void)state;
  run(mix);
}

static void test_a_thread_that_waits_lets_others_call(void **state) {
  (void)state;
  run(wait_in_two_threads);
}

static void test_a_call_that_blocks_lets_others_call(void **state) {
  (void)state;
  run(block_in_two_threads);
}

static void test_a_time_limit_holds_beside_others(void **state) {
  (void)state;
  for (int shm = 0; shm < 2; shm++) {
    atomic_store_explicit(&waits_end, 0, memory_order_relaxed);
    threads_run(&(threads_options){.count = RANKS, .shm = shm, .slot_bytes = 4096, .body = time_out});
  }
}

int main(void) {
  setenv("TUTTI_PROGRESS", "thread", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_rank_that_stands_still_keeps_nobody_waiting),
      cmocka_unit_test(test_calls_and_the_thread_take_turns),
      cmocka_unit_test(test_a_thread_that_waits_lets_others_call),
      cmocka_unit_test(test_a_call_that_blocks_lets_others_call),
      cmocka_unit_test(test_a_time_limit_holds_beside_others),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
