/* A program that computes on the core which a rank gives away is found, as often as it is looked for. */
#include "wait/wait.h"

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LONGEST_NS 60000000000 /* for finding it on a machine that does other things, too */

/* One core for this process and what it forks. */
static void take_one_core(void) {
  cpu_set_t set;
  assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
  size_t core = 0;
  while (!CPU_ISSET(core, &set))
    core++;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

static pid_t start_computing(void) {
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile uint64_t n = 0;; n = n + 1)
      ;
  }
  assert_true(child > 0);
  return child;
}

static bool is_expected_within(tt_contention *contention, int64_t longest_ns) {
  int64_t until_ns = tt_clock_ns() + longest_ns;
  while (!tt_contention_expected(contention, tt_clock_ns()) && tt_clock_ns() < until_ns)
    tt_contention_yield(contention);
  return tt_contention_expected(contention, tt_clock_ns());
}

static void test_program_that_computes_is_found(void **state) {
  (void)state;
  tt_contention contention = {0};
  int64_t process[] = {getpid(), getpid()}; /* ranks that are threads */
  take_one_core();
  assert_int_equal(tt_contention_open(&contention, process, 2), TUTTI_OK);
  assert_int_equal(contention.process_count, 1);
  pid_t child = start_computing();
  for (int n = 0; n < 3; n++) { /* again and again, as long as it is there */
    assert_true(is_expected_within(&contention, LONGEST_NS));
    int64_t for_ns = atomic_load_explicit(&contention.news->for_ns, memory_order_relaxed);
    assert_true(for_ns > 0 &&
                atomic_load_explicit(&contention.news->until_ns, memory_order_relaxed) <= tt_clock_ns() + for_ns);
    while (tt_contention_expected(&contention, tt_clock_ns()))
      usleep(1000);
  }
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  tt_contention_close(&contention);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_program_that_computes_is_found)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
