/* Strangers at a door: whatever they say, however many they are, they are turned away, and ranks get in all the same.
 */
#include "transport/tcp/door_testing.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { PLACES = 32 }; /* for strangers, and how long they may stay, as door.h says */
#define STRANGER_NS (5000 * MS_NS)

static bool long_mode(void) { return getenv("TUTTI_TEST_LONG") != NULL; }

/* ---- what a rank says, to be said by others ---- */

static void make_hello(unsigned char hello[static TT_TCP_HELLO_BYTES], int64_t from, int64_t to) {
  int pair[2];
  tt_tcp_auth auth;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  assert_int_equal(tt_tcp_auth_call(&auth, pair[0], from, to, 0), TT_TCP_WAITS);
  assert_int_equal(recv(pair[1], hello, TT_TCP_HELLO_BYTES, 0), TT_TCP_HELLO_BYTES);
  close(pair[0]);
  close(pair[1]);
}

/* A stranger in the middle: carries bytes both ways until both ends have arrived, and records what the caller says. */
static size_t record_call(const side sides[2], unsigned char *said, size_t room) {
  struct sockaddr_storage address;
  int foreign = open_foreign(1, &address), arrived = 0;
  assert_int_equal(tt_tcp_door_call(sides[0].door, 1, 0, &address, PATIENCE_NS), TUTTI_OK);
  int in = accept(foreign, NULL, NULL), out = open_stranger(&sides[1]);
  size_t recorded = 0;
  while (arrived < 2) {
    tt_tcp_arrival arrival;
    unsigned char back[64];
    ssize_t got = recv(in, said + recorded, room - recorded, MSG_DONTWAIT);
    if (got > 0)
      assert_int_equal(send(out, said + recorded, (size_t)got, 0), got);
    recorded += got > 0 ? (size_t)got : 0;
    got = recv(out, back, sizeof back, MSG_DONTWAIT);
    if (got > 0)
      assert_int_equal(send(in, back, (size_t)got, 0), got);
    for (int n = 0; n < 2; n++)
      if (tt_tcp_door_next(sides[n].door, &arrival)) {
        arrived++;
        close(arrival.fd);
      }
  }
  close(in);
  close(out);
  close(foreign);
  return recorded;
}

