/* A rank is killed at a random moment while all loop over collectives of random kind and size: every other rank gets an
 * error that names it. How long that took is printed; it fails above 30 s, which is no matter of the machine's load. */
#include "conformance/invoke.h"
#include "fault/fault.h"

#include <inttypes.h>

#define BOUND_NS 30000000000
#define LONGEST 40000 /* elements of a call */
#define COMMS 2

typedef struct plan_of_death {
  uint64_t seed;
  int victim;
  int64_t after_calls, after_ns;
} plan_of_death;

typedef struct worker {
  const tutti_boot *boot;
  tutti_comm *comm[COMMS]; /* everyone; every other rank */
  int32_t *in, *out;
  uint64_t random;
} worker;

/* From now on the kernel ends this process whenever the time is over, whatever it does then. */
static void die_in(int64_t ns) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  struct itimerspec when = {.it_value = {.tv_sec = 0, .tv_nsec = ns + 1}};
  timer_t timer;
  CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  CHECK(timer_settime(timer, 0, &when, NULL) == 0);
}

typedef struct choice {
  tt_collective collective; /* one without lists */
  int mode;                 /* blocking; started and waited for, or tested */
  int64_t count, root;
  tutti_comm *comm;
} choice;

/* The same on all ranks, since all have the same seed. */
static choice choose(worker *self) {
  static const int64_t counts[] = {0, 1, 7, 200, 900, 5000, LONGEST};
  choice made = {.collective = (tt_collective)random_below(&self->random, TT_EXSCAN + 1),
                 .mode = (int)random_below(&self->random, 3)};
  made.count = counts[random_below(&self->random, 7)];
  made.comm = self->comm[random_below(&self->random, 4) == 0];
  made.root = random_below(&self->random, 1000);
  return made;
}

/* A blocking call, or one that is started. */
static tutti_status begin(worker *self, const choice *of, tutti_request **request) {
  const call_arguments arguments = {.in = self->in,
                                    .out = self->out,
                                    .count = of->count,
                                    .type = TUTTI_INT32,
                                    .op = TUTTI_SUM,
                                    .root = of->root % tutti_comm_size(of->comm),
                                    .comm = of->comm};
  return call_invoke(of->collective, of->mode == 0 ? CALL_BLOCK : CALL_START, &arguments, request);
}

static tutti_status complete(tutti_request **request, bool polls) {
  if (!polls)
    return tutti_wait(request);
  int done = 0;
  tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK && !done)
    status = tutti_test(request, &done);
  return status;
}

static tutti_status one_call(worker *self) {
  choice of = choose(self);
  tutti_request *request = NULL;
  tutti_status status = begin(self, &of, &request);
  return status == TUTTI_OK && request ? complete(&request, of.mode == 2) : status;
}

static void work(const tutti_boot *boot, void *argument) {
  const plan_of_death *death = argument;
  worker self = {.boot = boot, .random = death->seed};
  tutti_context *context;
  size_t bytes = (size_t)boot->rank_count * LONGEST * sizeof(int32_t);
  self.in = calloc(1, bytes);
  self.out = calloc(1, bytes);
  self.comm[0] = join_all(boot, &context);
  /* The victim may be through with it, and dead, while others are in it. */
  tutti_status status = tutti_comm_split(self.comm[0], boot->rank % 2, 0, &self.comm[1]);
  while (status == TUTTI_OK) {
    if (boot->rank == death->victim && outcomes[boot->rank].calls == death->after_calls)
      die_in(death->after_ns);
    status = one_call(&self);
    outcomes[boot->rank].calls++;
  }
  report(boot, status);
  tutti_comm_destroy(self.comm[1]);
  leave_all(context, self.comm[0]);
  free(self.in);
  free(self.out);
}

/* Ends when the victim is dead; a zombie of it may stay while the others notice. */
static int64_t wait_for_death(const job *started, int victim, bool reap) {
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)started->pid[victim], &info, WEXITED | (reap ? 0 : WNOWAIT)), 0);
  int64_t died_ns = now_ns();
  assert_int_equal(info.si_code, CLD_KILLED);
  assert_int_equal(info.si_status, SIGKILL);
  return died_ns;
}

static void judge_survivor(const plan_of_death *death, int rank, int64_t died_ns, int64_t *slowest_ns) {
  char name[64];
  snprintf(name, sizeof name, "rank %d of the job", death->victim);
  assert_outcome(rank, TUTTI_ERR_PEER, name);
  int64_t took_ns = outcomes[rank].at_ns - died_ns;
  *slowest_ns = took_ns > *slowest_ns ? took_ns : *slowest_ns;
}

/* Runs one job with one death; returns how long the slowest survivor took to notice. */
static int64_t run_death(int ranks, plan_of_death *death, bool reap) {
  job started = start_job(ranks, work, death);
  int64_t died_ns = wait_for_death(&started, death->victim, reap), slowest_ns = 0;
  assert_int_equal(job_wait(&started), reap ? 0 : 1);
  for (int r = 0; r < ranks; r++)
    if (r != death->victim)
      judge_survivor(death, r, died_ns, &slowest_ns);
  return slowest_ns;
}

static void kill_many(int cases) {
  static const int sizes[] = {2, 3, 4, 8};
  uint64_t random = (uint64_t)now_ns();
  int64_t slowest_ns = 0;
  print_message("seed %" PRIu64 "\n", random);
  for (int n = 0; n < cases; n++) {
    int ranks = sizes[n % 4];
    plan_of_death death = {.seed = random_next(&random), .victim = (int)random_below(&random, ranks)};
    death.after_calls = random_below(&random, 60);
    death.after_ns = random_below(&random, 2000000);
    int64_t took_ns = run_death(ranks, &death, n / 4 % 2 == 0);
    slowest_ns = took_ns > slowest_ns ? took_ns : slowest_ns;
  }
  print_message("%d deaths, the slowest survivor noticed after %.1f ms\n", cases, (double)slowest_ns * 1e-6);
  assert_true(slowest_ns < BOUND_NS);
}

static void test_survivors_name_a_rank_that_is_killed_at_any_moment(void **state) {
  (void)state;
  kill_many(long_mode() ? 200 : 40);
}

/* That a rank is dead, and not its machine unreachable, takes a second. */
static void test_so_they_do_on_another_machine(void **state) {
  (void)state;
  setenv("TUTTI_NODES", "cyclic:2", 1);
  kill_many(long_mode() ? 200 : 16);
  unsetenv("TUTTI_NODES");
}

int main(void) {
  const struct CMUnitTest tests[] = {FAULT_TEST(test_survivors_name_a_rank_that_is_killed_at_any_moment),
                                     FAULT_TEST(test_so_they_do_on_another_machine)};
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}
