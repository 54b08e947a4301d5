/* A rank that is stopped is silent: an error on the others only under TUTTI_TIMEOUT, which names it. And a rank that
 * calls tutti_comm_abort: the others get its reason. */
#include "api/api.h"
#include "fault/fault.h"
#include "transport/shm/self.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/syscall.h>

typedef struct silence {
  const char *timeout; /* TUTTI_TIMEOUT, or NULL */
  bool spins;          /* and never yields */
  int64_t count;       /* elements of the call that the stopped rank does not come to */
  bool starts;         /* non-blocking */
  int told[2];         /* a pipe: a byte from each other rank that is through */
} silence;

#define STOPPED 1

static tutti_status sum(int64_t count, bool starts, tutti_comm *comm) {
  int32_t *in = calloc((size_t)count, sizeof *in), *out = calloc((size_t)count, sizeof *out);
  tutti_request *request = NULL;
  tutti_status status = starts ? tutti_allreduce_start(in, out, count, TUTTI_INT32, TUTTI_SUM, comm, &request)
                               : tutti_allreduce(in, out, count, TUTTI_INT32, TUTTI_SUM, comm);
  if (status == TUTTI_OK)
    status = tutti_wait(&request);
  free(in);
  free(out);
  return status;
}

static void call_with_stopped(const tutti_boot *boot, void *argument) {
  const silence *of = argument;
  if (of->timeout)
    setenv("TUTTI_TIMEOUT", of->timeout, 1);
  if (of->spins) {
    setenv("TUTTI_SPIN", "1000000000000", 1);
    setenv("TUTTI_SHARED_SPIN", "1000s", 1);
  }
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  meet_all(context); /* no barrier: a rank that comes late would be a timeout there */
  if (boot->rank == STOPPED) {
    close(of->told[1]); /* so that the pipe ends with the others */
    raise(SIGSTOP);
  }
  report(boot, sum(of->count, of->starts, comm));
  CHECK(boot->rank == STOPPED || write(of->told[1], "x", 1) == 1);
  leave_all(context, comm);
}

static job start_silent(int ranks, silence *of) {
  assert_int_equal(pipe(of->told), 0);
  job started = start_job(ranks, call_with_stopped, of);
  close(of->told[1]);
  assert_int_equal(waitpid(started.pid[STOPPED], NULL, WUNTRACED), started.pid[STOPPED]);
  return started;
}

static void end_silent(const job *started, const silence *of) {
  kill(started->pid[STOPPED], SIGCONT);
  assert_int_equal(job_wait(started), 0);
  close(of->told[0]);
}

static void wait_for_all_but_one(const silence *of, int ranks) {
  char byte;
  for (int n = 1; n < ranks; n++)
    assert_int_equal(read(of->told[0], &byte, 1), 1);
}

static void test_stopped_rank_is_named_under_a_timeout(void **state) {
  (void)state;
  for (int n = 0; n < 4; n++) {
    silence of = {.timeout = "500ms", .count = n < 2 ? 4 : 100000, .starts = n % 2};
    int ranks = 2 + n;
    job started = start_silent(ranks, &of);
    wait_for_all_but_one(&of, ranks);
    end_silent(&started, &of);
    for (int r = 0; r < ranks; r++) /* the stopped one gets the same text when it goes on */
      assert_outcome(r, TUTTI_ERR_TIMEOUT, " s (TUTTI_TIMEOUT): rank 1 has not come to it");
  }
}

/* Where every rank has a core, or shares it with none that it waits for. */
static void test_ranks_that_never_yield_keep_to_a_timeout(void **state) {
  (void)state;
  for (int n = 0; n < 2; n++) {
    silence of = {.timeout = "300ms", .spins = true, .count = n ? 100000 : 4};
    job started = start_silent(2, &of);
    wait_for_all_but_one(&of, 2);
    end_silent(&started, &of);
    assert_outcome(0, TUTTI_ERR_TIMEOUT, " s (TUTTI_TIMEOUT): rank 1 has not come to it");
  }
}

