/* Jobs of `tutti run` that join over shared memory: this program is launcher of itself. As a rank it does what its
 * argument says. */
#include "boot/boot.h"
#include "support/job.h"
#include "transport/transport.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

static char self_path[4096];

/* ---- as a rank ---- */

static void *join(int64_t timeout_ns, tutti_status wanted, const char *text) {
  tt_boot *boot = NULL;
  void *self = NULL;
  tt_shm_config config = {.timeout_ns = timeout_ns};
  CHECK(tt_boot_open(timeout_ns, &boot) == TUTTI_OK);
  CHECK(tt_shm_ops()->open(&config, tt_boot_get(boot), &self) == wanted);
  CHECK(strstr(tutti_last_error(), text) != NULL);
  tt_boot_close(boot);
  return self;
}

static void join_twice(int64_t rank) {
  (void)rank;
  for (int n = 0; n < 2; n++)
    tt_shm_ops()->close(join(60 * SECOND, TUTTI_OK, ""));
}

static void exit_before_joining(int64_t rank) {
  if (rank == 1)
    _exit(0);
  join(3600 * SECOND, TUTTI_ERR_PEER, "rank 1 exited with code 0");
}

static void come_late(int64_t rank) {
  if (rank == 2)
    pause();
  join(SECOND / 5, TUTTI_ERR_TIMEOUT, "2");
}

static void die_joined(int64_t rank) {
  int64_t peer;
  void *self = join(60 * SECOND, TUTTI_OK, "");
  if (rank == 2)
    raise(SIGKILL);
  while (tt_shm_ops()->progress(self, &peer) == TUTTI_OK)
    tt_shm_ops()->wait(self, SECOND);
  CHECK(peer == 2);
  tt_shm_ops()->close(self);
}

static const struct role {
  const char *name;
  void (*run)(int64_t rank);
} roles[] = {{"twice", join_twice}, {"exit", exit_before_joining}, {"late", come_late}, {"die", die_joined}};

static int run_role(const char *name) {
  for (size_t r = 0; r < TT_COUNT(roles); r++)
    if (strcmp(roles[r].name, name) == 0)
      roles[r].run(tt_options_get()->set.rank);
  return 0;
}

/* ---- as the test ---- */

/* Exit code of a job of this program; its standard error goes to `text`. */
static int run_job(const char *seconds, const char *ranks, const char *role, char *text, size_t size) {
  char tutti[4096];
  snprintf(tutti, sizeof tutti, "%s/tutti", getenv("TUTTI_BIN") ? getenv("TUTTI_BIN") : "build/bin");
  int errors = memfd_create("errors", MFD_CLOEXEC), status = 0;
  pid_t pid = fork();
  if (pid == 0) {
    dup2(errors, STDERR_FILENO);
    execl(tutti, "tutti", "run", "--timeout", seconds, "--grace", "2s", "-n", ranks, self_path, role, (char *)NULL);
    _exit(99);
  }
  waitpid(pid, &status, 0);
  ssize_t length = pread(errors, text, size - 1, 0);
  text[length > 0 ? length : 0] = '\0';
  close(errors);
  fputs(text, stderr);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_ranks_join_leave_and_join_again(void **state) {
  (void)state;
  char text[4096];
  assert_int_equal(run_job("60", "1", "twice", text, sizeof text), 0);
  assert_int_equal(run_job("60", "5", "twice", text, sizeof text), 0);
  assert_string_equal(text, "");
}

static void test_rank_that_exits_before_joining_is_named_at_once(void **state) {
  (void)state;
  char text[4096];
  assert_int_equal(run_job("60", "3", "exit", text, sizeof text), 0);
  assert_string_equal(text, "");
}

static void test_rank_that_does_not_come_is_named_after_the_timeout(void **state) {
  (void)state;
  char text[4096];
  assert_int_equal(run_job("2", "3", "late", text, sizeof text), 124); /* the late one is ended by the job's timeout */
  assert_null(strstr(text, "CHECK"));
}

static void test_rank_that_is_killed_is_named(void **state) {
  (void)state;
  char text[4096];
  assert_int_equal(run_job("60", "3", "die", text, sizeof text), 128 + SIGKILL);
  assert_null(strstr(text, "CHECK"));
  assert_non_null(strstr(text, "rank 2 was ended by signal 9"));
}

int main(int argc, char **argv) {
  if (argc > 1)
    return run_role(argv[1]);
  ssize_t length = readlink("/proc/self/exe", self_path, sizeof self_path - 1);
  self_path[length > 0 ? length : 0] = '\0';
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks_join_leave_and_join_again),
      cmocka_unit_test(test_rank_that_exits_before_joining_is_named_at_once),
      cmocka_unit_test(test_rank_that_does_not_come_is_named_after_the_timeout),
      cmocka_unit_test(test_rank_that_is_killed_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
