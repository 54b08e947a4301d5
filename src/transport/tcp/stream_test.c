/* Streams over tcp, between processes and over several rails: order and content, credits, many, large and tiny slots,
 * either end first, closing with data on its way. */
#include "support/tcp.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 70000, SLOTS = 1500 };

/* ---- all to all, at once ---- */

typedef struct end {
  tutti_stream *stream;
  uint64_t next, seed;
} end;

static uint64_t seed_of(int64_t source, int64_t reader, int64_t stream) {
  return ((uint64_t)source << 40) + ((uint64_t)reader << 32) + ((uint64_t)stream << 20);
}

static bool put_next(void *self, end *at, size_t most) {
  uint64_t seed = at->seed + at->next;
  bool put_one = put(self, at->stream, size_of(seed, most), seed);
  at->next += put_one;
  return put_one;
}

static bool take_next(void *self, end *at, size_t most) {
  uint64_t seed = at->seed + at->next;
  bool took_one = take(self, at->stream, size_of(seed, most), seed);
  at->next += took_one;
  return took_one;
}

typedef struct traffic {
  int64_t rails, streams; /* streams: of each pair and direction */
  size_t most;
  uint64_t slots;
} traffic;

static void exchange(const tutti_boot *boot, void *argument) {
  const traffic *as = argument;
  void *self = open_rank(boot, as->rails);
  static end out[JOB_RANKS * 64], in[JOB_RANKS * 64];
  int64_t count = 0, rank = boot->rank;
  for (int64_t r = 0; r < boot->rank_count; r++)
    for (int64_t s = 0; r != rank && s < as->streams; s++, count++) {
      uint64_t id = (uint64_t)s << 32;
      out[count] = (end){open_end(self, id, rank, r, as->most), 0, seed_of(rank, r, s)};
      in[count] = (end){open_end(self, id, r, rank, as->most), 0, seed_of(r, rank, s)};
    }
  for (int64_t through = 0; through < 2 * count;) {
    bool moved = false;
    through = 0;
    for (int64_t n = 0; n < count; n++) {
      while (out[n].next < as->slots && put_next(self, &out[n], as->most))
        moved = true;
      while (in[n].next < as->slots && take_next(self, &in[n], as->most))
        moved = true;
      through += (out[n].next == as->slots) + (in[n].next == as->slots);
    }
    move_on(self, moved ? 0 : SECOND);
  }
  for (int64_t n = 0; n < count; n++)
    send_off(self, out[n].stream);
  for (int64_t n = 0; n < count; n++) {
    tt_tcp_ops()->stream_close(self, out[n].stream);
    tt_tcp_ops()->stream_close(self, in[n].stream);
  }
  close_rank(self);
}

static void test_slots_arrive_whole_and_in_order_on_one_rail(void **state) {
  (void)state;
  traffic as = {.rails = 1, .streams = 1, .most = MOST, .slots = SLOTS};
  assert_int_equal(job_run(2, exchange, &as), 0);
}

static void test_slots_arrive_whole_and_in_order_on_several_rails(void **state) {
  (void)state;
  traffic as = {.rails = 3, .streams = 2, .most = MOST, .slots = 300};
  assert_int_equal(job_run(4, exchange, &as), 0);
}

static void test_many_streams_do_not_disturb_each_other(void **state) {
  (void)state;
  traffic as = {.rails = 2, .streams = 60, .most = 2000, .slots = 60};
  assert_int_equal(job_run(3, exchange, &as), 0);
}

static void test_tiny_slots_arrive(void **state) {
  (void)state;
  traffic as = {.rails = 2, .streams = 1, .most = 0, .slots = 20000};
  assert_int_equal(job_run(2, exchange, &as), 0);
}

static void test_large_slots_arrive(void **state) {
  (void)state;
  traffic as = {.rails = 2, .streams = 1, .most = (size_t)64 << 20, .slots = 6};
  assert_int_equal(job_run(2, exchange, &as), 0);
}

static void test_a_job_of_one_rank_opens(void **state) {
  (void)state;
  traffic as = {.rails = 1};
  assert_int_equal(job_run(1, exchange, &as), 0);
}

/* ---- credits ---- */

