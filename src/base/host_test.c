/* Which machine this is: the same for all processes here, another one in namespaces that shared memory does not cross.
 */
#include "base/base.h"

#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* tt_host of a process in other namespaces; 0: the system does not permit them. */
static uint64_t host_in(int namespaces) {
  uint64_t host = 0;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t process = fork();
  if (process == 0) {
    if (unshare(namespaces) == 0 && (namespaces != CLONE_NEWPID || (process = fork()) == 0))
      host = tt_host();
    bool waits = process > 0;
    if (!waits && write(ends[1], &host, sizeof host) != (ssize_t)sizeof host)
      abort();
    if (waits)
      waitpid(process, NULL, 0);
    _exit(0);
  }
  assert_int_equal(read(ends[0], &host, sizeof host), sizeof host);
  waitpid(process, NULL, 0);
  close(ends[0]);
  close(ends[1]);
  return host;
}

static void test_processes_of_a_machine_agree(void **state) {
  (void)state;
  assert_true(tt_host() != 0);
  assert_true(tt_host() == tt_host());
  assert_true(host_in(0) == tt_host());
}

static void test_namespace_is_another_machine(void **state) {
  (void)state;
  uint64_t network = host_in(CLONE_NEWNET), processes = host_in(CLONE_NEWPID);
  if (network == 0 || processes == 0) {
    puts("namespaces are not permitted here");
    skip();
  }
  assert_true(network != tt_host() && processes != tt_host() && network != processes);
}

static void test_memory_is_that_of_the_machine_at_most(void **state) {
  (void)state;
  int64_t all = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
  assert_true(tt_host_memory_bytes() > 0 && tt_host_memory_bytes() <= all);
}

/* ---- control groups ---- */

typedef struct limited {
  const char *groups; /* /proc/self/cgroup */
  bool old;           /* version 1 */
  const char *folder, *limit, *used, *statistics;
  int64_t left;
} limited;

static void put(const char *folder, const char *name, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
  FILE *out = fopen(path, "w");
  if (!out || fputs(text, out) < 0 || fclose(out) != 0)
    abort();
}

/* In folders of its own, which only the calling process sees: what tt_host_memory_bytes says; -1: not permitted. */
static int64_t ask_in(const limited *of) {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", "/sys", "tmpfs", 0, NULL) != 0 || mount("none", "/proc", "tmpfs", 0, NULL) != 0)
    return -1;
  put("/proc", "meminfo", "MemTotal:  9000 kB\nMemFree:  1 kB\nMemAvailable:    4000 kB\n");
  put("/proc/self", "cgroup", of->groups);
  put(of->folder, of->old ? "memory.limit_in_bytes" : "memory.max", of->limit);
  put(of->folder, of->old ? "memory.usage_in_bytes" : "memory.current", of->used);
  put(of->folder, "memory.stat", of->statistics);
  return tt_host_memory_bytes();
}

static int64_t memory_in(const limited *of) {
  int64_t bytes = -1;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  pid_t process = fork();
  if (process == 0) {
    bytes = ask_in(of);
    _exit(write(ends[1], &bytes, sizeof bytes) == (ssize_t)sizeof bytes ? 0 : 1);
  }
  close(ends[1]);
  assert_int_equal(read(ends[0], &bytes, sizeof bytes), sizeof bytes);
  waitpid(process, NULL, 0);
  close(ends[0]);
  return bytes;
}

#define NEW "/sys/fs/cgroup"
#define OLD "/sys/fs/cgroup/memory"
#define NEW_FILES "anon 5\ninactive_file 100000\nactive_file 200000\nslab_reclaimable 50000\nslab 70000\n"
#define OLD_FILES "inactive_file 7\nactive_file 8\ntotal_inactive_file 100000\ntotal_active_file 200000\n"
#define MACHINE (INT64_C(4000) * 1024)

static void test_memory_is_what_control_groups_leave_or_could_give_up(void **state) {
  (void)state;
  static const limited cases[] = {
      {"0::/a/b\n", false, NEW "/a/b", "1000000\n", "900000\n", NEW_FILES, 450000},
      {"0::/a/b\n", false, NEW "/a", "1000000\n", "900000\n", NEW_FILES, 450000},
      {"0::/a/b\n", false, NEW, "1000000\n", "900000\n", NEW_FILES, 450000},
      {"0::/a/b\n", false, NEW "/a/c", "1000000\n", "900000\n", NEW_FILES, MACHINE},
      {"0::/a/b\n", false, NEW "/a/b", "1000000\n", "2000000\n", NEW_FILES, 0},
      {"0::/a/b\n", false, NEW "/a/b", "max\n", "900000\n", NEW_FILES, MACHINE},
      {"5:name=memory:/x\n4:cpu,memory:/a/b\n0::/\n", true, OLD "/a/b", "1000000\n", "900000\n", OLD_FILES, 400000},
      {"4:memory,cpu:/a/b\n", true, OLD "/a", "1000000\n", "900000\n", OLD_FILES, 400000},
      {"4:memory:/docker/of-the-host\n", true, OLD, "1000000\n", "900000\n", OLD_FILES, 400000},
      {"4:cpu:/a/b\n", true, OLD "/a/b", "1000000\n", "900000\n", OLD_FILES, MACHINE},
      {"4:memory:/a\n", true, OLD "/a", "9223372036854771712\n", "0\n", OLD_FILES, MACHINE},
  };
  for (size_t n = 0; n < TT_COUNT(cases); n++) {
    int64_t bytes = memory_in(&cases[n]);
    if (bytes < 0) {
      puts("folders of its own are not permitted here");
      skip();
    }
    if (bytes != cases[n].left)
      fail_msg("%s%s: %" PRId64 " are left", cases[n].groups, cases[n].folder, bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_processes_of_a_machine_agree),
      cmocka_unit_test(test_namespace_is_another_machine),
      cmocka_unit_test(test_memory_is_that_of_the_machine_at_most),
      cmocka_unit_test(test_memory_is_what_control_groups_leave_or_could_give_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
