/* What tcp does when something goes wrong: connections cut at random, processes that are killed or stopped or that
 * leave. */
#include "support/tcp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

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

/* ---- a process ends ---- */

typedef enum ties { SENDS, BOTH } ties; /* what the survivor has had with the one that dies */

static bool learns_of_death(void *self, int64_t dead) {
  int64_t peer = -1;
  tutti_status status = TUTTI_OK;
  for (int64_t until_ns = tt_clock_ns() + 60 * SECOND; status == TUTTI_OK && tt_clock_ns() < until_ns;) {
    tt_tcp_ops()->wait(self, SECOND);
    status = tt_tcp_ops()->progress(self, &peer);
  }
  char text[32];
  snprintf(text, sizeof text, "rank %d died", (int)dead);
  return status == TUTTI_ERR_PEER && peer == dead && strstr(tutti_last_error(), text);
}

static void lose_peer(const tutti_boot *boot, void *argument) {
  ties had = *(ties *)argument;
  void *self = open_rank(boot, 2);
  tutti_stream *to = open_end(self, 1, 0, 1, 1000), *from = open_end(self, 1, 1, 0, 1000);
  if (boot->rank == 1) {
    if (had == BOTH)
      put_now(self, from, 1000, 5);
    take_now(self, to, 1000, 1);
    send_off(self, from);
    raise(SIGKILL);
  }
  put_now(self, to, 1000, 1);
  CHECK(learns_of_death(self, 1));
  CHECK(tt_tcp_ops()->peer_dead(self, 1) == 1 && tt_tcp_ops()->unsent(self, to) == 0);
  if (had == BOTH) /* what it sent before is used first */
    take_now(self, from, 1000, 5);
  const tutti_slot_header *header;
  const void *data;
  size_t bytes;
  CHECK(tt_tcp_ops()->peek(self, from, &header, &data, &bytes) == TUTTI_ERR_PEER);
  CHECK(strstr(tutti_last_error(), "rank 1 died"));
  int64_t peer = -1;
  CHECK(tt_tcp_ops()->progress(self, &peer) == TUTTI_OK && peer == -1); /* said once */
  close_rank(self);
}

static void test_killed_rank_is_seen_dead(void **state) {
  (void)state;
  for (ties had = SENDS; had <= BOTH; had++) {
    job started = job_start(2, lose_peer, &had);
    assert_int_equal(job_wait(&started), 1);
  }
}

/* Rank 0 only listens. */
static void hear_last_words(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  tutti_stream *from = open_end(self, 1, 1, 0, 1000);
  if (boot->rank == 1) {
    put_now(self, from, 1000, 5);
    send_off(self, from);
    raise(SIGKILL);
  }
  take_now(self, from, 1000, 5);
  CHECK(learns_of_death(self, 1));
  close_rank(self);
}

static void test_a_rank_that_only_receives_sees_the_death(void **state) {
  (void)state;
  job started = job_start(2, hear_last_words, NULL);
  assert_int_equal(job_wait(&started), 1);
}

/* ---- a process is stopped ---- */

static bool is_stopped(pid_t pid) {
  char path[64], state = '?';
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
  fclose(file);
  return state == 'T';
}

static void stop_and_go(const tutti_boot *boot, void *argument) {
  (void)argument;
  enum { COUNT = 200, SIZE = 100000 };
  void *self = open_rank(boot, 2);
  tutti_stream *to = open_end(self, 1, 0, 1, SIZE), *pid = open_end(self, 1, 1, 0, 0);
  if (boot->rank == 1) {
    put_now(self, pid, 0, (uint64_t)getpid());
    send_off(self, pid);
    raise(SIGSTOP);
    for (uint64_t n = 0; n < COUNT; n++)
      take_now(self, to, SIZE, n);
    close_rank(self);
    return;
  }
  const tutti_slot_header *header = NULL;
  const void *data;
  size_t bytes;
  while (!header) {
    move_on(self, SECOND);
    CHECK(tt_tcp_ops()->peek(self, pid, &header, &data, &bytes) == TUTTI_OK);
  }
  while (!is_stopped((pid_t)header->call))
    move_on(self, SECOND / 100);
  uint64_t sent = 0;
  int64_t until_ns = tt_clock_ns() + 5 * SECOND; /* longer than anything that makes a machine seem dead */
  while (tt_clock_ns() < until_ns) {
    while (put(self, to, SIZE, sent))
      sent++;
    move_on(self, SECOND);
    CHECK(tt_tcp_ops()->peer_dead(self, 1) == 0);
  }
  tt_tcp_counts counts[TT_TCP_RAILS];
  for (int64_t r = tt_tcp_count(self, counts) - 1; r >= 0; r--)
    CHECK(counts[r].retired == 0);
  kill((pid_t)header->call, SIGCONT);
  for (; sent < COUNT; sent++)
    put_now(self, to, SIZE, sent);
  send_off(self, to);
  close_rank(self);
}

static void test_stopped_rank_is_not_dead(void **state) {
  (void)state;
  assert_int_equal(job_run(2, stop_and_go, NULL), 0);
}

