/* Whoever asked is told when a request is complete: by the progress thread, or by a call that moves it. And whoever has
 * had enough of waiting gives up the communicator. */
#include "conformance/threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { RANKS = 3 };

typedef struct told {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int times;
  pthread_t by;
} told;

static void tell(void *user) {
  told *of = user;
  pthread_mutex_lock(&of->lock);
  of->times++;
  of->by = pthread_self();
  pthread_cond_signal(&of->changed);
  pthread_mutex_unlock(&of->lock);
}

static void sleep_until_told(told *of, int times) {
  pthread_mutex_lock(&of->lock);
  while (of->times < times)
    pthread_cond_wait(&of->changed, &of->lock);
  pthread_mutex_unlock(&of->lock);
}

#define TOLD                                                                                                           \
  (told) { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

/* No rank calls tutti while it waits to be told. */
static void sleep_all(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  told of = TOLD;
  tutti_comm *comm;
  tutti_request *request;
  int64_t mine = at->rank, sum = 0;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_context_progress(context) == TUTTI_OK && tutti_context_progress(context) == TUTTI_OK);
  for (int turn = 1; turn <= 5; turn++) {
    CHECK(tutti_allreduce_start(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_request_notify(request, tell, &of) == TUTTI_OK);
    sleep_until_told(&of, turn);
    CHECK(tutti_wait(&request) == TUTTI_OK && !request);
    CHECK(sum == RANKS * (RANKS - 1) / 2);
  }
  tutti_comm_destroy(comm);
}

/* Rank 1 gives up; nobody else calls tutti until he is told. */
static void abort_one(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  told of = TOLD;
  tutti_comm *comm;
  tutti_request *request;
  int64_t mine = at->rank, sum = 0;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_context_progress(context) == TUTTI_OK);
  if (at->rank == 1) {
    pthread_barrier_wait(&at->team->barrier);
    tutti_comm_abort(comm, "enough");
  } else {
    CHECK(tutti_allreduce_start(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_request_notify(request, tell, &of) == TUTTI_OK);
    pthread_barrier_wait(&at->team->barrier);
    sleep_until_told(&of, 1);
    CHECK(tutti_wait(&request) == TUTTI_ERR_ABORTED && strstr(tutti_last_error(), "enough"));
  }
  tutti_comm_destroy(comm);
}

/* Without the thread it is the call that moves the request on; for a complete one at once; a new start is a new one. */
static void tell_in_calls(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  told of = TOLD;
  tutti_comm *comm;
  tutti_request *request;
  int64_t mine = at->rank, sum = 0;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  CHECK(tutti_allreduce_init(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
  CHECK(tutti_request_notify(request, tell, &of) == TUTTI_OK && of.times == 1); /* it is not running */
  CHECK(tutti_request_start(request) == TUTTI_OK);
  CHECK(tutti_request_notify(request, tell, &of) == TUTTI_OK);
  CHECK(tutti_wait(&request) == TUTTI_OK && of.times == 2 && pthread_equal(of.by, pthread_self()));
  CHECK(tutti_request_start(request) == TUTTI_OK && tutti_wait(&request) == TUTTI_OK && of.times == 2);
  CHECK(tutti_request_notify(NULL, tell, &of) == TUTTI_ERR_ARGUMENT);
  CHECK(tutti_request_notify(request, NULL, &of) == TUTTI_ERR_ARGUMENT);
  tutti_request_destroy(request);
  tutti_comm_destroy(comm);
}

/* It has waited since somebody has looked for the first time, for 20 ms or longer. */
static void look_then_wait(tutti_comm *comm) {
  tutti_request *request;
  int done = 0;
  CHECK(tutti_barrier_start(comm, &request) == TUTTI_OK);
  CHECK(tutti_test(&request, &done) == TUTTI_OK && !done);
  for (int64_t end = tt_clock_ns() + 20000000; tt_clock_ns() < end;)
    CHECK(tutti_test(&request, &done) == TUTTI_OK && !done);
  CHECK(tutti_wait_for(&request, 1) == TUTTI_ERR_TIMEOUT);
  CHECK(strstr(tutti_last_error(), " waited ") && !strstr(tutti_last_error(), " waited 0.00"));
}

/* The others do not come. */
static void wait_in_vain(const threads_rank *at, tutti_context *context, void *argument) {
  pthread_barrier_t *after = argument;
  tutti_comm *comm, *other;
  tutti_request *request = NULL;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK && tutti_comm_create(context, &other) == TUTTI_OK);
  CHECK(tutti_wait_for(&request, 1) == TUTTI_OK && tutti_wait_for(&request, 0) == TUTTI_ERR_ARGUMENT);
  if (at->rank == 0) {
    look_then_wait(other);
    CHECK(tutti_barrier_start(comm, &request) == TUTTI_OK);
    CHECK(tutti_wait_for(&request, 20000000) == TUTTI_ERR_TIMEOUT && !request);
    CHECK(strstr(tutti_last_error(), "rank 1 has not come") && strstr(tutti_last_error(), "rank 2 has not come"));
    CHECK(strstr(tutti_last_error(), "(the wait's own time limit)"));
  }
  pthread_barrier_wait(after);
  tutti_comm_destroy(comm);
  tutti_comm_destroy(other);
}

/* With the communicator ends what runs on it, and whoever asked is told of that end. */
static void tell_of_the_end(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  told of = TOLD;
  tutti_comm *comm;
  tutti_request *request = NULL;
  int64_t mine = at->rank, sum = 0;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  if (at->rank == 0) {
    CHECK(tutti_allreduce_start(&mine, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
    CHECK(tutti_request_notify(request, tell, &of) == TUTTI_OK && of.times == 0);
  }
  tutti_comm_destroy(comm);
  CHECK(of.times == (at->rank == 0));
  CHECK(tutti_wait(&request) == (at->rank == 0 ? TUTTI_ERR_ABORTED : TUTTI_OK));
}

static int has_enough(void *user) { return ++*(int *)user == 3; }

/* Rank 0 comes to the call only after rank 1 has given it up. */
static void give_up(const threads_rank *at, tutti_context *context, void *argument) {
  pthread_barrier_t *after = argument;
  tutti_comm *comm;
  int asked = 0;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  if (at->rank == 1)
    CHECK(tutti_context_set_interrupted(context, has_enough, &asked) == TUTTI_OK);
  if (at->rank == 0)
    pthread_barrier_wait(after);
  CHECK(tutti_barrier(comm) == TUTTI_ERR_ABORTED);
  CHECK(strstr(tutti_last_error(), "rank 1 was interrupted"));
  if (at->rank == 1)
    pthread_barrier_wait(after);
  CHECK(at->rank != 1 || asked == 3);
  tutti_comm_destroy(comm);
}

typedef struct errand {
  tutti_comm *comm;
  int times;
} errand;

static void *meet(void *comm) {
  CHECK(tutti_barrier(comm) == TUTTI_OK);
  return NULL;
}

/* Waits for another thread, whose call the other ranks wait in. */
static int run_errand(void *user) {
  errand *of = user;
  pthread_t thread;
  if (of->times++ > 0)
    return 0;
  CHECK(pthread_create(&thread, NULL, meet, of->comm) == 0 && pthread_join(thread, NULL) == 0);
  return 0;
}

/* The other ranks come to the call that rank 1 waits in, blocking or not, only after that. */
static void call_beside(const threads_rank *at, tutti_context *context, void *argument) {
  (void)argument;
  tutti_comm *comm;
  errand of = {.times = 0};
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK && tutti_comm_create(context, &of.comm) == TUTTI_OK);
  CHECK(tutti_context_progress(context) == TUTTI_OK);
  for (int starts = 0; starts < 2; starts++) {
    tutti_request *request = NULL;
    of.times = 0;
    if (at->rank == 1)
      CHECK(tutti_context_set_interrupted(context, run_errand, &of) == TUTTI_OK);
    else
      CHECK(tutti_barrier(of.comm) == TUTTI_OK);
    CHECK((starts ? tutti_barrier_start(comm, &request) : tutti_barrier(comm)) == TUTTI_OK);
    CHECK(tutti_wait(&request) == TUTTI_OK);
  }
  CHECK(tutti_context_set_interrupted(context, NULL, NULL) == TUTTI_OK);
  tutti_comm_destroy(comm);
  tutti_comm_destroy(of.comm);
}

static void run(void (*body)(const threads_rank *, tutti_context *, void *)) {
  for (int shm = 0; shm < 2; shm++)
    threads_run(&(threads_options){.count = RANKS, .shm = shm, .slot_bytes = 4096, .body = body});
}

static void test_the_thread_tells_whoever_asked(void **state) {
  (void)state;
  run(sleep_all);
}

static void test_the_thread_hears_that_another_rank_gives_up(void **state) {
  (void)state;
  run(abort_one);
}

static void test_a_call_tells_whoever_asked(void **state) {
  (void)state;
  run(tell_in_calls);
}

static void test_the_end_of_a_communicator_is_told(void **state) {
  (void)state;
  run(tell_of_the_end);
}

static void test_who_has_enough_of_waiting_gives_up(void **state) {
  (void)state;
  pthread_barrier_t after;
  for (int shm = 0; shm < 2; shm++) {
    pthread_barrier_init(&after, NULL, 2);
    threads_run(
        &(threads_options){.count = RANKS, .shm = shm, .slot_bytes = 4096, .body = give_up, .argument = &after});
    pthread_barrier_destroy(&after);
  }
}

static void test_other_threads_call_while_one_is_asked(void **state) {
  (void)state;
  run(call_beside);
}

static void test_a_wait_has_its_own_limit(void **state) {
  (void)state;
  pthread_barrier_t after;
  for (int shm = 0; shm < 2; shm++) {
    pthread_barrier_init(&after, NULL, RANKS);
    threads_run(
        &(threads_options){.count = RANKS, .shm = shm, .slot_bytes = 4096, .body = wait_in_vain, .argument = &after});
    pthread_barrier_destroy(&after);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_thread_tells_whoever_asked),
      cmocka_unit_test(test_the_thread_hears_that_another_rank_gives_up),
      cmocka_unit_test(test_a_call_tells_whoever_asked),
      cmocka_unit_test(test_the_end_of_a_communicator_is_told),
      cmocka_unit_test(test_a_wait_has_its_own_limit),
      cmocka_unit_test(test_who_has_enough_of_waiting_gives_up),
      cmocka_unit_test(test_other_threads_call_while_one_is_asked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