static void fill_window(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  tutti_stream *there = open_end(self, 1, 0, 1, 100), *back = open_end(self, 2, 1, 0, 0);
  uint64_t count = 0;
  if (boot->rank == 0) {
    while (put(self, there, 100, count))
      count++;
    CHECK(count >= 2 && tt_tcp_ops()->unreleased(self, there) == count);
    put_now(self, back = open_end(self, 3, 0, 1, 8), 8, count);
    for (uint64_t n = 0; n < count; n++) /* half of it is free when half has been released, at the latest */
      if (n >= count / 2)
        put_now(self, there, 100, count + n - count / 2);
  } else {
    tutti_stream *number = open_end(self, 3, 0, 1, 8);
    const tutti_slot_header *header = NULL;
    const void *data;
    size_t bytes;
    while (!header) {
      CHECK(tt_tcp_ops()->peek(self, number, &header, &data, &bytes) == TUTTI_OK);
      move_on(self, header ? 0 : SECOND);
    }
    count = header->call;
    for (uint64_t n = 0; n < count + count - count / 2; n++)
      take_now(self, there, 100, n);
  }
  close_rank(self);
}

static void test_writer_waits_for_slots_to_be_released(void **state) {
  (void)state;
  assert_int_equal(job_run(2, fill_window, NULL), 0);
}

/* ---- opening and closing ---- */

/* Both directions of a stream of its own tell that the other rank has come so far. */
typedef struct signals {
  tutti_stream *out, *in;
  uint64_t sent, got;
} signals;

static signals open_signals(void *self, const tutti_boot *boot) {
  return (signals){.out = open_end(self, 1000, boot->rank, 1 - boot->rank, 0),
                   .in = open_end(self, 1000, 1 - boot->rank, boot->rank, 0)};
}

static void tell(void *self, signals *with) { put_now(self, with->out, 0, with->sent++); }
static void hear(void *self, signals *with) { take_now(self, with->in, 0, with->got++); }

static void open_late(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 2);
  signals with = open_signals(self, boot);
  if (boot->rank == 0) {
    tutti_stream *early = open_end(self, 5, 0, 1, 5000);
    for (uint64_t n = 0; n < 10; n++)
      put_now(self, early, 5000, n);
    send_off(self, early);
    tt_tcp_ops()->stream_close(self, early);
    tell(self, &with);
    hear(self, &with);
  } else {
    hear(self, &with);
    tutti_stream *late = open_end(self, 5, 0, 1, 5000);
    for (uint64_t n = 0; n < 10; n++)
      take_now(self, late, 5000, n);
    tell(self, &with);
  }
  close_rank(self);
}

static void test_what_was_sent_and_closed_waits_for_its_reader(void **state) {
  (void)state;
  assert_int_equal(job_run(2, open_late, NULL), 0);
}

/* Round n uses the same id: closed by the reader before it has read all, or anything; or not used at all. */
static void open_again(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 2);
  signals with = open_signals(self, boot);
  for (uint64_t n = 0; n < 200; n++) {
    tutti_stream *stream = open_end(self, 7, 0, 1, 3000);
    bool used = n % 5 != 1, blind = n % 5 == 2;
    if (boot->rank == 0) {
      for (uint64_t k = 0; used && k < 10; k++)
        put_now(self, stream, 3000, n * 100 + k);
    } else {
      for (uint64_t k = 0; used && !blind && k < (n % 2 ? 10 : 4); k++)
        take_now(self, stream, 3000, n * 100 + k);
    }
    tt_tcp_ops()->stream_close(self, stream);
    if (n % 3 == 0) {
      tell(self, &with);
      hear(self, &with);
    }
  }
  tell(self, &with);
  hear(self, &with);
  close_rank(self);
}

static void test_a_stream_opened_again_has_nothing_of_the_last(void **state) {
  (void)state;
  assert_int_equal(job_run(2, open_again, NULL), 0);
}

static void close_at_once(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 2);
  tutti_stream *stream = open_end(self, 1, 0, 1, 200000);
  if (boot->rank == 0) {
    for (uint64_t n = 0; n < 10; n++)
      put_now(self, stream, 200000, n);
  } else {
    for (uint64_t n = 0; n < 10; n++)
      take_now(self, stream, 200000, n);
  }
  close_rank(self);
}

