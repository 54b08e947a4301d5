/* transport/tcp/door_testing.h - what the tests of doors share: doors on loopback, a wait for what arrives, strangers.
 *
 * Waits end the test after PATIENCE_MS, an alarm after HANG_S; nothing is decided by time otherwise. */
#ifndef TT_TRANSPORT_TCP_DOOR_TESTING_H
#define TT_TRANSPORT_TCP_DOOR_TESTING_H

#include "transport/tcp/auth.h"
#include "transport/tcp/door.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define HANG_S 300
#define PATIENCE_MS 60000
#define PATIENCE_NS (PATIENCE_MS * INT64_C(1000000))
#define MS_NS INT64_C(1000000)

static const unsigned char job_key[TT_TCP_KEY_BYTES] = "the key of this job, 32 bytes..";
static const unsigned char other_key[TT_TCP_KEY_BYTES] = "the key of that job, 32 bytes..";

/* ---- doors ---- */

typedef struct side {
  tt_tcp_door *door;
  tt_rail rail[TT_RAILS_MOST];
  in_port_t port[TT_RAILS_MOST];
} side;

static inline struct sockaddr_storage parse_address(const char *text) {
  struct sockaddr_storage address = {.ss_family = strchr(text, ':') ? AF_INET6 : AF_INET};
  void *to = address.ss_family == AF_INET6 ? (void *)&((struct sockaddr_in6 *)(void *)&address)->sin6_addr
                                           : (void *)&((struct sockaddr_in *)(void *)&address)->sin_addr;
  assert_int_equal(inet_pton(address.ss_family, text, to), 1);
  return address;
}

static inline void set_port(struct sockaddr_storage *address, in_port_t port) {
  if (address->ss_family == AF_INET6)
    ((struct sockaddr_in6 *)(void *)address)->sin6_port = port;
  else
    ((struct sockaddr_in *)(void *)address)->sin_port = port;
}

static inline socklen_t address_bytes(const struct sockaddr_storage *address) {
  return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static inline tt_rail make_rail(const char *address) {
  return (tt_rail){.name = "lo", .address = parse_address(address), .prefix_bits = 8};
}

/* A door on the first `count` of these addresses; no key: none is given yet. */
static inline side open_side(int64_t rank, const char *const *address, int64_t count, const unsigned char *key) {
  side made = {.door = NULL};
  for (int64_t n = 0; n < count; n++)
    made.rail[n] = make_rail(address[n]);
  assert_int_equal(tt_tcp_door_open(made.rail, count, rank, made.port, &made.door), TUTTI_OK);
  if (key)
    tt_tcp_door_key(made.door, key);
  return made;
}

static inline side open_local(int64_t rank, const unsigned char *key) {
  const char *address = "127.0.0.1";
  return open_side(rank, &address, 1, key);
}

static inline struct sockaddr_storage address_of(const side *of, int rail) {
  struct sockaddr_storage address = of->rail[rail].address;
  set_port(&address, of->port[rail]);
  return address;
}

static inline void call_side(const side *from, int64_t peer, const side *to, int64_t timeout_ns) {
  struct sockaddr_storage address = address_of(to, 0);
  assert_int_equal(tt_tcp_door_call(from->door, peer, 0, &address, timeout_ns), TUTTI_OK);
}

/* The next arrival at any of the doors; which of them it was. */
static inline tt_tcp_arrival await_any(const side *sides, int count, int *which) {
  tt_tcp_arrival arrival = {.fd = -1};
  struct pollfd ready[8];
  assert_true(count <= 8);
  for (;;) {
    for (*which = 0; *which < count; ++*which)
      if (tt_tcp_door_next(sides[*which].door, &arrival))
        return arrival;
    for (int n = 0; n < count; n++)
      ready[n] = (struct pollfd){.fd = tt_tcp_door_fd(sides[n].door), .events = POLLIN};
    assert_int_not_equal(poll(ready, (nfds_t)count, PATIENCE_MS), 0);
  }
}

static inline tt_tcp_arrival await_one(const side *of) {
  int which;
  return await_any(of, 1, &which);
}

/* Whether the door has something to do now. */
static inline bool is_ready(const side *of) {
  struct pollfd ready = {.fd = tt_tcp_door_fd(of->door), .events = POLLIN};
  return poll(&ready, 1, 0) > 0;
}

/* Ends both ends of `count` connections from the first to the second, which must be what arrives. */
static inline void await_pairs(const side sides[2], int count) {
  int arrived[2] = {0}, which;
  while (arrived[0] < count || arrived[1] < count) {
    tt_tcp_arrival arrival = await_any(sides, 2, &which);
    assert_true(arrival.fd >= 0);
    assert_int_equal(arrival.called, which == 0);
    arrived[which]++;
    close(arrival.fd);
  }
  assert_int_equal(arrived[0], count);
  assert_int_equal(arrived[1], count);
}

/* ---- strangers ---- */

static inline int open_stranger(const side *to) {
  struct sockaddr_storage address = address_of(to, 0);
  int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&address, address_bytes(&address)), 0);
  return fd;
}

/* Until the door has ended that connection; nobody may arrive meanwhile. Closes fd. */
static inline void await_end(const side *of, int fd) {
  tt_tcp_arrival arrival;
  char bytes[256];
  for (;;) {
    assert_false(tt_tcp_door_next(of->door, &arrival));
    ssize_t got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN))
      break;
    struct pollfd ready[2] = {{.fd = fd, .events = POLLIN}, {.fd = tt_tcp_door_fd(of->door), .events = POLLIN}};
    assert_int_not_equal(poll(ready, 2, PATIENCE_MS), 0);
  }
  close(fd);
}

static inline bool is_open(int fd) {
  char byte;
  return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

/* A listener that is none of tutti's. */
static inline int open_foreign(int backlog, struct sockaddr_storage *address) {
  socklen_t bytes = sizeof *address;
  *address = parse_address("127.0.0.1");
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)address, address_bytes(address)), 0);
  assert_int_equal(listen(fd, backlog), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)address, &bytes), 0);
  return fd;
}

/* ---- every test leaves as many descriptors as there were ---- */

static inline int count_descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  int count = 0;
  assert_non_null(folder);
  while (readdir(folder))
    count++;
  closedir(folder);
  return count;
}

static int descriptors_before;

static inline int remember_descriptors(void **state) {
  (void)state;
  descriptors_before = count_descriptors();
  alarm(HANG_S);
  return 0;
}

static inline int check_descriptors(void **state) {
  (void)state;
  assert_int_equal(count_descriptors(), descriptors_before);
  return 0;
}

#define DOOR_TEST(name) cmocka_unit_test_setup_teardown(name, remember_descriptors, check_descriptors)

#endif
