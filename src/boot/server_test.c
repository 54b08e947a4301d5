/* The launcher's server seen from the wire: ranks are bare sockets, and everything happens in the test's own thread. */
#include "boot/boot.h"
#include "boot/wire.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define RANKS 4
#define MINUTE ((int64_t)60000000000)

static tt_boot_server *open_server(int64_t rank_count) {
  tt_boot_server *server = NULL;
  assert_int_equal(tt_boot_server_open(rank_count, rank_count, &server), TUTTI_OK);
  return server;
}

static int join(const tt_boot_server *server) {
  struct sockaddr_un name;
  socklen_t size = tt_boot_address(tt_boot_server_address(server) + strlen("unix:@"), &name);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&name, size), 0);
  return fd;
}

/* Until the server, or its connection to `fd`, has moved on. */
static void serve(tt_boot_server *server, int fd, short events) {
  struct pollfd fds[] = {{.fd = tt_boot_server_fd(server), .events = POLLIN}, {.fd = fd, .events = events}};
  assert_true(poll(fds, 2, -1) > 0);
  tt_boot_server_serve(server);
}

static void contribute_of(tt_boot_server *server, int fd, uint32_t rank, size_t bytes, uint32_t wire) {
  tt_boot_request request = {*tt_boot_version_own(), rank, 0, bytes, MINUTE};
  request.version.wire = wire;
  char *frame = malloc(sizeof request + bytes);
  memcpy(frame, &request, sizeof request);
  memset(frame + sizeof request, (int)('a' + rank), bytes);
  for (size_t sent = 0; sent < sizeof request + bytes;) {
    ssize_t count = send(fd, frame + sent, sizeof request + bytes - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    sent += count > 0 ? (size_t)count : 0;
    serve(server, fd, POLLOUT);
  }
  free(frame);
}

static void contribute(tt_boot_server *server, int fd, uint32_t rank, size_t bytes) {
  contribute_of(server, fd, rank, bytes, tt_boot_version_own()->wire);
}

static void receive(tt_boot_server *server, int fd, void *to, size_t size) {
  for (size_t got = 0; got < size;) {
    ssize_t count = recv(fd, (char *)to + got, size - got, MSG_DONTWAIT);
    assert_int_not_equal(count, 0);
    got += count > 0 ? (size_t)count : 0;
    if (count < 0)
      serve(server, fd, POLLIN);
  }
}

/* The next reply's status; its content is passed over. */
static tutti_status hear(tt_boot_server *server, int fd) {
  tt_boot_reply reply;
  char content[256];
  receive(server, fd, &reply, sizeof reply);
  assert_true(reply.bytes <= sizeof content);
  receive(server, fd, content, reply.bytes);
  return (tutti_status)reply.status;
}

static void run_round(tt_boot_server *server, const int *fd, int count) {
  for (int r = 0; r < count; r++)
    contribute(server, fd[r], (uint32_t)r, 8);
  for (int r = 0; r < count; r++)
    assert_int_equal(hear(server, fd[r]), TUTTI_OK);
}

static void test_wrong_length_is_told_to_each_rank_once(void **state) {
  (void)state;
  tt_boot_server *server = open_server(3);
  int fd[] = {join(server), join(server), join(server)};
  contribute(server, fd[0], 0, 8);
  contribute(server, fd[1], 1, 4);
  contribute(server, fd[2], 2, 8);
  for (int r = 0; r < 3; r++)
    assert_int_equal(hear(server, fd[r]), TUTTI_ERR_MISMATCH);
  contribute(server, fd[1], 1, 8);
  contribute(server, fd[0], 0, 8);
  contribute(server, fd[2], 2, 8);
  static const int order[] = {1, 0, 2}; /* who is told of the old round again keeps the others waiting */
  for (int r = 0; r < 3; r++) {
    assert_int_equal(hear(server, fd[order[r]]), TUTTI_OK);
    close(fd[order[r]]);
  }
  tt_boot_server_close(server);
}

/* Before, between and after ranks of this version; whatever follows its first bytes is passed over. */
static void test_another_version_is_told_to_each_rank_once(void **state) {
  (void)state;
  for (uint32_t foreign = 0; foreign < 3; foreign++) {
    tt_boot_server *server = open_server(3);
    int fd[] = {join(server), join(server), join(server)};
    for (uint32_t r = 0; r < 3; r++)
      contribute_of(server, fd[r], r, r == foreign ? 100000 : 8, r == foreign ? 99 : tt_boot_version_own()->wire);
    for (int r = 0; r < 3; r++)
      assert_int_equal(hear(server, fd[r]), TUTTI_ERR_MISMATCH);
    close(fd[foreign]);
    fd[foreign] = join(server);
    run_round(server, fd, 3);
    for (int r = 0; r < 3; r++)
      close(fd[r]);
    tt_boot_server_close(server);
  }
}

static void expect_turned_away(tt_boot_server *server, int fd) {
  char byte;
  ssize_t count;
  while ((count = recv(fd, &byte, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
    serve(server, fd, POLLIN);
  assert_true(count <= 0);
  close(fd);
}

static void test_what_is_no_version_is_turned_away(void **state) {
  (void)state;
  tt_boot_server *server = open_server(1);
  int fd = join(server);
  tt_boot_request request = {.version = {.magic = 0x74757474}, .bytes = 8, .timeout_ns = MINUTE};
  assert_int_equal(send(fd, &request, sizeof request, 0), sizeof request);
  expect_turned_away(server, fd);
  fd = join(server);
  run_round(server, &fd, 1);
  close(fd);
  tt_boot_server_close(server);
}

static void check_all(tt_boot_server *server, int fd, size_t bytes) {
  tt_boot_reply reply;
  char *all = malloc(RANKS * bytes), *packed = malloc(2 * RANKS * bytes);
  receive(server, fd, &reply, sizeof reply);
  assert_int_equal(reply.status, TUTTI_OK);
  assert_in_range(reply.bytes, RANKS * bytes, 2 * RANKS * bytes); /* no byte is as in the rank before */
  receive(server, fd, packed, reply.bytes);
  assert_true(tt_boot_unpack(packed, reply.bytes, all, bytes, RANKS));
  for (size_t b = 0; b < RANKS * bytes; b++)
    assert_int_equal(all[b], 'a' + b / bytes);
  free(packed);
  free(all);
}

static void test_slow_readers_get_the_whole_answer(void **state) {
  (void)state;
  size_t bytes = 1 << 18; /* the answer is longer than what a socket holds */
  tt_boot_server *server = open_server(RANKS);
  int fd[RANKS];
  for (int r = 0; r < RANKS; r++)
    contribute(server, fd[r] = join(server), (uint32_t)r, bytes);
  close(fd[1]); /* without a look at it */
  check_all(server, fd[3], bytes);
  check_all(server, fd[0], bytes);
  fd[1] = join(server);
  contribute(server, fd[1], 1, 8);
  check_all(server, fd[2], bytes);
  contribute(server, fd[0], 0, 8);
  contribute(server, fd[2], 2, 8);
  contribute(server, fd[3], 3, 8);
  for (int r = 0; r < RANKS; r++) {
    check_all(server, fd[r], 8);
    close(fd[r]);
  }
  tt_boot_server_close(server);
}

static struct rlimit leave_one_descriptor(void) {
  struct rlimit before;
  getrlimit(RLIMIT_NOFILE, &before);
  int next = dup(STDIN_FILENO);
  close(next);
  struct rlimit limit = {.rlim_cur = (rlim_t)next + 1, .rlim_max = before.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  return before;
}

/* Whether the server, served, has nothing to do for a while: it may be time to look again just now, but not always. */
static bool comes_to_rest(tt_boot_server *server) {
  struct pollfd ready = {.fd = tt_boot_server_fd(server), .events = POLLIN};
  for (int attempt = 0; attempt < 100; attempt++) {
    tt_boot_server_serve(server);
    if (poll(&ready, 1, 0) == 0)
      return true;
  }
  return false;
}

static void test_rank_without_a_descriptor_comes_in_later(void **state) {
  (void)state;
  tt_boot_server *server = open_server(2);
  int fd[] = {join(server), join(server)};
  struct rlimit before = leave_one_descriptor();
  contribute(server, fd[0], 0, 8);
  assert_int_equal(hear(server, fd[0]), TUTTI_ERR_SYSTEM);
  bool rests = comes_to_rest(server);
  setrlimit(RLIMIT_NOFILE, &before);
  assert_true(rests);
  contribute(server, fd[1], 1, 8);
  assert_int_equal(hear(server, fd[1]), TUTTI_ERR_SYSTEM); /* of the round that failed */
  run_round(server, fd, 2);
  close(fd[0]);
  close(fd[1]);
  tt_boot_server_close(server);
}

/* The next reply says that this rank is to come again. */
static void hear_again(tt_boot_server *server, int fd) {
  tt_boot_reply reply;
  uint64_t after_us;
  receive(server, fd, &reply, sizeof reply);
  assert_int_equal(reply.status, TT_BOOT_AGAIN);
  assert_int_equal(reply.bytes, sizeof after_us);
  receive(server, fd, &after_us, sizeof after_us);
  close(fd);
}

static int come_again(tt_boot_server *server, uint32_t rank) {
  tt_boot_request request = {*tt_boot_version_own(), rank, 1, 0, MINUTE};
  int fd = join(server);
  assert_int_equal(send(fd, &request, sizeof request, MSG_NOSIGNAL), sizeof request);
  return fd;
}

static void send_away(tt_boot_server *server, uint32_t rank) {
  int fd = join(server);
  contribute(server, fd, rank, 8);
  hear_again(server, fd);
}

static void test_rank_that_comes_again_gets_the_reply_of_its_round(void **state) {
  (void)state;
  tt_boot_server *server = NULL;
  assert_int_equal(tt_boot_server_open(RANKS, 2, &server), TUTTI_OK);
  for (uint32_t r = 0; r < RANKS - 1; r++)
    send_away(server, r);
  hear_again(server, come_again(server, 1)); /* too early */
  int last = join(server);
  contribute(server, last, RANKS - 1, 8);
  check_all(server, last, 8);
  contribute(server, last, RANKS - 1, 16); /* of the next round */
  hear_again(server, last);
  for (uint32_t r = 0; r < RANKS - 1; r++) {
    int fd = come_again(server, r);
    check_all(server, fd, 8);
    close(fd);
  }
  tt_boot_server_close(server);
}

/* It has contributed, but it will not have the reply: the others are told. */
static void test_rank_that_ends_while_it_is_away_is_lost(void **state) {
  (void)state;
  tt_boot_server *server = NULL;
  assert_int_equal(tt_boot_server_open(3, 2, &server), TUTTI_OK);
  send_away(server, 0);
  send_away(server, 1);
  tt_boot_server_lose(server, 0, "exited with code 3");
  int fd = come_again(server, 1);
  assert_int_equal(hear(server, fd), TUTTI_ERR_PEER);
  close(fd);
  tt_boot_server_close(server);
}

/* Its reply of the first round is not that of the second; nor has it joined twice where the first was not over. */
static void test_rank_that_gave_up_while_it_was_away_joins_anew(void **state) {
  (void)state;
  tt_boot_server *server = NULL;
  assert_int_equal(tt_boot_server_open(RANKS, 2, &server), TUTTI_OK);
  int fd = join(server);
  send_away(server, 0);
  for (uint32_t r = 0; r < RANKS - 1; r++)
    send_away(server, r);
  contribute(server, fd, RANKS - 1, 8);
  check_all(server, fd, 8);
  for (uint32_t r = 1; r < RANKS - 1; r++) {
    int other = come_again(server, r);
    check_all(server, other, 8);
    close(other);
    send_away(server, r);
  }
  send_away(server, 0);
  hear_again(server, come_again(server, 0));
  contribute(server, fd, RANKS - 1, 8);
  check_all(server, fd, 8);
  close(fd);
  tt_boot_server_close(server);
}

static void test_who_comes_again_for_nothing_is_turned_away(void **state) {
  (void)state;
  tt_boot_server *server = open_server(2);
  int fd = come_again(server, 1);
  expect_turned_away(server, fd);
  tt_boot_server_close(server);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_wrong_length_is_told_to_each_rank_once),
      cmocka_unit_test(test_another_version_is_told_to_each_rank_once),
      cmocka_unit_test(test_what_is_no_version_is_turned_away),
      cmocka_unit_test(test_slow_readers_get_the_whole_answer),
      cmocka_unit_test(test_rank_without_a_descriptor_comes_in_later),
      cmocka_unit_test(test_rank_that_comes_again_gets_the_reply_of_its_round),
      cmocka_unit_test(test_rank_that_ends_while_it_is_away_is_lost),
      cmocka_unit_test(test_rank_that_gave_up_while_it_was_away_joins_anew),
      cmocka_unit_test(test_who_comes_again_for_nothing_is_turned_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
