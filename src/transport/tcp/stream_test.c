/* Streams over tcp. */
#include "support/tcp.h"

#define WRONG_RAIL "192.0.2.1" /* the address of no machine */

static tutti_status open_lacking(const tutti_boot *boot, int64_t rail_count, void **self) {
  tt_rail rail[TT_RAILS_MOST];
  const tt_between_config config = loopback(rail, rail_count);
  if (boot->rank == 1)
    ((struct sockaddr_in *)&rail[0].address)->sin_addr.s_addr = htonl(0xc0000201);
  return tt_tcp_ops()->open(&config, boot, self);
}

#include "support/streams.inc"

int main(void) {
  const struct CMUnitTest tests[] = {STREAMS_TESTS};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
