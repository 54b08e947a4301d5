/* The proof that two ranks hold the same key, over socket pairs with a man in the middle who records and changes it. */
#include "transport/tcp/auth.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { CALLER = 3, LISTENER = 5, RAIL = 1 };
enum { HELLO, ANSWER, PROOF, WELCOME, MESSAGES };
static const size_t bytes_of[MESSAGES] = {TT_TCP_HELLO_BYTES, TT_TCP_ANSWER_BYTES, TT_TCP_PROOF_BYTES,
                                          TT_TCP_WELCOME_BYTES};

static const unsigned char key[TT_TCP_KEY_BYTES] = "the key of this job, 32 bytes..";
static const unsigned char other_key[TT_TCP_KEY_BYTES] = "the key of that job, 32 bytes..";

/* One of both ends, and the middle's hold on it. */
typedef struct end {
  int fd, middle;
  tt_tcp_auth auth;
  tt_tcp_verdict verdict;
  const unsigned char *key;
} end;

static void end_open(end *of, const unsigned char *with) {
  int pair[2];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
  *of = (end){.fd = pair[0], .middle = pair[1], .key = with};
}

static void end_close(end *of) {
  close(of->fd);
  close(of->middle);
}

static void go(end *of) {
  if (of->verdict == TT_TCP_WAITS)
    of->verdict = tt_tcp_auth_go(&of->auth, of->fd, of->key);
}

/* What the middle does to a conversation. */
typedef struct middle {
  unsigned char said[MESSAGES][64]; /* recorded, as it was said */
  bool was_said[MESSAGES];
  int message, byte; /* to be changed, with: */
  unsigned char flip;
} middle;

/* Carries the next message over; true: there was one. */
static bool carry(middle *by, int message, end *from, end *to) {
  unsigned char *said = by->said[message];
  ssize_t got = recv(from->middle, said, bytes_of[message], 0);
  by->was_said[message] = got == (ssize_t)bytes_of[message];
  if (!by->was_said[message])
    return false;
  unsigned char changed[64];
  memcpy(changed, said, sizeof changed);
  if (by->message == message)
    changed[by->byte] ^= by->flip;
  assert_int_equal(send(to->middle, changed, bytes_of[message], 0), bytes_of[message]);
  go(to);
  return true;
}

static void talk(middle *by, end *caller, end *listener, int64_t to) {
  caller->verdict = tt_tcp_auth_call(&caller->auth, caller->fd, CALLER, to, RAIL);
  tt_tcp_auth_listen(&listener->auth, LISTENER);
  for (int message = HELLO; message < MESSAGES; message++)
    if (!carry(by, message, message % 2 == 0 ? caller : listener, message % 2 == 0 ? listener : caller))
      break;
}

/* A whole conversation; what both ends think of it in the end. */
static void converse(middle *by, const unsigned char *caller_key, const unsigned char *listener_key,
                     tt_tcp_verdict verdict[2]) {
  end caller, listener;
  end_open(&caller, caller_key);
  end_open(&listener, listener_key);
  talk(by, &caller, &listener, LISTENER);
  verdict[0] = caller.verdict;
  verdict[1] = listener.verdict;
  if (listener.verdict == TT_TCP_PROVEN)
    assert_int_equal(listener.auth.peer, CALLER);
  end_close(&caller);
  end_close(&listener);
}

static void test_two_with_the_same_key_are_proven(void **state) {
  (void)state;
  middle nobody = {.message = -1};
  tt_tcp_verdict verdict[2];
  converse(&nobody, key, key, verdict);
  assert_int_equal(verdict[0], TT_TCP_PROVEN);
  assert_int_equal(verdict[1], TT_TCP_PROVEN);
}

static void test_hello_is_little_endian_and_random(void **state) {
  (void)state;
  middle once = {.message = -1}, again = {.message = -1};
  tt_tcp_verdict verdict[2];
  static const unsigned char fixed[32] = {
      't', 'u', 't', 't', 'i', 't', 'c', 1, [8] = CALLER, [16] = LISTENER, [24] = RAIL};
  converse(&once, key, key, verdict);
  converse(&again, key, key, verdict);
  assert_memory_equal(once.said[HELLO], fixed, sizeof fixed);
  assert_memory_not_equal(once.said[HELLO] + 32, again.said[HELLO] + 32, 32);
  assert_memory_not_equal(once.said[ANSWER], again.said[ANSWER], 32);
  assert_memory_not_equal(once.said[ANSWER] + 32, again.said[ANSWER] + 32, 32);
  assert_memory_not_equal(once.said[PROOF], again.said[PROOF], 32);
}

static void test_another_key_is_refused_by_who_connects(void **state) {
  (void)state;
  middle nobody = {.message = -1};
  tt_tcp_verdict verdict[2];
  converse(&nobody, key, other_key, verdict);
  assert_int_equal(verdict[0], TT_TCP_WRONG);
  assert_int_equal(verdict[1], TT_TCP_WAITS);
  assert_false(nobody.was_said[PROOF]);
}