/* ---- a process computes ---- */

/* One that has been called, and computes for longer than anything that makes a machine seem dead. */
#define COMPUTES_NS (5 * SECOND)

static void compute(int64_t ns) {
  const struct timespec pause = {.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND};
  nanosleep(&pause, NULL);
}

static void look_once(void *self) {
  int64_t peer;
  CHECK(tt_tcp_ops()->progress(self, &peer) == TUTTI_OK);
}

/* Rank 1 looks so seldom that rank 0 has hung up before its proof is read, and then finds rank 0 busy. */
static void look_seldom(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  tutti_stream *to = open_end(self, 1, 0, 1, 100);
  if (boot->rank == 0) {
    CHECK(put(self, to, 100, 1));
    for (int n = 0; n < 24; n++) {
      compute(SECOND / 20);
      look_once(self);
    }
    compute(COMPUTES_NS);
    send_off(self, to);
    close_rank(self);
    return;
  }
  compute(SECOND / 2);
  look_once(self);
  compute(SECOND);
  take_now(self, to, 100, 1); /* a death would be an error of progress */
  close_rank(self);
}

static void test_a_rank_that_computes_is_not_dead(void **state) {
  (void)state;
  assert_int_equal(job_run(2, look_seldom, NULL), 0);
}

/* A rank that never looks twice within the first call's time gets its letters all the same. */
static void poll_seldom(const tutti_boot *boot, void *argument) {
  enum { LOOKS = 24 };
  (void)argument;
  void *self = open_rank(boot, 1);
  tutti_stream *to = open_end(self, 1, 0, 1, 100);
  bool came = boot->rank == 0 && put(self, to, 100, 1);
  for (int n = 0; boot->rank == 0 && tt_tcp_ops()->unsent(self, to) > 0; n++) {
    CHECK(n < 20 * 2 * LOOKS);
    compute(SECOND / 20);
    look_once(self);
  }
  for (int n = 0; boot->rank == 1 && !came && n < LOOKS; n++) {
    compute(SECOND * 13 / 10);
    look_once(self);
    came = take(self, to, 100, 1);
  }
  CHECK(came);
  close_rank(self);
}

static void test_a_rank_that_looks_seldom_is_reached(void **state) {
  (void)state;
  assert_int_equal(job_run(2, poll_seldom, NULL), 0);
}

/* ---- a process leaves ---- */

static void leave(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 2);
  tutti_stream *from = open_end(self, 1, 1, 0, 50000), *to = open_end(self, 2, 0, 1, 100);
  if (boot->rank == 1) {
    for (uint64_t n = 0; n < 16; n++)
      put_now(self, from, 50000, n);
    close_rank(self);
    return;
  }
  while (tt_tcp_ops()->peer_dead(self, 1) == 0)
    move_on(self, SECOND);
  CHECK(tt_tcp_ops()->peer_dead(self, 1) == 2);
  for (uint64_t n = 0; n < 16; n++)
    take_now(self, from, 50000, n);
  const tutti_slot_header *header;
  const void *data;
  size_t bytes;
  CHECK(tt_tcp_ops()->peek(self, from, &header, &data, &bytes) == TUTTI_ERR_PEER);
  CHECK(strstr(tutti_last_error(), "rank 1 has left"));
  CHECK(put(self, to, 100, 1)); /* nobody will read it */
  for (int n = 0; n < 100; n++)
    move_on(self, SECOND / 100);
  CHECK(tt_tcp_ops()->peer_dead(self, 1) == 2 && tt_tcp_ops()->unsent(self, to) == 0);
  close_rank(self);
}

static void test_goodbye_is_no_death(void **state) {
  (void)state;
  assert_int_equal(job_run(2, leave, NULL), 0);
}

/* Rank 1 has never sent anything: its goodbye goes the way back. */
static void leave_silently(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  tutti_stream *to = open_end(self, 2, 0, 1, 100);
  if (boot->rank == 1) {
    take_now(self, to, 100, 1);
  } else {
    put_now(self, to, 100, 1);
    while (tt_tcp_ops()->peer_dead(self, 1) == 0)
      move_on(self, SECOND);
    CHECK(tt_tcp_ops()->peer_dead(self, 1) == 2);
  }
  close_rank(self);
}

static void test_who_only_received_says_goodbye_too(void **state) {
  (void)state;
  assert_int_equal(job_run(2, leave_silently, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cut_connections_lose_and_repeat_nothing),
      cmocka_unit_test(test_a_ring_of_ranks_survives_cuts),
      cmocka_unit_test(test_killed_rank_is_seen_dead),
      cmocka_unit_test(test_a_rank_that_only_receives_sees_the_death),
      cmocka_unit_test(test_stopped_rank_is_not_dead),
      cmocka_unit_test(test_a_rank_that_computes_is_not_dead),
      cmocka_unit_test(test_a_rank_that_looks_seldom_is_reached),
      cmocka_unit_test(test_goodbye_is_no_death),
      cmocka_unit_test(test_who_only_received_says_goodbye_too),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