static void test_a_recorded_caller_does_not_get_in(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  unsigned char said[256];
  size_t size = record_call(sides, said, sizeof said);
  assert_int_equal(size, TT_TCP_HELLO_BYTES + TT_TCP_PROOF_BYTES);
  for (int n = 0; n < 10; n++) {
    int fd = open_stranger(&sides[1]);
    assert_int_equal(send(fd, said, size, 0), size);
    await_end(&sides[1], fd);
  }
  call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  await_pairs(sides, 1);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

/* ---- what they say ---- */

/* Something that is no proof: garbage, a hello with some bytes changed or cut, a good one with garbage behind it. */
static size_t make_input(tt_random *random, unsigned char *bytes, size_t room) {
  size_t size = tt_random_below(random, room);
  for (size_t n = 0; n + 8 <= room; n += 8) {
    uint64_t number = tt_random_next(random);
    memcpy(bytes + n, &number, sizeof number);
  }
  uint64_t kind = tt_random_below(random, 4);
  if (kind > 0)
    make_hello(bytes, (int64_t)tt_random_below(random, 100) + 2, 1);
  for (uint64_t changes = kind == 1 ? 1 + tt_random_below(random, 4) : 0; changes > 0; changes--)
    bytes[tt_random_below(random, TT_TCP_HELLO_BYTES)] ^= (unsigned char)(1 + tt_random_below(random, 255));
  return kind == 2 ? TT_TCP_HELLO_BYTES + tt_random_below(random, room - TT_TCP_HELLO_BYTES) : size;
}

static void test_random_bytes_do_not_get_in(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  uint64_t seed = (uint64_t)tt_clock_ns();
  int count = long_mode() ? 100000 : 10000;
  tt_random random;
  tt_random_init(&random, seed);
  print_message("seed %" PRIu64 "\n", seed);
  for (int n = 0; n < count; n++) {
    unsigned char bytes[192];
    size_t size = make_input(&random, bytes, sizeof bytes);
    int fd = open_stranger(&sides[1]);
    (void)send(fd, bytes, size, MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    await_end(&sides[1], fd);
  }
  call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  await_pairs(sides, 1);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_half_a_hello_and_silence_ends(void **state) {
  (void)state;
  side own = open_local(1, job_key);
  unsigned char hello[TT_TCP_HELLO_BYTES];
  make_hello(hello, 0, 1);
  int half = open_stranger(&own), whole = open_stranger(&own), silent = open_stranger(&own);
  assert_int_equal(send(half, hello, sizeof hello / 2, 0), sizeof hello / 2);
  assert_int_equal(send(whole, hello, sizeof hello, 0), sizeof hello);
  await_end(&own, half);
  await_end(&own, whole);
  await_end(&own, silent);
  tt_tcp_door_close(own.door);
}

/* ---- how many they are ---- */

static void test_only_so_many_strangers_are_held(void **state) {
  (void)state;
  enum { COUNT = 5 * PLACES };
  side own = open_local(1, job_key);
  int fd[COUNT], held = 0;
  int64_t begin_ns = tt_clock_ns();
  for (int n = 0; n < COUNT; n++)
    fd[n] = open_stranger(&own);
  int before = count_descriptors();
  for (int n = 0; n < COUNT - PLACES; n++)
    await_end(&own, fd[n]); /* the oldest first */
  for (int n = COUNT - PLACES; n < COUNT; n++) {
    held += is_open(fd[n]);
    close(fd[n]);
  }
  assert_true(held == PLACES || (held < PLACES && tt_clock_ns() - begin_ns > STRANGER_NS));
  assert_true(count_descriptors() <= before - COUNT + PLACES);
  tt_tcp_door_close(own.door);
}

static void test_all_of_many_ranks_get_in_that_come_at_once(void **state) {
  (void)state;
  enum { CALLERS = 4 * PLACES };
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  for (int n = 0; n < CALLERS; n++)
    call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  await_pairs(sides, CALLERS);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

static void test_ranks_get_in_between_strangers_that_stay(void **state) {
  (void)state;
  enum { CALLERS = 2 * PLACES, COUNT = 3 * PLACES };
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  unsigned char hello[TT_TCP_HELLO_BYTES];
  int fd[COUNT];
  make_hello(hello, 5, 1);
  for (int n = 0; n < COUNT; n++) {
    fd[n] = open_stranger(&sides[1]);
    if (n % 2)
      assert_int_equal(send(fd[n], hello, sizeof hello, 0), sizeof hello);
    if (n < CALLERS)
      call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
  }
  await_pairs(sides, CALLERS);
  for (int n = 0; n < COUNT; n++)
    close(fd[n]);
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

/* Connects as often as it can, says a good hello or garbage, and keeps the newest connections. For ever. */
static void flood(const struct sockaddr_storage *address, const unsigned char hello[static TT_TCP_HELLO_BYTES]) {
  enum { KEPT = 4 * PLACES };
  int kept[KEPT];
  memset(kept, -1, sizeof kept);
  for (unsigned n = 0;; n = (n + 1) % KEPT) {
    close(kept[n]);
    kept[n] = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK, 0);
    connect(kept[n], (const struct sockaddr *)address, address_bytes(address));
    send(kept[n], hello + n % 3, (size_t)(TT_TCP_HELLO_BYTES - (int)(n % 3)), MSG_NOSIGNAL);
  }
}

static pid_t start_flood(const side *at) {
  struct sockaddr_storage address = address_of(at, 0);
  unsigned char hello[TT_TCP_HELLO_BYTES];
  make_hello(hello, 5, 1);
  pid_t parent = getpid(), child = fork();
  if (child != 0)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent)
    flood(&address, hello);
  _exit(0);
}

static void test_ranks_get_in_through_a_flood(void **state) {
  (void)state;
  side sides[2] = {open_local(0, job_key), open_local(1, job_key)};
  pid_t child[2] = {start_flood(&sides[1]), start_flood(&sides[1])};
  for (int rounds = long_mode() ? 100 : 5; rounds > 0; rounds--) {
    for (int n = 0; n < 64; n++)
      call_side(&sides[0], 1, &sides[1], PATIENCE_NS);
    await_pairs(sides, 64);
  }
  for (int n = 0; n < 2; n++) {
    assert_int_equal(kill(child[n], SIGKILL), 0);
    assert_int_equal(waitpid(child[n], NULL, 0), child[n]);
  }
  tt_tcp_door_close(sides[0].door);
  tt_tcp_door_close(sides[1].door);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      DOOR_TEST(test_a_recorded_caller_does_not_get_in),
      DOOR_TEST(test_random_bytes_do_not_get_in),
      DOOR_TEST(test_half_a_hello_and_silence_ends),
      DOOR_TEST(test_only_so_many_strangers_are_held),
      DOOR_TEST(test_all_of_many_ranks_get_in_that_come_at_once),
      DOOR_TEST(test_ranks_get_in_between_strangers_that_stay),
      DOOR_TEST(test_ranks_get_in_through_a_flood),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