static void test_silence_alone_is_no_error(void **state) {
  (void)state;
  for (int n = 0; n < 2; n++) {
    silence of = {.count = n ? 100000 : 4, .starts = n};
    job started = start_silent(3, &of);
    struct pollfd told = {.fd = of.told[0], .events = POLLIN};
    assert_int_equal(poll(&told, 1, 300), 0); /* the time of silence */
    end_silent(&started, &of);
    for (int r = 0; r < 3; r++)
      assert_outcome(r, TUTTI_OK, "");
  }
}

/* ---- stopped at any moment ---- */

static void loop_until_stopped(const tutti_boot *boot, void *argument) {
  const int64_t *stop_ns = argument;
  setenv("TUTTI_TIMEOUT", "300ms", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGSTOP};
  struct itimerspec when = {.it_value = {.tv_nsec = *stop_ns}};
  timer_t timer;
  CHECK(boot->rank != STOPPED || timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  CHECK(boot->rank != STOPPED || timer_settime(timer, 0, &when, NULL) == 0);
  tutti_status status = TUTTI_OK;
  for (int n = 0; status == TUTTI_OK; n++)
    status = sum(n % 3 ? 50 : 20000, n % 2, comm);
  report(boot, status);
  leave_all(context, comm);
}

static void test_rank_stopped_at_any_moment_is_a_timeout(void **state) {
  (void)state;
  uint64_t random = (uint64_t)now_ns();
  print_message("seed %" PRIu64 "\n", random);
  for (int n = 0; n < (long_mode() ? 40 : 6); n++) {
    int64_t stop_ns = 1 + random_below(&random, 3000000);
    int ranks = 2 + n % 3;
    job started = start_job(ranks, loop_until_stopped, &stop_ns);
    for (int r = 0; r < ranks; r++)
      if (r != STOPPED)
        assert_int_equal(waitpid(started.pid[r], NULL, 0), started.pid[r]);
    kill(started.pid[STOPPED], SIGKILL);
    job_wait(&started);
    for (int r = 0; r < ranks; r++)
      if (r != STOPPED)
        assert_outcome(r, TUTTI_ERR_TIMEOUT, "");
  }
}

/* ---- a stop is no part of a time limit ---- */

static const tutti_transport_ops *usual;
static int64_t stopped_ns; /* 0: not yet */

static void stop_once(void) {
  int64_t began_ns = now_ns();
  if (stopped_ns > 0)
    return;
  raise(SIGSTOP);
  stopped_ns = now_ns() - began_ns;
}

static void stop_and_wait(void *transport, int64_t longest_ns) {
  stop_once();
  usual->wait(transport, longest_ns);
}

static _Thread_local bool stops_beside;

/* In front of the C library's. */
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock, const struct timespec *until) {
  int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  void *symbol = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
  memcpy(&next, &symbol, sizeof next);
  if (stops_beside)
    stop_once();
  return next(cond, lock, until);
}

typedef enum sleeper { ALONE, IN_TRANSPORT, BESIDE, SLEEPERS } sleeper;

static void stop_in_a_wait(const tutti_boot *boot, void *argument) {
  const sleeper *of = argument;
  setenv("TUTTI_TIMEOUT", "300ms", 1);
  setenv("TUTTI_PROGRESS", *of == ALONE ? "" : "thread", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  meet_all(context);
  if (boot->rank == STOPPED) {
    usual = context->ops;
    tutti_transport_ops stops = *usual;
    stops.wait = stop_and_wait;
    context->ops = &stops;
    stops_beside = *of == BESIDE;
    context->machine.waits_beside = context->machine.waits_beside && !stops_beside;
    int64_t began_ns = now_ns();
    tutti_status status = tutti_barrier(comm);
    int64_t took_ns = now_ns() - began_ns;
    context->ops = usual;
    CHECK(stopped_ns > 0 && took_ns - stopped_ns >= 250000000); /* a sleep of it may be in both */
    report(boot, status);
    outcomes[STOPPED].calls++;
  }
  while (outcomes[STOPPED].calls == 0)
    sched_yield();
  leave_all(context, comm);
}

static void continue_later(const job *started) {
  assert_int_equal(waitpid(started->pid[STOPPED], NULL, WUNTRACED), started->pid[STOPPED]);
  nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 200000000}, NULL); /* how long it is stopped */
  kill(started->pid[STOPPED], SIGCONT);
  assert_int_equal(job_wait(started), 0);
}

