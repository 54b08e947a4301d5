/* Streams over ucx. */
#include "support/ucx.h"

#define WRONG_RAIL "NIC nosuch"

static tutti_status open_lacking(const tutti_boot *boot, int64_t rail_count, void **self) {
  tt_rail rail[TT_RAILS_MOST];
  const tt_between_config config = loopback(rail, rail_count);
  if (boot->rank == 1) {
    rail[0] = (tt_rail){.name = "nosuch"};
    setenv("UCX_TLS", "tcp", 1); /* else UCX goes on without a NIC */
  }
  return tt_ucx_ops()->open(&config, boot, self);
}

#include "support/streams.inc"

int main(void) {
  const struct CMUnitTest tests[] = {STREAMS_TESTS};
  return prepare_ucx() ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
