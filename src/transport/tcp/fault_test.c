/* What tcp does when something goes wrong: connections cut at random, processes that are killed or stopped or that
 * leave. */
#include "support/tcp.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static bool has_all_rails(void *self) {
  tt_tcp_counts counts[TT_RAILS_MOST];
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
  tt_tcp_counts counts[TT_RAILS_MOST];
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

/* ---- a rank that reads late ---- */

static void sleep_ms(int64_t ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

enum { LATE_MS = 7000, PACKETS = 15, PACKET = 60000 };

/* Rank 1 has done its part and leaves; more than fits into the buffers of rank 0's system is not read for long. */
static void leave_much(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  tutti_stream *from = open_end(self, 1, 1, 0, PACKET), *first = open_end(self, 2, 1, 0, 0);
  if (boot->rank == 1) {
    put_now(self, first, 0, 1);
    for (uint64_t n = 0; n < PACKETS; n++)
      put_now(self, from, PACKET, n);
    close_rank(self);
    return;
  }
  take_now(self, first, 0, 1);
  sleep_ms(LATE_MS);
  for (uint64_t n = 0; n < PACKETS; n++)
    take_now(self, from, PACKET, n);
  while (tested->peer_dead(self, 1) == 0)
    move_on(self, SECOND);
  CHECK(tested->peer_dead(self, 1) == 2);
  close_rank(self);
}

static void test_what_is_left_behind_is_there_for_who_reads_late(void **state) {
  (void)state;
  assert_int_equal(job_run(2, leave_much, NULL), 0);
}

/* Calls were given up, and rank 0 reads nothing before rank 1 has left; argument: a pipe. */
static void give_up_much(const tutti_boot *boot, void *argument) {
  static const bool broken = true;
  int *fd = argument;
  char gone = 0;
  tt_rail rail[TT_RAILS_MOST];
  tt_between_config config = loopback(rail, 1);
  void *self = NULL;
  tested = tt_tcp_ops();
  config.broken = &broken;
  CHECK(tested->open(&config, boot, &self) == TUTTI_OK);
  tutti_stream *from = open_end(self, 1, 1, 0, PACKET), *first = open_end(self, 2, 1, 0, 0);
  if (boot->rank == 0) {
    take_now(self, first, 0, 1);
    CHECK(read(fd[0], &gone, 1) == 1);
    close_rank(self);
    return;
  }
  put_now(self, first, 0, 1);
  for (uint64_t n = 0; n < PACKETS; n++)
    put_now(self, from, PACKET, n);
  int64_t began_ns = tt_clock_ns();
  close_rank(self);
  CHECK(tt_clock_ns() - began_ns < config.timeout_ns / 2);
  CHECK(write(fd[1], &gone, 1) == 1);
}

static void test_what_was_given_up_is_not_waited_for(void **state) {
  (void)state;
  int fd[2];
  assert_int_equal(pipe(fd), 0);
  assert_int_equal(job_run(2, give_up_much, fd), 0);
  close(fd[0]);
  close(fd[1]);
}

/* ---- addresses ---- */

static tt_rail rail_of_six(void) {
  tt_rail rail = {.name = "six", .prefix_bits = 128};
  struct sockaddr_in6 *address = (void *)&rail.address;
  address->sin6_family = AF_INET6;
  address->sin6_addr = in6addr_loopback;
  return rail;
}

static void open_in_two_families(const tutti_boot *boot, void *argument) {
  (void)argument;
  tt_rail rail;
  const tt_between_config config = loopback(&rail, 1);
  void *self = NULL;
  if (boot->rank == 1)
    rail = rail_of_six();
  CHECK(tt_tcp_ops()->open(&config, boot, &self) == TUTTI_ERR_SYSTEM && !self);
  CHECK(strstr(tutti_last_error(), "rank 0 uses only IPv4 addresses, and rank 1 only IPv6 addresses"));
}

static void test_ranks_without_a_common_family_are_an_error(void **state) {
  (void)state;
  tt_rail six = rail_of_six();
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool has_six = fd >= 0 && bind(fd, (const struct sockaddr *)&six.address, sizeof(struct sockaddr_in6)) == 0;
  if (fd >= 0)
    close(fd);
  if (!has_six)
    skip();
  assert_int_equal(job_run(2, open_in_two_families, NULL), 0);
}

/* ---- a network that is down ---- */

static int unreachable; /* so many calls */

/* Stands in front of the system's. */
int socket(int family, int type, int protocol) {
  if (unreachable == 0)
    return (int)syscall(SYS_socket, family, type, protocol);
  unreachable--;
  errno = EHOSTUNREACH;
  return -1;
}

static void call_out_of_reach(const tutti_boot *boot, void *argument) {
  (void)argument;
  void *self = open_rank(boot, 1);
  tutti_stream *to = open_end(self, 1, 0, 1, 100);
  if (boot->rank == 1) {
    take_now(self, to, 100, 1);
    close_rank(self);
    return;
  }
  char said[1000] = "";
  int file = memfd_create("said", MFD_CLOEXEC), before = dup(STDERR_FILENO);
  CHECK(file >= 0 && dup2(file, STDERR_FILENO) == STDERR_FILENO);
  unreachable = 2;
  put_now(self, to, 100, 1);
  send_off(self, to);
  CHECK(dup2(before, STDERR_FILENO) == STDERR_FILENO && pread(file, said, sizeof said - 1, 0) > 0);
  const char *line = strstr(said, "rank 1 cannot be reached at 127.0.0.1:");
  CHECK(line && strstr(line, strerror(EHOSTUNREACH)) && !strstr(line + 1, "rank 1 cannot")); /* said once */
  close_rank(self);
}

static void test_a_peer_out_of_reach_is_told_and_tried_again(void **state) {
  (void)state;
  assert_int_equal(job_run(2, call_out_of_reach, NULL), 0);
}

/* ---- forks ---- */

/* Rank 1's child has all that it had, and lives on until the pipe is closed. */
static void leave_a_child(const tutti_boot *boot, void *argument) {
  const int *pipe_end = argument;
  char byte;
  void *self = open_rank(boot, 1);
  tutti_stream *to = open_end(self, 1, 0, 1, 1000), *from = open_end(self, 1, 1, 0, 1000);
  close(pipe_end[1]);
  if (boot->rank == 1) {
    put_now(self, from, 1000, 5);
    take_now(self, to, 1000, 1);
    send_off(self, from);
    if (fork() == 0) {
      CHECK(read(pipe_end[0], &byte, 1) == 0);
      _exit(0);
    }
    raise(SIGKILL);
  }
  put_now(self, to, 1000, 1);
  take_now(self, from, 1000, 5);
  CHECK(learns_of_death(self, 1));
  close_rank(self);
}

static void test_child_that_outlives_a_rank_does_not_keep_it_alive(void **state) {
  (void)state;
  int ends[2];
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  assert_int_equal(job_run(2, leave_a_child, ends), 1);
  close(ends[0]);
  close(ends[1]);
}

/* ---- a rail that refuses ---- */

/* Nobody listens any more at this process's address of that rail. */
static void stop_listening(int64_t rail) {
  for (int fd = 3; fd < 256; fd++) {
    struct sockaddr_in own = {.sin_family = AF_UNSPEC};
    socklen_t size = sizeof own, size_of_listens = sizeof(int);
    int listens = 0;
    bool is_one = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size_of_listens) == 0 && listens &&
                  getsockname(fd, (struct sockaddr *)&own, &size) == 0 && own.sin_family == AF_INET;
    if (is_one && ntohl(own.sin_addr.s_addr) == INADDR_LOOPBACK + rail)
      CHECK(dup2(STDERR_FILENO, fd) == fd);
  }
}

