/* Streams over tcp. */
#include "support/tcp.h"

#include "support/streams.inc"

static void lack(const tutti_boot *boot, void *argument) {
  tt_tcp_rail rail[TT_TCP_RAILS];
  tt_tcp_config config = loopback(rail, 1, boot->rank);
  if (boot->rank == 1 && argument)
    config.rail_count = 0;
  else if (boot->rank == 1)
    ((struct sockaddr_in *)&rail[0].address)->sin_addr.s_addr = htonl(0xc0000201); /* of no machine */
  void *self = NULL;
  CHECK(tt_tcp_ops()->open(&config, boot, &self) == TUTTI_ERR_SYSTEM && !self);
  CHECK(strstr(tutti_last_error(), "rank 1: ") && strstr(tutti_last_error(), argument ? "no NIC" : "192.0.2.1"));
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
  return cmocka_run_group_tests(tests, NULL, NULL);
}
