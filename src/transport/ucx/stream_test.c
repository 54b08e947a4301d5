/* Streams over ucx. */
#include "support/ucx.h"

#define WRONG_RAIL "NIC nosuch"

static tutti_status open_lacking(const tutti_boot *boot, int64_t rail_count, void **self) {
  static const char *const wrong[] = {"nosuch"};
  tt_ucx_config config = loopback(rail_count);
  if (boot->rank == 1) {
    config.nic = wrong;
    setenv("UCX_TLS", "tcp", 1); /* else UCX goes on without a NIC */
  }
  return tt_ucx_ops()->open(&config, boot, self);
}

#include "support/streams.inc"

int main(void) {
  const struct CMUnitTest tests[] = {STREAMS_TESTS};
  return prepare_ucx() ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