/* Of messages before the last, nobody comes in whose bytes were changed; and who connects notices a wrong answer. */
static void check_changed(int message, int byte, unsigned char flip) {
  middle enemy = {.message = message, .byte = byte, .flip = flip};
  tt_tcp_verdict verdict[2];
  converse(&enemy, key, key, verdict);
  assert_true(enemy.was_said[message]);
  assert_true(verdict[0] != TT_TCP_PROVEN);
  if (message != WELCOME)
    assert_true(verdict[1] != TT_TCP_PROVEN);
  if (message == ANSWER)
    assert_int_equal(verdict[0], TT_TCP_WRONG);
  if (message == PROOF)
    assert_int_equal(verdict[1], TT_TCP_WRONG);
}

static void test_every_bit_of_every_message_counts(void **state) {
  (void)state;
  for (int message = 0; message < MESSAGES; message++)
    for (int byte = 0; byte < (int)bytes_of[message]; byte++)
      for (int bit = 0; bit < 8; bit++)
        check_changed(message, byte, (unsigned char)(1 << bit));
}

static void test_every_byte_may_come_alone(void **state) {
  (void)state;
  end caller, listener;
  end_open(&caller, key);
  end_open(&listener, key);
  caller.verdict = tt_tcp_auth_call(&caller.auth, caller.fd, CALLER, LISTENER, RAIL);
  tt_tcp_auth_listen(&listener.auth, LISTENER);
  for (int message = HELLO; message < MESSAGES; message++) {
    end *from = message % 2 == 0 ? &caller : &listener, *to = message % 2 == 0 ? &listener : &caller;
    for (size_t n = 0; n < bytes_of[message]; n++) {
      unsigned char byte;
      assert_int_equal(to->verdict, TT_TCP_WAITS);
      assert_int_equal(recv(from->middle, &byte, 1, 0), 1);
      assert_int_equal(send(to->middle, &byte, 1, 0), 1);
      go(to);
    }
  }
  assert_int_equal(caller.verdict, TT_TCP_PROVEN);
  assert_int_equal(listener.verdict, TT_TCP_PROVEN);
  end_close(&caller);
  end_close(&listener);
}

static tt_tcp_verdict listen_to(const unsigned char *bytes, size_t size, bool ends) {
  end listener;
  end_open(&listener, key);
  tt_tcp_auth_listen(&listener.auth, LISTENER);
  assert_int_equal(send(listener.middle, bytes, size, 0), size);
  if (ends)
    shutdown(listener.middle, SHUT_WR);
  go(&listener);
  end_close(&listener);
  return listener.verdict;
}

static void test_what_was_recorded_is_worth_nothing(void **state) {
  (void)state;
  middle record = {.message = -1};
  tt_tcp_verdict verdict[2];
  converse(&record, key, key, verdict);
  unsigned char all[TT_TCP_HELLO_BYTES + TT_TCP_PROOF_BYTES];
  memcpy(all, record.said[HELLO], TT_TCP_HELLO_BYTES);
  memcpy(all + TT_TCP_HELLO_BYTES, record.said[PROOF], TT_TCP_PROOF_BYTES);
  assert_int_equal(listen_to(all, sizeof all, false), TT_TCP_WRONG);

  end caller; /* who listens is played by the enemy */
  end_open(&caller, key);
  assert_int_equal(tt_tcp_auth_call(&caller.auth, caller.fd, CALLER, LISTENER, RAIL), TT_TCP_WAITS);
  assert_int_equal(send(caller.middle, record.said[ANSWER], TT_TCP_ANSWER_BYTES, 0), TT_TCP_ANSWER_BYTES);
  assert_int_equal(tt_tcp_auth_go(&caller.auth, caller.fd, key), TT_TCP_WRONG);
  end_close(&caller);
}

/* An enemy without the key answers a hello with its own bytes, and a listener's answer with its own proof. */
static void test_what_was_said_can_not_be_said_back(void **state) {
  (void)state;
  end caller, listener;
  unsigned char bytes[TT_TCP_ANSWER_BYTES];
  end_open(&caller, key);
  caller.verdict = tt_tcp_auth_call(&caller.auth, caller.fd, CALLER, LISTENER, RAIL);
  assert_int_equal(recv(caller.middle, bytes, sizeof bytes, 0), sizeof bytes);
  assert_int_equal(send(caller.middle, bytes, sizeof bytes, 0), sizeof bytes);
  go(&caller);
  assert_int_equal(caller.verdict, TT_TCP_WRONG);

  end_open(&listener, key);
  tt_tcp_auth_listen(&listener.auth, LISTENER);
  assert_int_equal(send(listener.middle, bytes, sizeof bytes, 0), sizeof bytes);
  go(&listener);
  assert_int_equal(recv(listener.middle, bytes, sizeof bytes, 0), sizeof bytes);
  assert_int_equal(send(listener.middle, bytes + 32, TT_TCP_PROOF_BYTES, 0), TT_TCP_PROOF_BYTES);
  go(&listener);
  assert_int_equal(listener.verdict, TT_TCP_WRONG);
  end_close(&caller);
  end_close(&listener);
}