static void test_stop_is_no_part_of_a_time_limit(void **state) {
  (void)state;
  for (sleeper of = ALONE; of < SLEEPERS; of++) {
    job started = start_job(2, stop_in_a_wait, &of);
    continue_later(&started);
    assert_outcome(STOPPED, TUTTI_ERR_TIMEOUT, "rank 0 has not come to it");
  }
}

static _Atomic bool stops_asleep;

/* In front of the C library's, as the progress thread calls them: so that it sleeps soon where others compute, too. */
int sched_yield(void) { return stops_asleep ? 0 : (int)syscall(SYS_sched_yield); }

static void stop_asleep(void) {
  if (atomic_exchange_explicit(&stops_asleep, false, memory_order_relaxed))
    stop_once();
}

static void stop_asleep_and_wait(void *transport, int64_t longest_ns) {
  stop_asleep();
  usual->wait(transport, longest_ns);
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
  stop_asleep();
  return clock_nanosleep(CLOCK_MONOTONIC, 0, wanted, left) == 0 ? 0 : -1;
}

typedef struct aside {
  bool rests; /* the thread sleeps where others wake it, as beside programs that compute */
  int gate[2];
} aside;

static int told[2]; /* a pipe */

static void tell(void *user) {
  (void)user;
  CHECK(write(told[1], "x", 1) == 1);
}

