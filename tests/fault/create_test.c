/* Creation of contexts and communicators: ranks that never come, that die before, or that differ are named, in bounded
 * time. */
#include "fault/fault.h"

#include "api/api.h"
#include "boot/boot.h"

#include <poll.h>
#include <sys/syscall.h>

#define SECOND 1000000000ll

static tutti_status create(const tutti_boot *boot, int64_t timeout_ns, tutti_context **context) {
  tutti_context_options options;
  alarm(HANG_S);
  tutti_context_options_init(&options);
  options.boot = boot;
  options.timeout_ns = timeout_ns;
  return tutti_context_create(&options, context);
}

/* ---- with the boot of `tutti run`, served by the test ---- */

/* Serves until the child has ended. */
static void serve(tt_boot_server *server, pid_t pid, int64_t rank) {
  int ended = (int)syscall(SYS_pidfd_open, pid, 0);
  struct pollfd ready[] = {{.fd = tt_boot_server_fd(server), .events = POLLIN}, {.fd = ended, .events = POLLIN}};
  while (poll(ready, 2, -1) >= 0 && !ready[1].revents)
    tt_boot_server_serve(server);
  waitpid(pid, NULL, 0);
  tt_boot_server_lose(server, rank, "ended");
  close(ended);
}

static int gate[2]; /* a pipe: a rank that reads from it waits until the test closes it */

static void wait_at_gate(void) {
  char byte;
  close(gate[1]);
  CHECK(read(gate[0], &byte, 1) == 0);
}

static void be_rank(const tt_boot_server *server, int rank, int ranks, job_body body) {
  char text[16];
  tutti_boot own = {.rank = rank, .rank_count = ranks};
  snprintf(text, sizeof text, "%d", rank);
  setenv("TUTTI_RANK", text, 1);
  snprintf(text, sizeof text, "%d", ranks);
  setenv("TUTTI_SIZE", text, 1);
  setenv("TUTTI_BOOT", tt_boot_server_address(server), 1);
  body(&own, NULL);
  _exit(0);
}

/* Runs ranks that join through the environment. They end in the order of `order`; the last one may wait at the gate. */
static void run_launched(int ranks, const int *order, job_body body) {
  tt_boot_server *server;
  pid_t pid[JOB_RANKS];
  forget_outcomes();
  assert_int_equal(pipe(gate), 0);
  assert_int_equal(tt_boot_server_open(ranks, ranks, &server), TUTTI_OK);
  for (int r = 0; r < ranks; r++)
    if ((pid[r] = fork()) == 0)
      be_rank(server, r, ranks, body);
  for (int n = 0; n < ranks; n++) {
    if (n == ranks - 1)
      close(gate[1]);
    serve(server, pid[order[n]], order[n]);
  }
  close(gate[0]);
  tt_boot_server_close(server);
}

static void come_never(const tutti_boot *own, void *argument) {
  (void)argument;
  tutti_context *context = NULL;
  if (own->rank == 2)
    wait_at_gate();
  else
    report(own, create(NULL, 3 * SECOND, &context));
}

static void test_rank_that_never_comes_is_named(void **state) {
  (void)state;
  run_launched(3, (int[]){0, 1, 2}, come_never);
  assert_outcome(0, TUTTI_ERR_TIMEOUT, "rank 0 gave up waiting for ranks: 2");
  assert_outcome(1, TUTTI_ERR_TIMEOUT, "rank 1 gave up waiting for ranks: 2");
}

static void die_early(const tutti_boot *own, void *argument) {
  (void)argument;
  tutti_context *context = NULL;
  if (own->rank == 1)
    raise(SIGKILL);
  report(own, create(NULL, 0, &context));
}

static void test_rank_that_dies_before_it_joins_is_named(void **state) {
  (void)state;
  run_launched(3, (int[]){1, 0, 2}, die_early);
  assert_outcome(0, TUTTI_ERR_PEER, "rank 1 ended before it joined");
  assert_outcome(2, TUTTI_ERR_PEER, "rank 1 ended before it joined");
}

/* ---- with a boot of the user's ---- */

static void leave_rank_2_out(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context = NULL;
  if (boot->rank == 2)
    return;
  report(boot, create(boot, 3 * SECOND, &context));
  CHECK(context == NULL);
}

static void test_boot_that_fails_is_told(void **state) {
  (void)state;
  run_job(3, leave_rank_2_out, NULL);
  assert_outcome(0, TUTTI_ERR_PEER, "rank 0 gave up waiting for ranks: 2");
}

static void die_joined(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context = join_job(boot);
  tutti_comm *comm = NULL;
  if (boot->rank == 1)
    raise(SIGKILL);
  report(boot, tutti_comm_create(context, &comm));
  CHECK(comm == NULL);
  tutti_context_destroy(context);
}

static void test_rank_that_dies_before_a_communicator_is_named(void **state) {
  (void)state;
  job started = start_job(4, die_joined, NULL);
  assert_int_equal(job_wait(&started), 1);
  for (int r = 0; r < 4; r++)
    if (r != 1)
      assert_outcome(r, TUTTI_ERR_PEER, "rank 1 of the job");
}

static void come_to_no_comm(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context = NULL;
  tutti_comm *comm = NULL;
  CHECK(create(boot, 0, &context) == TUTTI_OK);
  context->create_timeout_ns = SECOND; /* of what follows, not of ranks that are late */
  if (boot->rank == 1)
    wait_at_gate();
  else
    report(boot, tutti_comm_create(context, &comm));
  CHECK(comm == NULL);
  tutti_context_destroy(context);
}

