/* Doors: who holds the key gets in, and who calls in vain learns why. What strangers can do is crowd_test.c's. */
#include "transport/tcp/door_testing.h"

#include <netinet/tcp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* ---- connecting ---- */

static int option_of(int fd, int level, int option) {
  int value = -1;
  socklen_t bytes = sizeof value;
  assert_int_equal(getsockopt(fd, level, option, &value, &bytes), 0);
  return value;
}

static void check_socket(int fd) {
  assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
  assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
  assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 1);
  assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
  assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 1);
  assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 1);
  assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_KEEPCNT), 2);
  assert_int_equal(option_of(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), 128 << 10);
  assert_int_equal(option_of(fd, SOL_SOCKET, SO_ERROR), 0);
}

static void check_bytes(int from, int to) {
  char said[] = "what the pipe says", heard[sizeof said] = "";
  assert_int_equal(send(from, said, sizeof said, 0), sizeof said);
  struct pollfd ready = {.fd = to, .events = POLLIN};
  assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
  assert_int_equal(recv(to, heard, sizeof heard, 0), sizeof heard);
  assert_string_equal(said, heard);
}

static void check_idle(const side *of) {
  tt_tcp_arrival arrival;
  assert_false(tt_tcp_door_next(of->door, &arrival));
  assert_false(is_ready(of));
}

/* Rank 4 calls rank 9, from its `rail` to rank 9's `there`. */
static void connect_on(const side sides[2], int rail, int there) {
  struct sockaddr_storage address = address_of(&sides[1], there), seen;
  socklen_t bytes = sizeof seen;
  tt_tcp_arrival arrival[2];
  int which;
  assert_int_equal(tt_tcp_door_call(sides[0].door, 9, rail, &address, PATIENCE_NS), TUTTI_OK);
  for (int n = 0; n < 2; n++) {
    tt_tcp_arrival one = await_any(sides, 2, &which);
    arrival[which] = one;
    check_socket(one.fd);
    assert_int_equal(one.peer, which == 0 ? 9 : 4);
    assert_int_equal(one.rail, which == 0 ? rail : there);
    assert_int_equal(one.called, which == 0);
  }
  check_bytes(arrival[0].fd, arrival[1].fd);
  check_bytes(arrival[1].fd, arrival[0].fd);
  assert_int_equal(send(arrival[0].fd, "a", 1, 0), 1);
  assert_int_equal(send(arrival[1].fd, "a", 1, 0), 1);
  check_idle(&sides[0]); /* what comes now is not the door's */
  check_idle(&sides[1]);
  assert_int_equal(getpeername(arrival[1].fd, (struct sockaddr *)&seen, &bytes), 0);
  set_port(&seen, 0);
  assert_memory_equal(&seen, &sides[0].rail[rail].address, address_bytes(&seen));
  close(arrival[0].fd);
  close(arrival[1].fd);
}

