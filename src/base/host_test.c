/* Which machine this is: the same for all processes here, another one in namespaces that shared memory does not cross.
 */
#include "base/base.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_processes_of_a_machine_agree),
      cmocka_unit_test(test_namespace_is_another_machine),
      cmocka_unit_test(test_memory_is_that_of_the_machine_at_most),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
