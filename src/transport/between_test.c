/* What is asked of any transport between machines, between processes and over several rails: order and content,
 * credits, many, large and tiny slots, either end first, closing with data on its way. Every such row of the table is
 * tested; rails are addresses of loopback, which a transport that goes by names takes for one NIC. */
#include "support/streams.h"
#include "transport/between.h"
#include "transport/table.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MOST = 70000, SLOTS = 1500 };

static void set_address(tt_rail *rail, in_addr_t address) {
  struct sockaddr_in *at = (void *)&rail->address;
  at->sin_family = AF_INET;
  at->sin_addr.s_addr = htonl(address);
}

static tt_between_config loopback(tt_rail rail[TT_RAILS_MOST], int64_t rail_count) {
  for (int64_t r = 0; r < rail_count; r++) {
    rail[r] = (tt_rail){.name = "lo", .prefix_bits = 32};
    set_address(&rail[r], INADDR_LOOPBACK + (uint32_t)r);
  }
  return (tt_between_config){.rail = rail, .rail_count = rail_count, .timeout_ns = 60 * SECOND};
}

static void *open_rank(const tutti_boot *boot, int64_t rail_count) {
  tt_rail rail[TT_RAILS_MOST];
  const tt_between_config config = loopback(rail, rail_count);
  void *self = NULL;
  CHECK(tested->open(&config, boot, &self) == TUTTI_OK);
  return self;
}

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
    tested->stream_close(self, out[n].stream);
    tested->stream_close(self, in[n].stream);
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
    CHECK(count >= 2 && tested->unreleased(self, there) == count);
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
      CHECK(tested->peek(self, number, &header, &data, &bytes) == TUTTI_OK);
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
    tested->stream_close(self, early);
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
    tested->stream_close(self, stream);
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

/* The reader never opens what comes, but forgets it; of another id it forgets nothing. */
static void forget_some(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  signals with = open_signals(self, boot);
  tutti_stream *kept = open_end(self, 100, 0, 1, 3000);
  if (boot->rank == 0)
    put_now(self, kept, 3000, 1);
  for (uint64_t n = 0; n < 100; n++) {
    if (boot->rank == 0) {
      tutti_stream *stream = open_end(self, 101 + n % 3, 0, 1, 3000);
      for (uint64_t k = 0; k < n % 5; k++)
        put_now(self, stream, 3000, n * 100 + k);
      tested->stream_close(self, stream);
      tell(self, &with);
      hear(self, &with);
    } else {
      hear(self, &with);
      tested->forget(self, 101, 3);
      tell(self, &with);
    }
  }
  for (uint64_t n = 0; n < 3; n++) {
    tutti_stream *stream = open_end(self, 101 + n, 0, 1, 3000);
    if (boot->rank == 0)
      put_now(self, stream, 3000, n);
    else
      take_now(self, stream, 3000, n);
    tested->stream_close(self, stream);
  }
  if (boot->rank == 1)
    take_now(self, kept, 3000, 1);
  tell(self, &with);
  hear(self, &with);
  close_rank(self);
}

static void test_what_nobody_opens_is_forgotten(void **state) {
  (void)state;
  assert_int_equal(job_run(2, forget_some, NULL), 0);
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
  return tested->stream_open(self, spec, &stream) == status && !stream && strstr(tutti_last_error(), text);
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
    CHECK(tested->commit(self, stream, 1) == TUTTI_ERR_ARGUMENT);
    CHECK(tested->reserve(self, stream, &header, &data, &room) == TUTTI_OK && room >= 100);
    CHECK(tested->commit(self, stream, room + 1) == TUTTI_ERR_ARGUMENT);
  } else {
    spec = (tutti_stream_spec){.id = 4, .source = 0, .readers = readers, .reader_count = 1};
    CHECK(tested->release(self, stream) == TUTTI_ERR_ARGUMENT);
    CHECK(fails_with(self, &spec, TUTTI_ERR_ARGUMENT, "already open"));
  }
  close_rank(self);
}

static void test_misuse_is_reported(void **state) {
  (void)state;
  assert_int_equal(job_run(2, misuse, NULL), 0);
}

/* Rank 1 has no NIC, or one that its machine has not. */
static void lack(const tutti_boot *boot, void *argument) {
  int64_t rail_count = boot->rank == 1 ? *(int64_t *)argument : 1;
  tt_rail rail[TT_RAILS_MOST];
  const tt_between_config config = loopback(rail, rail_count);
  void *self = NULL;
  if (boot->rank == 1) {
    rail[0] = (tt_rail){.name = "nosuch", .prefix_bits = 32};
    set_address(&rail[0], 0xc0000201); /* 192.0.2.1, of no machine */
    setenv("UCX_TLS", "tcp", 1);       /* else UCX goes on without a NIC */
  }
  CHECK(tested->open(&config, boot, &self) == TUTTI_ERR_SYSTEM && !self);
  CHECK(strstr(tutti_last_error(), "rank 1: "));
  CHECK(strstr(tutti_last_error(), *(int64_t *)argument == 0 ? "no NIC" : "nosuch"));
}

static void test_what_one_rank_lacks_is_everyones_error(void **state) {
  (void)state;
  for (int64_t rail_count = 0; rail_count < 2; rail_count++)
    assert_int_equal(job_run(3, lack, &rail_count), 0);
}

/* ---- every row ---- */

static void test_is_not_built(void **state) {
  (void)state;
  skip();
}

static int test_row(const tt_transport *row) {
  static const struct CMUnitTest missing[] = {cmocka_unit_test(test_is_not_built)},
                                 tests[] = {
                                     cmocka_unit_test(test_slots_arrive_whole_and_in_order_on_one_rail),
                                     cmocka_unit_test(test_slots_arrive_whole_and_in_order_on_several_rails),
                                     cmocka_unit_test(test_many_streams_do_not_disturb_each_other),
                                     cmocka_unit_test(test_tiny_slots_arrive),
                                     cmocka_unit_test(test_large_slots_arrive),
                                     cmocka_unit_test(test_a_job_of_one_rank_opens),
                                     cmocka_unit_test(test_writer_waits_for_slots_to_be_released),
                                     cmocka_unit_test(test_what_was_sent_and_closed_waits_for_its_reader),
                                     cmocka_unit_test(test_a_stream_opened_again_has_nothing_of_the_last),
                                     cmocka_unit_test(test_what_nobody_opens_is_forgotten),
                                     cmocka_unit_test(test_closing_sends_off_what_was_committed),
                                     cmocka_unit_test(test_jobs_can_be_opened_again_and_leave_no_descriptor),
                                     cmocka_unit_test(test_misuse_is_reported),
                                     cmocka_unit_test(test_what_one_rank_lacks_is_everyones_error),
                                 };
  tested = row->ops();
  print_message("%s:\n", row->name);
  return tested ? cmocka_run_group_tests(tests, NULL, NULL) : cmocka_run_group_tests(missing, NULL, NULL);
}

/* What UCX reads when it is loaded, in the ranks. */
static void prepare_ucx(void) {
  setenv("UCX_TLS", "tcp,self", 0);
  setenv("UCX_VFS_ENABLE", "n", 0); /* a thread that stays when it is no longer used */
  setenv("UCX_MEM_EVENTS", "n", 0); /* it would patch the memory functions that the thread sanitizer has patched */
}

int main(void) {
  size_t count;
  const tt_transport *row = tt_transport_table(&count);
  int failed = 0;
  prepare_ucx();
  for (size_t n = 0; n < count; n++)
    if (row[n].reach == TT_REACH_MACHINES)
      failed += test_row(&row[n]);
  return failed;
}