/* Only the progress thread looks after the call. */
static void stop_aside(const tutti_boot *boot, void *argument) {
  const aside *of = argument;
  char byte;
  setenv("TUTTI_TIMEOUT", "1s", 1);
  setenv("TUTTI_PROGRESS", "thread", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  meet_all(context);
  if (boot->rank == STOPPED) {
    tutti_request *request;
    CHECK(pipe(told) == 0);
    usual = context->ops;
    tutti_transport_ops stops = *usual;
    stops.wait = stop_asleep_and_wait;
    context->ops = &stops;
    atomic_store_explicit(&context->contention.news->until_ns, of->rests ? INT64_MAX : 0, memory_order_relaxed);
    stops_asleep = true;
    int64_t began_ns = now_ns();
    CHECK(tutti_barrier_start(comm, &request) == TUTTI_OK);
    CHECK(tutti_request_notify(request, tell, NULL) == TUTTI_OK);
    CHECK(read(told[0], &byte, 1) == 1);
    int64_t took_ns = now_ns() - began_ns;
    CHECK(stopped_ns > 0 && took_ns - stopped_ns >= 950000000); /* a sleep of it may be in both */
    report(boot, tutti_wait(&request));
    context->ops = usual;
    CHECK(write(of->gate[1], &byte, 1) == 1);
  } else {
    CHECK(read(of->gate[0], &byte, 1) == 1);
  }
  leave_all(context, comm);
}

static void test_stop_is_no_part_of_a_time_limit_where_nobody_waits(void **state) {
  (void)state;
  for (int rests = 0; rests < 2; rests++) {
    aside of = {.rests = rests};
    assert_int_equal(pipe(of.gate), 0);
    job started = start_job(2, stop_aside, &of);
    continue_later(&started);
    close(of.gate[0]);
    close(of.gate[1]);
    assert_outcome(STOPPED, TUTTI_ERR_TIMEOUT, "rank 0 has not come to it");
  }
}

/* Rank 2 has opened its part and waits in a call, rank 1 stops in the middle of opening, rank 0 has not begun. */
static void stop_under_lock(const tutti_boot *boot, void *argument) {
  const silence *of = argument;
  setenv("TUTTI_TIMEOUT", boot->rank == 0 ? "3s" : "60s", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *request = NULL;
  int64_t in = 1, out = 0;
  char byte = 0;
  if (boot->rank == 2)
    CHECK(tutti_allreduce_start(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
  meet_all(context);
  if (boot->rank == STOPPED) {
    CHECK(tt_shm_lock(((const tt_shm *)context->transport)->segment) == TUTTI_OK);
    CHECK(write(of->told[1], &byte, 1) == 1);
    raise(SIGSTOP);
  }
  if (boot->rank == 0)
    CHECK(read(of->told[0], &byte, 1) == 1);
  report(boot, boot->rank == 0 ? tutti_barrier(comm) : tutti_wait(&request));
  _exit(0); /* whoever closes anything waits for the lock, too */
}

static void test_rank_stopped_while_it_opens_its_part_is_named(void **state) {
  (void)state;
  silence of = {0};
  assert_int_equal(pipe(of.told), 0);
  job started = start_job(3, stop_under_lock, &of);
  for (int r = 0; r < 3; r += 2)
    assert_int_equal(waitpid(started.pid[r], NULL, 0), started.pid[r]);
  kill(started.pid[STOPPED], SIGKILL);
  job_wait(&started);
  assert_outcome(0, TUTTI_ERR_TIMEOUT, "rank 1 (process");
  assert_outcome(2, TUTTI_ERR_TIMEOUT, "rank 0 (rank 0 of the job) could not make its part of this communicator");
  close(of.told[0]);
  close(of.told[1]);
}

/* ---- abort ---- */

static void abort_one(const tutti_boot *boot, void *argument) {
  const silence *of = argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context), *other = NULL;
  CHECK(tutti_comm_split(comm, 0, 0, &other) == TUTTI_OK);
  CHECK(tutti_barrier(other) == TUTTI_OK); /* nobody is in a call on `comm` any more */
  if (boot->rank == 2)
    tutti_comm_abort(comm, "the weights are not finite");
  report(boot, sum(of->count, of->starts, comm));
  CHECK(tutti_barrier(comm) == TUTTI_ERR_ABORTED);
  CHECK(tutti_barrier(other) == TUTTI_OK); /* nobody has broken that one */
  tutti_comm_destroy(other);
  leave_all(context, comm);
}

static void test_abort_ends_calls_of_all_ranks_with_its_reason(void **state) {
  (void)state;
  for (int n = 0; n < 4; n++) {
    silence of = {.count = n < 2 ? 4 : 100000, .starts = n % 2};
    run_job(4, abort_one, &of);
    for (int r = 0; r < 4; r++)
      assert_outcome(r, TUTTI_ERR_ABORTED, "rank 2 aborted: the weights are not finite");
  }
}

#define ABORTS 1
#define READS 2
#define LENT_COUNT 100000

/* Rank 0 is told first, and at once. */
static void wake_slowly(void *transport, int64_t peer) {
  usual->wake(transport, peer);
  while (outcomes[READS].status < 0)
    sched_yield();
}

static void abort_slowly(tutti_context *context, tutti_comm *comm) {
  usual = context->ops;
  tutti_transport_ops slow = *usual;
  slow.wake = wake_slowly;
  context->ops = &slow;
  tutti_comm_abort(comm, "the disk is full");
  context->ops = usual;
}

static void await_calls(int rank, int64_t calls) {
  while (outcomes[rank].calls < calls)
    sched_yield();
}

/* Rank 2 is in the call already and takes all of it from rank 0's memory, but only when rank 0 has left with an error
 * and has written there. */
static void write_to_what_is_read(const tutti_boot *boot, void *unused) {
  (void)unused;
  setenv("TUTTI_MEDIUM", "lent", 1);
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context);
  tutti_request *request = NULL;
  void *in;
  char *out = calloc(LENT_COUNT, 1);
  CHECK(tutti_alloc(context, LENT_COUNT, &in) == TUTTI_OK);
  CHECK(tutti_comm_set_params(comm, "broadcast", "linear") == TUTTI_OK);
  meet_all(context);
  if (boot->rank == 0)
    await_calls(READS, 1);
  if (boot->rank == ABORTS)
    await_calls(0, 1);
  else
    CHECK(tutti_broadcast_start(in, out, LENT_COUNT, TUTTI_BYTE, 0, comm, &request) == TUTTI_OK);
  outcomes[boot->rank].calls++;
  if (boot->rank == ABORTS)
    abort_slowly(context, comm);
  if (boot->rank == READS)
    await_calls(0, 2);
  report(boot, boot->rank == ABORTS ? tutti_barrier(comm) : tutti_wait(&request));
  memset(in, 1, LENT_COUNT);
  outcomes[boot->rank].calls++;
  free(out);
  tutti_free(context, in);
  leave_all(context, comm);
}

static void test_what_a_rank_writes_after_an_abort_is_nobodys_result(void **state) {
  (void)state;
  run_job(3, write_to_what_is_read, NULL);
  for (int r = 0; r < 3; r++)
    assert_outcome(r, TUTTI_ERR_ABORTED, "rank 1 aborted: the disk is full");
}

/* Between machines whose ranks have not met: the verdict leaves though rank 0 does not call tutti any more. */
static void abort_and_compute(const tutti_boot *boot, void *argument) {
  static const int64_t all[] = {0, 1, 2};
  (void)argument;
  setenv("TUTTI_NODES", "1,1,1", 1);
  tutti_context *context = join_job(boot);
  tutti_comm *comm;
  CHECK(tutti_comm_create_group(context, 1, 3, all, &comm) == TUTTI_OK);
  outcomes[boot->rank].calls++;
  if (boot->rank > 0) {
    report(boot, tutti_barrier(comm));
  } else {
    while (outcomes[1].calls == 0 || outcomes[2].calls == 0)
      sched_yield();
    tutti_comm_abort(comm, "a checkpoint comes first");
    for (int64_t until_ns = now_ns() + INT64_C(20000000000); now_ns() < until_ns;)
      if (outcomes[1].status >= 0 && outcomes[2].status >= 0)
        break;
    CHECK(outcomes[1].status >= 0 && outcomes[2].status >= 0);
  }
  leave_all(context, comm);
}

static void test_abort_reaches_ranks_that_were_not_met(void **state) {
  (void)state;
  run_job(3, abort_and_compute, NULL);
  for (int r = 1; r < 3; r++)
    assert_outcome(r, TUTTI_ERR_ABORTED, "rank 0 aborted: a checkpoint comes first");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_stopped_rank_is_named_under_a_timeout),
      FAULT_TEST(test_ranks_that_never_yield_keep_to_a_timeout),
      FAULT_TEST(test_silence_alone_is_no_error),
      FAULT_TEST(test_rank_stopped_at_any_moment_is_a_timeout),
      FAULT_TEST(test_stop_is_no_part_of_a_time_limit),
      FAULT_TEST(test_stop_is_no_part_of_a_time_limit_where_nobody_waits),
      FAULT_TEST(test_rank_stopped_while_it_opens_its_part_is_named),
      FAULT_TEST(test_abort_ends_calls_of_all_ranks_with_its_reason),
      FAULT_TEST(test_what_a_rank_writes_after_an_abort_is_nobodys_result),
      FAULT_TEST(test_abort_reaches_ranks_that_were_not_met),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}