/* Often: whether the goodbye is read before or after the connection's end is a matter of luck. */
static void test_closing_sends_off_what_was_committed(void **state) {
  (void)state;
  for (int n = 0; n < 20; n++)
    assert_int_equal(job_run(2, close_at_once, NULL), 0);
}

static void open_often(const tutti_boot *boot, void *argument) {
  (void)argument;
  for (uint64_t n = 0; n < 20; n++) {
    void *self = open_rank(boot, 2);
    signals with = open_signals(self, boot);
    tell(self, &with);
    hear(self, &with);
    close_rank(self);
  }
  int fd = dup(0);
  CHECK(fd >= 0 && fd < 12);
}

static void test_jobs_can_be_opened_again_and_leave_no_descriptor(void **state) {
  (void)state;
  assert_int_equal(job_run(2, open_often, NULL), 0);
}

/* ---- errors ---- */

static bool fails_with(void *self, const tutti_stream_spec *spec, tutti_status status, const char *text) {
  tutti_stream *stream = NULL;
  return tt_tcp_ops()->stream_open(self, spec, &stream) == status && !stream && strstr(tutti_last_error(), text);
}

static void misuse(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  const int64_t readers[] = {1, 0, 7};
  tutti_stream_spec spec = {.id = 4, .source = 0, .readers = readers, .reader_count = 2};
  CHECK(fails_with(self, &spec, TUTTI_ERR_UNSUPPORTED, "2 readers"));
  spec = (tutti_stream_spec){.id = 4, .source = boot->rank, .readers = readers + 2, .reader_count = 1};
  CHECK(fails_with(self, &spec, TUTTI_ERR_ARGUMENT, "rank 7"));
  spec = (tutti_stream_spec){.id = 4, .source = 0, .readers = readers + 1, .reader_count = 1};
  CHECK(fails_with(self, &spec, TUTTI_ERR_ARGUMENT, "stream 4"));
  spec = (tutti_stream_spec){
      .id = 4, .source = 0, .readers = readers, .reader_count = 1, .slot_bytes_minimum = (size_t)1 << 40};
  CHECK(fails_with(self, &spec, TUTTI_ERR_ARGUMENT, "1099511627776"));
  tutti_stream *stream = open_end(self, 4, 0, 1, 100);
  if (boot->rank == 0) {
    tutti_slot_header *header;
    void *data;
    size_t room;
    CHECK(tt_tcp_ops()->commit(self, stream, 1) == TUTTI_ERR_ARGUMENT);
    CHECK(tt_tcp_ops()->reserve(self, stream, &header, &data, &room) == TUTTI_OK && room >= 100);
    CHECK(tt_tcp_ops()->commit(self, stream, room + 1) == TUTTI_ERR_ARGUMENT);
  } else {
    spec = (tutti_stream_spec){.id = 4, .source = 0, .readers = readers, .reader_count = 1};
    CHECK(tt_tcp_ops()->release(self, stream) == TUTTI_ERR_ARGUMENT);
    CHECK(fails_with(self, &spec, TUTTI_ERR_ARGUMENT, "open already"));
  }
  close_rank(self);
}

static void test_misuse_is_reported(void **state) {
  (void)state;
  assert_int_equal(job_run(2, misuse, NULL), 0);
}

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
      cmocka_unit_test(test_slots_arrive_whole_and_in_order_on_one_rail),
      cmocka_unit_test(test_slots_arrive_whole_and_in_order_on_several_rails),
      cmocka_unit_test(test_many_streams_do_not_disturb_each_other),
      cmocka_unit_test(test_tiny_slots_arrive),
      cmocka_unit_test(test_large_slots_arrive),
      cmocka_unit_test(test_a_job_of_one_rank_opens),
      cmocka_unit_test(test_writer_waits_for_slots_to_be_released),
      cmocka_unit_test(test_what_was_sent_and_closed_waits_for_its_reader),
      cmocka_unit_test(test_a_stream_opened_again_has_nothing_of_the_last),
      cmocka_unit_test(test_closing_sends_off_what_was_committed),
      cmocka_unit_test(test_jobs_can_be_opened_again_and_leave_no_descriptor),
      cmocka_unit_test(test_misuse_is_reported),
      cmocka_unit_test(test_what_one_rank_lacks_is_everyones_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
