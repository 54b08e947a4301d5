/* What tcp does when something goes wrong: connections cut at random, processes that are killed or stopped or that
 * leave. */
#include "support/tcp.h"

static bool has_all_rails(void *self) {
  tt_tcp_counts counts[TT_TCP_RAILS];
  uint64_t retired = 0;
  for (int64_t r = tt_tcp_count(self, counts) - 1; r >= 0; r--)
    retired += counts[r].retired;
  return retired == 0;
}

#include "support/faults.inc"

/* ---- connections are cut ---- */

enum { MOST = 100000, SLOTS = 1000, CUTS = 20 };

/* Round the ring twice: after the first nobody cuts any more, and a goodbye is not lost with a connection. */
static void meet(void *self, int64_t rank, tutti_stream *out, tutti_stream *in) {
  for (uint64_t round = 0; round < 2; round++) {
    if (rank > 0)
      take_now(self, in, 0, round);
    put_now(self, out, 0, round);
    if (rank == 0)
      take_now(self, in, 0, round);
  }
  send_off(self, out);
}

/* Each rank sends to the next one and cuts a connection of its own now and then. */
static void cut_often(const tutti_boot *boot, void *argument) {
  int64_t rails = *(int64_t *)argument, count = boot->rank_count;
  void *self = open_rank(boot, rails);
  int64_t next = (boot->rank + 1) % count, last = (boot->rank + count - 1) % count;
  tutti_stream *out = open_end(self, 1, boot->rank, next, MOST), *in = open_end(self, 1, last, boot->rank, MOST);
  tt_random random;
  tt_random_init(&random, (uint64_t)boot->rank + 1);
  uint64_t sent = 0, got = 0, cuts = 0;
  while (sent < SLOTS || got < SLOTS) {
    uint64_t to = ((uint64_t)boot->rank << 32) + sent, from = ((uint64_t)last << 32) + got;
    bool put_one = sent < SLOTS && put(self, out, size_of(to, MOST), to);
    bool took_one = got < SLOTS && take(self, in, size_of(from, MOST), from);
    sent += put_one;
    got += took_one;
    if (sent + got > cuts * 2 * SLOTS / CUTS && cut_one(&random))
      cuts++;
    move_on(self, put_one || took_one ? 0 : SECOND);
  }
  CHECK(cuts >= CUTS / 2);
  tt_tcp_counts counts[TT_TCP_RAILS];
  uint64_t retired = 0, resent = 0;
  for (int64_t r = tt_tcp_count(self, counts) - 1; r >= 0; r--) {
    retired += counts[r].retired;
    resent += counts[r].resent;
  }
  CHECK(retired >= cuts / 2 && resent > 0);
  meet(self, boot->rank, out, in);
  close_rank(self);
}

static void test_cut_connections_lose_and_repeat_nothing(void **state) {
  (void)state;
  for (int64_t rails = 1; rails <= 3; rails += 2)
    assert_int_equal(job_run(2, cut_often, &rails), 0);
}

static void test_a_ring_of_ranks_survives_cuts(void **state) {
  (void)state;
  int64_t rails = 2;
  assert_int_equal(job_run(4, cut_often, &rails), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cut_connections_lose_and_repeat_nothing),
      cmocka_unit_test(test_a_ring_of_ranks_survives_cuts),
      FAULT_TESTS,
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