static void connect_all(const char *const *address, int64_t count) {
  side sides[2] = {open_side(4, address, count, job_key), open_side(9, address, count, job_key)};
  for (int rail = 0; rail < count; rail++)
    for (int there = 0; there < count; there++)
      connect_on(sides, rail, there);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_two_ranks_connect(void **state) {
  (void)state;
  connect_all((const char *const[]){"127.0.0.1"}, 1);
}

static void test_two_ranks_connect_on_every_rail(void **state) {
  (void)state;
  connect_all((const char *const[]){"127.0.0.1", "127.0.0.2", "127.0.0.3"}, 3);
}

static void test_two_ranks_connect_over_ipv6(void **state) {
  (void)state;
  const tt_rail rail = make_rail("::1");
  int fd = socket(AF_INET6, SOCK_STREAM, 0);
  bool there = fd >= 0 && bind(fd, (const struct sockaddr *)&rail.address, sizeof(struct sockaddr_in6)) == 0;
  close(fd);
  if (!there) {
    print_message("skipped: this machine has no address ::1\n");
    skip();
  }
  connect_all((const char *const[]){"::1"}, 1);
}

static void test_each_calls_the_other_at_once(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  int which;
  call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  call_side(&sides[1], 0, &sides[0], PATIENCE_NS);
  for (int n = 0; n < 4; n++) {
    tt_tcp_arrival arrival = await_any(sides, 2, &which);
    assert_true(arrival.fd >= 0);
    assert_int_equal(arrival.peer, 1 - which);
    close(arrival.fd);
  }
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_nobody_gets_in_before_there_is_a_key(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(1, NULL)};
  tt_tcp_arrival arrival;
  call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  int stranger = open_stranger(&sides[1]);
  for (int n = 0; n < 100; n++) {
    assert_false(tt_tcp_door_next(sides[0].door, &arrival));
    assert_false(is_ready(&sides[1]));
    assert_false(tt_tcp_door_next(sides[1].door, &arrival));
  }
  tt_tcp_door_key(sides[1].door, job_key);
  await_pairs(sides, 1);
  close(stranger);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

/* A child has copies of all descriptors, so that closing one does not end it. */
static void test_a_forked_process_is_not_in_the_way(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  tt_tcp_arrival arrival;
  int stranger = open_stranger(&sides[1]);
  call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  assert_false(tt_tcp_door_next(sides[1].door, &arrival)); /* the stranger has a place */
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  await_pairs(sides, 1);
  unsigned char garbage[TT_TCP_HELLO_BYTES] = "no hello";
  assert_int_equal(send(stranger, garbage, sizeof garbage, 0), sizeof garbage);
  for (int n = 0; n < 40; n++) {
    call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
    await_pairs(sides, 1);
    (void)send(stranger, "more", 4, MSG_NOSIGNAL); /* thrown out by now; the child still has what it arrives at */
  }
  check_idle(&sides[0]);
  check_idle(&sides[1]);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
  close(stranger);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

/* ---- calling in vain ---- */

static void check_failed(const tt_tcp_arrival *arrival, int error, bool refused) {
  assert_int_equal(arrival->fd, -1);
  assert_true(arrival->called);
  assert_int_equal(arrival->peer, 7);
  assert_int_equal(arrival->rail, 0);
  assert_int_equal(arrival->error, error);
  assert_int_equal(arrival->refused, refused);
}

static tt_tcp_arrival call_in_vain(const side *from, const struct sockaddr_storage *address, int64_t timeout_ns) {
  assert_int_equal(tt_tcp_door_call(from->door, 7, 0, address, timeout_ns), TUTTI_OK);
  return await_one(from);
}

static void test_a_port_where_nobody_listens_refuses(void **state) {
  (void)state;
  struct sockaddr_storage address;
  side own = open_local(0, job_key);
  close(open_foreign(1, &address));
  tt_tcp_arrival arrival = call_in_vain(&own, &address, PATIENCE_NS);
  check_failed(&arrival, ECONNREFUSED, true);
  tt_tcp_door_close(own.door);
}

static void test_a_process_of_another_job_refuses(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(7, other_key)};
  int which;
  call_side(&sides[0], 7, &sides[1], PATIENCE_NS);
  tt_tcp_arrival arrival = await_any(sides, 2, &which);
  assert_int_equal(which, 0);
  check_failed(&arrival, EKEYREJECTED, true);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_a_listener_without_a_word_ends_the_call_in_time(void **state) {
  (void)state;
  struct sockaddr_storage address;
  side own = open_local(0, job_key);
  int foreign = open_foreign(16, &address);
  tt_tcp_arrival arrival = call_in_vain(&own, &address, 50 * MS_NS);
  check_failed(&arrival, ETIMEDOUT, false);
  arrival = call_in_vain(&own, &address, 0);
  check_failed(&arrival, ETIMEDOUT, false);
  close(foreign);
  tt_tcp_door_close(own.door);
}

/* The system of the other end drops the connect. */
static void test_a_full_queue_ends_the_call_in_time(void **state) {
  (void)state;
  struct sockaddr_storage address;
  side own = open_local(0, job_key);
  int foreign = open_foreign(0, &address), filler[4];
  for (int n = 0; n < 4; n++) {
    filler[n] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(filler[n], (struct sockaddr *)&address, address_bytes(&address));
  }
  tt_tcp_arrival arrival = call_in_vain(&own, &address, 50 * MS_NS);
  check_failed(&arrival, ETIMEDOUT, false);
  for (int n = 0; n < 4; n++)
    close(filler[n]);
  close(foreign);
  tt_tcp_door_close(own.door);
}

static void test_where_no_way_leads_is_not_refused(void **state) {
  (void)state;
  side own = open_local(0, job_key);
  struct sockaddr_storage address = parse_address("192.0.2.1");
  set_port(&address, 1);
  tt_tcp_arrival arrival = call_in_vain(&own, &address, 200 * MS_NS);
  assert_int_not_equal(arrival.error, 0);
  check_failed(&arrival, arrival.error, false);
  tt_tcp_door_close(own.door);
}

/* As a rank does that is thrown out by a crowd, before its proof or after it. */
static void test_a_connection_that_ends_without_a_word_is_called_again(void **state) {
  (void)state;
  struct sockaddr_storage address;
  tt_tcp_arrival arrival;
  side own = open_local(0, job_key);
  int foreign = open_foreign(16, &address);
  assert_int_equal(tt_tcp_door_call(own.door, 7, 0, &address, PATIENCE_NS), TUTTI_OK);
  for (int tries = 0; tries < 4; tries++) {
    struct pollfd ready[2] = {{.fd = foreign, .events = POLLIN}, {.fd = tt_tcp_door_fd(own.door), .events = POLLIN}};
    do {
      assert_false(tt_tcp_door_next(own.door, &arrival));
      assert_int_not_equal(poll(ready, 2, PATIENCE_MS), 0);
    } while (ready[0].revents == 0);
    int fd = accept(foreign, NULL, NULL);
    if (tries % 2) { /* reads the hello and answers it rightly */
      tt_tcp_auth auth;
      tt_tcp_auth_listen(&auth, 7);
      while (auth.stage == TT_TCP_AWAITS_HELLO) {
        assert_false(tt_tcp_door_next(own.door, &arrival));
        assert_int_equal(tt_tcp_auth_go(&auth, fd, job_key), TT_TCP_WAITS);
      }
      unsigned char proof[TT_TCP_PROOF_BYTES];
      for (size_t got = 0; got < sizeof proof;) {
        assert_false(tt_tcp_door_next(own.door, &arrival));
        ssize_t more = recv(fd, proof + got, sizeof proof - got, MSG_DONTWAIT);
        got += more > 0 ? (size_t)more : 0;
      }
    }
    close(fd);
  }
  close(foreign);
  arrival = await_one(&own);
  check_failed(&arrival, ECONNREFUSED, true);
  tt_tcp_door_close(own.door);
}

static void test_many_calls_end_each_in_its_own_way(void **state) {
  (void)state;
  enum { EACH = 20 };
  struct sockaddr_storage nobody, silent;
  side sides[2] = {open_local(0, job_key), open_local(7, job_key)};
  int foreign = open_foreign(EACH, &silent), reached = 0, refused = 0, late = 0, came = 0, which;
  close(open_foreign(1, &nobody));
  for (int n = 0; n < EACH; n++) {
    call_side(&sides[0], 7, &sides[1], PATIENCE_NS);
    assert_int_equal(tt_tcp_door_call(sides[0].door, 7, 0, &nobody, PATIENCE_NS), TUTTI_OK);
    assert_int_equal(tt_tcp_door_call(sides[0].door, 7, 0, &silent, (50 + n) * MS_NS), TUTTI_OK);
  }
  while (reached + refused + late < 3 * EACH || came < EACH) {
    tt_tcp_arrival arrival = await_any(sides, 2, &which);
    came += which == 1;
    reached += which == 0 && arrival.fd >= 0;
    refused += arrival.refused;
    late += arrival.error == ETIMEDOUT;
    if (arrival.fd >= 0)
      close(arrival.fd);
  }
  assert_int_equal(reached, EACH);
  assert_int_equal(refused, EACH);
  assert_int_equal(late, EACH);
  assert_int_equal(came, EACH);
  close(foreign);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_closing_ends_what_is_under_way(void **state) {
  (void)state;
  struct sockaddr_storage address;
  side sides[2] = {open_local(0, job_key), open_local(7, job_key)};
  tt_tcp_arrival arrival;
  int foreign = open_foreign(16, &address), stranger = open_stranger(&sides[1]);
  for (int n = 0; n < 10; n++) {
    call_side(&sides[0], 7, &sides[1], PATIENCE_NS);
    assert_int_equal(tt_tcp_door_call(sides[0].door, 7, 0, &address, PATIENCE_NS), TUTTI_OK);
  }
  assert_false(tt_tcp_door_next(sides[0].door, &arrival));
  assert_false(tt_tcp_door_next(sides[1].door, &arrival));
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
  tt_tcp_door_close(NULL);
  close(stranger);
  close(foreign);
}

/* ---- without descriptors ---- */

/* From now on no descriptor can be had. Returns what was possible. */
static struct rlimit take_descriptors(void) {
  struct rlimit before, none;
  int lowest = dup(0);
  assert_true(lowest >= 0);
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = (struct rlimit){.rlim_cur = (rlim_t)lowest, .rlim_max = before.rlim_max};
  close(lowest);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
  return before;
}

static void test_a_listener_without_descriptors_rests_and_goes_on(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  tt_tcp_arrival arrival;
  call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  struct rlimit before = take_descriptors();
  bool rested = false;
  for (int n = 0; n < 1000; n++) {
    assert_false(tt_tcp_door_next(sides[1].door, &arrival));
    rested |= !is_ready(&sides[1]);
    assert_false(tt_tcp_door_next(sides[0].door, &arrival));
  }
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_true(rested);
  await_pairs(sides, 1);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_a_call_without_descriptors_waits_for_one(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(7, job_key)};
  struct rlimit before = take_descriptors();
  struct sockaddr_storage address = address_of(&sides[1], 0);
  tt_tcp_arrival arrival = call_in_vain(&sides[0], &address, 50 * MS_NS);
  call_side(&sides[0], 7, &sides[1], PATIENCE_NS);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  check_failed(&arrival, EMFILE, false);
  await_pairs(sides, 1);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_a_door_without_descriptors_says_so(void **state) {
  (void)state;
  tt_rail rail = make_rail("127.0.0.1");
  tt_tcp_door *door = NULL;
  in_port_t port = 77;
  for (int left = 0; left < 3; left++) { /* of the three that it needs */
    int reserve[3] = {dup(0), dup(0), dup(0)};
    struct rlimit before = take_descriptors();
    for (int n = 0; n < left; n++)
      close(reserve[n]);
    tutti_status status = tt_tcp_door_open(&rail, 1, 0, &port, &door);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    for (int n = left; n < 3; n++)
      close(reserve[n]);
    assert_int_equal(status, TUTTI_ERR_SYSTEM);
    assert_non_null(strstr(tutti_last_error(), strerror(EMFILE)));
    assert_null(door);
    assert_int_equal(port, 77);
  }
}

/* ---- bad arguments ---- */

static void check_refused(const tt_rail *rail, int64_t count, tutti_status status, const char *text) {
  in_port_t port[TT_RAILS_MOST];
  tt_tcp_door *door = NULL;
  assert_int_equal(tt_tcp_door_open(rail, count, 0, port, &door), status);
  assert_null(door);
  if (!strstr(tutti_last_error(), text))
    fail_msg("'%s' does not say '%s'", tutti_last_error(), text);
}

static void test_bad_rails_are_named(void **state) {
  (void)state;
  tt_rail rail[2] = {make_rail("127.0.0.1"), make_rail("192.0.2.1")};
  strcpy(rail[1].name, "eth7");
  check_refused(rail, 0, TUTTI_ERR_ARGUMENT, "0 NICs");
  check_refused(rail, TT_RAILS_MOST + 1, TUTTI_ERR_ARGUMENT, "9 NICs");
  check_refused(rail, 2, TUTTI_ERR_SYSTEM, "'eth7' (192.0.2.1:0)");
  memset(rail[1].name, 'x', sizeof rail[1].name);
  rail[1].address.ss_family = AF_UNIX;
  check_refused(rail, 2, TUTTI_ERR_ARGUMENT, "'xxxxxxxxxxxxxxxx' is neither IPv4 nor IPv6 (family 1)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      DOOR_TEST(test_two_ranks_connect),
      DOOR_TEST(test_two_ranks_connect_on_every_rail),
      DOOR_TEST(test_two_ranks_connect_over_ipv6),
      DOOR_TEST(test_each_calls_the_other_at_once),
      DOOR_TEST(test_nobody_gets_in_before_there_is_a_key),
      DOOR_TEST(test_a_forked_process_is_not_in_the_way),
      DOOR_TEST(test_a_port_where_nobody_listens_refuses),
      DOOR_TEST(test_a_process_of_another_job_refuses),
      DOOR_TEST(test_a_listener_without_a_word_ends_the_call_in_time),
      DOOR_TEST(test_a_full_queue_ends_the_call_in_time),
      DOOR_TEST(test_where_no_way_leads_is_not_refused),
      DOOR_TEST(test_a_connection_that_ends_without_a_word_is_called_again),
      DOOR_TEST(test_many_calls_end_each_in_its_own_way),
      DOOR_TEST(test_closing_ends_what_is_under_way),
      DOOR_TEST(test_a_listener_without_descriptors_rests_and_goes_on),
      DOOR_TEST(test_a_call_without_descriptors_waits_for_one),
      DOOR_TEST(test_a_door_without_descriptors_says_so),
      DOOR_TEST(test_bad_rails_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
