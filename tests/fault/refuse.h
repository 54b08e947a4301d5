/* tests/fault/refuse.h - what tests of refused calls share: jobs on one machine and on several, ranks that wait for
 * others outside of tutti, and what is expected of a refusal. */
#ifndef TEST_FAULT_REFUSE_H
#define TEST_FAULT_REFUSE_H

#include "fault/fault.h"

static inline void expect_all(int ranks, tutti_status status, const char *text) {
  for (int r = 0; r < ranks; r++)
    assert_outcome(r, status, text);
}

/* What orders ranks here is no part of tutti: it looks at no call for them meanwhile. */
static inline void go_on(const tutti_boot *boot) { outcomes[boot->rank].calls++; }

static inline void await(int rank, int64_t calls) {
  while (outcomes[rank].calls < calls)
    sched_yield();
}

static inline int forget_nodes(void **state) {
  unsetenv("TUTTI_NODES");
  return fault_teardown(state);
}

/* The job on one machine, and on those that TUTTI_NODES says, up to NULL. */
static inline void run_across(int ranks, const char *const *nodes, job_body body, void *argument,
                              void (*check)(void *argument)) {
  run_job(ranks, body, argument);
  check(argument);
  for (; *nodes; nodes++) {
    setenv("TUTTI_NODES", *nodes, 1);
    run_job(ranks, body, argument);
    check(argument);
  }
}

static inline void check_refused(tutti_status status, const char *text) {
  if (status != TUTTI_ERR_REFUSED || !strstr(tutti_last_error(), text))
    fprintf(stderr, "%s '%s', expected '%s'\n", tutti_status_name(status), tutti_last_error(), text);
  CHECK(status == TUTTI_ERR_REFUSED && strstr(tutti_last_error(), text));
}

static inline void expect_three(void *argument) {
  (void)argument;
  expect_all(3, TUTTI_OK, "");
}

#define NODES_TEST(name) cmocka_unit_test_setup_teardown(name, NULL, forget_nodes)

#endif
