/* tests/fault/fault.h - what the fault tests share: outcomes that ranks leave behind, calls of every kind, and a look
 * at what a job has left.
 *
 * Ranks are forked processes (support/job.h). What a rank saw lies in memory shared with the test, so that the test
 * judges it after the rank has ended. A rank that hangs is ended by its alarm, and the case fails. */
#ifndef TEST_FAULT_FAULT_H
#define TEST_FAULT_FAULT_H

#include "support/job.h"
#include "support/sanitized.h"

#include <tutti/tutti.h>

#include <dirent.h>
#include <execinfo.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#define HANG_S 60

int __lsan_do_recoverable_leak_check(void) __attribute__((weak));

/* Where the address sanitizer is: a rank ends without exit, which would look. */
static inline void check_leaks(void) {
  CHECK(!__lsan_do_recoverable_leak_check || __lsan_do_recoverable_leak_check() == 0);
}

typedef struct outcome {
  int status; /* -1: the rank came to no verdict */
  int64_t at_ns;
  _Atomic int64_t calls; /* completed */
  char text[1024];
} outcome;

static outcome *outcomes; /* [JOB_RANKS] */

static inline int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline bool long_mode(void) {
  const char *text = getenv("TUTTI_TEST_LONG");
  return text && strcmp(text, "1") == 0;
}

static inline uint64_t random_next(uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static inline int64_t random_below(uint64_t *state, int64_t limit) {
  return (int64_t)(random_next(state) % (uint64_t)limit);
}

/* ---- in a rank ---- */

static inline void report(const tutti_boot *boot, tutti_status status) {
  outcome *own = &outcomes[boot->rank];
  own->at_ns = now_ns();
  snprintf(own->text, sizeof own->text, "%s", tutti_last_error());
  own->status = (int)status;
}

/* A rank that does not come to its end says where it is. */
static inline void tell_hang(int number) {
  static const char text[] = "this rank hangs, here:\n";
  void *trace[64];
  if (write(STDERR_FILENO, text, sizeof text - 1) > 0)
    backtrace_symbols_fd(trace, backtrace(trace, 64), STDERR_FILENO);
  signal(number, SIG_DFL);
  raise(number);
}

static inline void limit_time(void) {
  void *trace;
  backtrace(&trace, 1); /* loads what it needs, which a handler must not */
  signal(SIGALRM, tell_hang);
  alarm(HANG_S);
}

static inline tutti_context *join_job(const tutti_boot *boot) {
  tutti_context_options options;
  tutti_context *context = NULL;
  limit_time();
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  return context;
}

static inline tutti_comm *join_all(const tutti_boot *boot, tutti_context **context) {
  tutti_comm *comm = NULL;
  *context = join_job(boot);
  CHECK(tutti_comm_create(*context, &comm) == TUTTI_OK);
  return comm;
}

/* Returns when all ranks have left their calls before it: who is still in one gets the error that another one runs into
 * in the next, or causes. Others may still be in this one, so that it is not for who dies next. */
static inline void meet_all(tutti_context *context) {
  tutti_comm *comm = NULL;
  CHECK(tutti_comm_create(context, &comm) == TUTTI_OK);
  tutti_comm_destroy(comm);
}

/* Returns when all ranks have come here, by memory alone: a death concerns only later calls. Once in a job. */
static inline void meet_before_death(const tutti_boot *boot) {
  outcomes[boot->rank].calls++;
  for (int64_t r = 0; r < boot->rank_count; r++)
    while (outcomes[r].calls == 0)
      sched_yield();
}

static inline void leave_all(tutti_context *context, tutti_comm *comm) {
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

/* ---- in the test ---- */

static inline void forget_outcomes(void) {
  for (int r = 0; r < JOB_RANKS; r++)
    outcomes[r] = (outcome){.status = -1};
}

/* A rank that crashes ends; it does not go on as a second test, as cmocka's handlers would have it. */
static inline void let_crash(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
  for (size_t n = 0; n < sizeof signals / sizeof *signals; n++)
    signal(signals[n], SIG_DFL);
}

static inline job start_job(int count, job_body body, void *argument) {
  forget_outcomes();
  let_crash();
  return job_start(count, body, argument);
}

/* Runs the job; every rank must have come to its end. */
static inline void run_job(int count, job_body body, void *argument) {
  job started = start_job(count, body, argument);
  assert_int_equal(job_wait(&started), 0);
}

/* The rank got this error, and its text says so. */
static inline void assert_outcome(int rank, tutti_status status, const char *text) {
  const outcome *of = &outcomes[rank];
  if (of->status != (int)status || !strstr(of->text, text))
    print_error("rank %d: %s '%s', expected %s '%s'\n", rank,
                of->status < 0 ? "nothing" : tutti_status_name((tutti_status)of->status), of->text,
                tutti_status_name(status), text);
  assert_int_equal(of->status, status);
  assert_non_null(strstr(of->text, text));
}

static inline int entries_of(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
    count += entry->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

static bool own_folders; /* /tmp and /dev/shm are ours alone */
static int descriptors;  /* of the test, before any case */

/* A mount namespace of this process's own. In a chroot the root is no mount, so that nobody can say that what is
 * mounted below is private: there the namespace's own root is, and the chroot is mounted below it once more. */
static inline bool own_mounts(void) {
  char root_path[64], here[4096];
  if (unshare(CLONE_NEWNS) != 0)
    return false;
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0)
    return true;
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), names = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
  snprintf(root_path, sizeof root_path, "/proc/self/fd/%d", root);
  bool made = root >= 0 && names >= 0 && getcwd(here, sizeof here) && setns(names, CLONE_NEWNS) == 0 &&
              mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
              mount(root_path, "/mnt", NULL, MS_BIND | MS_REC, NULL) == 0 && chroot("/mnt") == 0 && chdir(here) == 0;
  close(root);
  close(names);
  return made;
}

/* Where it is permitted, the test gets an empty /tmp and /dev/shm of its own, so that anything left in them is a job's.
 */
static inline int fault_setup(void **state) {
  (void)state;
  outcomes = mmap(NULL, JOB_RANKS * sizeof *outcomes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  own_folders =
      own_mounts() && mount("none", "/tmp", "tmpfs", 0, NULL) == 0 && mount("none", "/dev/shm", "tmpfs", 0, NULL) == 0;
  if (!own_folders)
    print_message("no mount namespace is permitted: what is left in /tmp and /dev/shm is not looked at\n");
  descriptors = entries_of("/proc/self/fd");
  return outcomes == MAP_FAILED;
}

/* After each case: no child, no zombie, no descriptor, no file. */
static inline int fault_teardown(void **state) {
  (void)state;
  assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
  assert_int_equal(errno, ECHILD);
  assert_int_equal(entries_of("/proc/self/fd"), descriptors);
  if (own_folders) {
    assert_int_equal(entries_of("/tmp"), 0);
    assert_int_equal(entries_of("/dev/shm"), 0);
  }
  return 0;
}

#define FAULT_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, fault_teardown)

#endif
