/* What ucx does when processes are killed or stopped, compute, or leave. */
#include "support/ucx.h"

/* A rail that fails is the peer's end. */
static bool has_all_rails(void *self) { return tested->peer_dead(self, 1) == 0; }

#include "support/faults.inc"

int main(void) {
  const struct CMUnitTest tests[] = {FAULT_TESTS};
  return prepare_ucx() ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
