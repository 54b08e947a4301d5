/* Streams over ucx. */
#include "support/ucx.h"

#include "support/streams.inc"

static void lack(const tutti_boot *boot, void *argument) {
  static const char *const wrong[] = {"nosuch"};
  tt_ucx_config config = loopback(1, boot->rank);
  if (boot->rank == 1 && argument)
    config.nic_count = 0;
  else if (boot->rank == 1)
    config.nic = wrong;
  if (config.nic == wrong)
    setenv("UCX_TLS", "tcp", 1); /* else UCX goes on without a NIC */
  void *self = NULL;
  CHECK(tt_ucx_ops()->open(&config, boot, &self) == TUTTI_ERR_SYSTEM && !self);
  CHECK(strstr(tutti_last_error(), "rank 1: ") && strstr(tutti_last_error(), argument ? "no NIC" : "NIC nosuch"));
}

static void test_what_one_rank_lacks_is_everyones_error(void **state) {
  (void)state;
  char yes;
  assert_int_equal(job_run(3, lack, &yes), 0);
  assert_int_equal(job_run(3, lack, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      STREAMS_TESTS,
      cmocka_unit_test(test_what_one_rank_lacks_is_everyones_error),
  };
  return prepare_ucx() ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