/* Rank 1 computes for longer than a dead one would be waited for. */
static void compute_behind_a_refusing_rail(const tutti_boot *boot, void *argument) {
  int64_t refusing = *(int64_t *)argument;
  void *self = open_rank(boot, 2);
  tutti_stream *to = open_end(self, 1, 0, 1, 1000);
  if (boot->rank == 1) {
    stop_listening(refusing);
    sleep_ms(4000);
    take_now(self, to, 1000, 1);
    close_rank(self);
    return;
  }
  sleep_ms(200);
  put_now(self, to, 1000, 1);
  while (tested->unsent(self, to) > 0) {
    move_on(self, SECOND);
    CHECK(tested->peer_dead(self, 1) != 1);
  }
  close_rank(self);
}

static void test_who_computes_behind_a_rail_that_refuses_is_not_dead(void **state) {
  (void)state;
  for (int64_t rail = 0; rail < 2; rail++)
    assert_int_equal(job_run(2, compute_behind_a_refusing_rail, &rail), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cut_connections_lose_and_repeat_nothing),
      cmocka_unit_test(test_a_ring_of_ranks_survives_cuts),
      cmocka_unit_test(test_what_is_left_behind_is_there_for_who_reads_late),
      cmocka_unit_test(test_what_was_given_up_is_not_waited_for),
      cmocka_unit_test(test_ranks_without_a_common_family_are_an_error),
      cmocka_unit_test(test_a_peer_out_of_reach_is_told_and_tried_again),
      cmocka_unit_test(test_child_that_outlives_a_rank_does_not_keep_it_alive),
      cmocka_unit_test(test_who_computes_behind_a_rail_that_refuses_is_not_dead),
      FAULT_TESTS,
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