static void test_rank_that_never_comes_to_a_communicator_is_named(void **state) {
  (void)state;
  assert_int_equal(pipe(gate), 0);
  job started = start_job(3, come_to_no_comm, NULL);
  for (int r = 0; r < 3; r += 2)
    assert_int_equal(waitpid(started.pid[r], NULL, 0), started.pid[r]);
  close(gate[1]);
  assert_int_equal(job_wait(&started), 0);
  close(gate[0]);
  assert_outcome(0, TUTTI_ERR_TIMEOUT, "rank 1 has not come to it");
  assert_outcome(2, TUTTI_ERR_TIMEOUT, "(the context's own time limit)");
}

/* What is outstanding on the parent comes first, and lasts no longer. */
static void split_behind_a_call(const tutti_boot *boot, void *argument) {
  (void)argument;
  tutti_context *context;
  tutti_comm *comm = join_all(boot, &context), *part = NULL;
  tutti_request *request = NULL;
  int64_t in = 1, out = 0;
  context->create_timeout_ns = SECOND;
  if (boot->rank == 1) {
    wait_at_gate();
  } else {
    CHECK(tutti_allreduce_start(&in, &out, 1, TUTTI_INT64, TUTTI_SUM, comm, &request) == TUTTI_OK);
    report(boot, tutti_comm_split(comm, 0, 0, &part));
    CHECK(part == NULL && tutti_wait(&request) == TUTTI_ERR_TIMEOUT);
  }
  leave_all(context, comm);
}

static void test_rank_that_never_comes_to_a_call_before_a_split_is_named(void **state) {
  (void)state;
  assert_int_equal(pipe(gate), 0);
  job started = start_job(2, split_behind_a_call, NULL);
  assert_int_equal(waitpid(started.pid[0], NULL, 0), started.pid[0]);
  close(gate[1]);
  assert_int_equal(job_wait(&started), 0);
  close(gate[0]);
  assert_outcome(0, TUTTI_ERR_TIMEOUT, "(the context's own time limit): rank 1 has not come to it");
}

/* ---- ranks that differ ---- */

typedef struct variable {
  const char *name, *value; /* of rank 1 only */
  tutti_status status;
  const char *text;
} variable;

static void create_different(const tutti_boot *boot, void *argument) {
  const variable *of = argument;
  tutti_context *context = NULL;
  if (boot->rank == 1)
    setenv(of->name, of->value, 1);
  report(boot, create(boot, 0, &context));
  CHECK(context == NULL);
}

static void check_different(const variable *of) {
  run_job(3, create_different, (void *)(uintptr_t)of);
  for (int r = 0; r < 3; r++)
    assert_outcome(r, of->status, of->text);
}

static void test_ranks_that_differ_are_named(void **state) {
  (void)state;
  static const variable variables[] = {
      {"TUTTI_PARAMS", "ring", TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different parameters (TUTTI_PARAMS)"},
      {"TUTTI_GROUPS", "2,1", TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different group maps (TUTTI_GROUPS)"},
      {"TUTTI_GROUPS", "7x7", TUTTI_ERR_ARGUMENT, "rank 1: "},
      {"TUTTI_DIRECT_BYTES", "64", TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different sizes (TUTTI_DIRECT_BYTES"},
      {"TUTTI_SLOT_BYTES", "8K", TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different sizes"},
      {"TUTTI_MEDIUM", "slot", TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different media (TUTTI_MEDIUM)"},
      {"TUTTI_MEDIUM", "pigeon", TUTTI_ERR_ARGUMENT, "rank 1: TUTTI_MEDIUM is 'pigeon'; it may be cell, slot"},
      {"TUTTI_SLOT_COUNT", "2", TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different sizes"},
      {"TUTTI_FAR_SLOTS", "2", TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different sizes"},
      {"TUTTI_PROFILE", "/no/such/profile.json", TUTTI_ERR_ARGUMENT, "rank 1: /no/such/profile.json"},
  };
  for (size_t n = 0; n < sizeof variables / sizeof *variables; n++)
    check_different(&variables[n]);
}

static void test_profiles_that_differ_are_named(void **state) {
  (void)state;
  char path[] = "/tmp/tutti_profile_XXXXXX";
  const char *profile = "{\"name\": \"odd\", \"rules\": [{\"collective\": \"allreduce\", \"params\": \"ring\"}]}";
  int file = mkstemp(path);
  assert_int_equal(write(file, profile, strlen(profile)), strlen(profile));
  close(file);
  check_different(&(variable){"TUTTI_PROFILE", path, TUTTI_ERR_MISMATCH, "ranks 0 and 1 have different profiles"});
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FAULT_TEST(test_rank_that_never_comes_is_named),
      FAULT_TEST(test_rank_that_dies_before_it_joins_is_named),
      FAULT_TEST(test_boot_that_fails_is_told),
      FAULT_TEST(test_rank_that_dies_before_a_communicator_is_named),
      FAULT_TEST(test_rank_that_never_comes_to_a_communicator_is_named),
      FAULT_TEST(test_rank_that_never_comes_to_a_call_before_a_split_is_named),
      FAULT_TEST(test_ranks_that_differ_are_named),
      FAULT_TEST(test_profiles_that_differ_are_named),
  };
  return cmocka_run_group_tests(tests, fault_setup, NULL);
}