static tt_tcp_verdict hello_of(int64_t from, int64_t to, int32_t rail) {
  end caller;
  unsigned char hello[TT_TCP_HELLO_BYTES];
  end_open(&caller, key);
  assert_int_equal(tt_tcp_auth_call(&caller.auth, caller.fd, from, to, rail), TT_TCP_WAITS);
  assert_int_equal(recv(caller.middle, hello, sizeof hello, 0), sizeof hello);
  end_close(&caller);
  return listen_to(hello, sizeof hello, false);
}

static void test_hello_must_be_to_this_rank_from_another_on_a_rail(void **state) {
  (void)state;
  const int64_t large = INT64_C(1) << 40;
  assert_int_equal(hello_of(CALLER, LISTENER, 0), TT_TCP_WAITS);
  assert_int_equal(hello_of(large, LISTENER, TT_RAILS_MOST - 1), TT_TCP_WAITS);
  assert_int_equal(hello_of(CALLER, LISTENER + 1, 0), TT_TCP_WRONG);
  assert_int_equal(hello_of(CALLER, LISTENER + large, 0), TT_TCP_WRONG);
  assert_int_equal(hello_of(LISTENER, LISTENER, 0), TT_TCP_WRONG);
  assert_int_equal(hello_of(-1, LISTENER, 0), TT_TCP_WRONG);
  assert_int_equal(hello_of(INT64_MIN, LISTENER, 0), TT_TCP_WRONG);
  assert_int_equal(hello_of(CALLER, LISTENER, TT_RAILS_MOST), TT_TCP_WRONG);
  assert_int_equal(hello_of(CALLER, LISTENER, -1), TT_TCP_WRONG);
}

static void test_an_end_in_the_middle_of_a_hello_is_a_loss(void **state) {
  (void)state;
  middle record = {.message = -1};
  tt_tcp_verdict verdict[2];
  converse(&record, key, key, verdict);
  for (size_t size = 0; size < TT_TCP_HELLO_BYTES; size++) {
    assert_int_equal(listen_to(record.said[HELLO], size, false), TT_TCP_WAITS);
    errno = 0;
    assert_int_equal(listen_to(record.said[HELLO], size, true), TT_TCP_LOST);
  }
}

/* What follows the last message is for whoever gets the connection. */
static void test_no_byte_is_taken_that_follows(void **state) {
  (void)state;
  end caller, listener;
  middle nobody = {.message = -1};
  char byte = 0;
  end_open(&caller, key);
  end_open(&listener, key);
  caller.verdict = tt_tcp_auth_call(&caller.auth, caller.fd, CALLER, LISTENER, RAIL);
  tt_tcp_auth_listen(&listener.auth, LISTENER);
  assert_true(carry(&nobody, HELLO, &caller, &listener));
  assert_true(carry(&nobody, ANSWER, &listener, &caller));
  unsigned char proof[TT_TCP_PROOF_BYTES + 1] = {[TT_TCP_PROOF_BYTES] = 'x'}, said[2] = {0, 'y'};
  assert_int_equal(recv(caller.middle, proof, TT_TCP_PROOF_BYTES, 0), TT_TCP_PROOF_BYTES);
  assert_int_equal(send(listener.middle, proof, sizeof proof, 0), sizeof proof);
  go(&listener);
  assert_int_equal(listener.verdict, TT_TCP_PROVEN);
  assert_int_equal(recv(listener.fd, &byte, 1, 0), 1);
  assert_int_equal(byte, 'x');
  assert_int_equal(recv(listener.middle, said, 1, 0), 1);
  assert_int_equal(send(caller.middle, said, sizeof said, 0), sizeof said);
  go(&caller);
  assert_int_equal(caller.verdict, TT_TCP_PROVEN);
  assert_int_equal(recv(caller.fd, &byte, 1, 0), 1);
  assert_int_equal(byte, 'y');
  end_close(&caller);
  end_close(&listener);
}

static int start(void **state) {
  (void)state;
  return sodium_init() < 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_two_with_the_same_key_are_proven),
      cmocka_unit_test(test_hello_is_little_endian_and_random),
      cmocka_unit_test(test_another_key_is_refused_by_who_connects),
      cmocka_unit_test(test_every_bit_of_every_message_counts),
      cmocka_unit_test(test_every_byte_may_come_alone),
      cmocka_unit_test(test_what_was_recorded_is_worth_nothing),
      cmocka_unit_test(test_what_was_said_can_not_be_said_back),
      cmocka_unit_test(test_hello_must_be_to_this_rank_from_another_on_a_rail),
      cmocka_unit_test(test_an_end_in_the_middle_of_a_hello_is_a_loss),
      cmocka_unit_test(test_no_byte_is_taken_that_follows),
  };
  return cmocka_run_group_tests(tests, start, NULL);
}
