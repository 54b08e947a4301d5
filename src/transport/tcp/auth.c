/* transport/tcp/auth.c - the four messages of auth.h: written, read and judged.
 *
 * Each is one send: the first bytes of a connection always find room, so one that does not go whole is a connection
 * lost. Costs a connection two round trips beside its own, and each end two HMACs of some 130 bytes: about a
 * microsecond. */
#include "transport/tcp/auth.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>
#include <sys/socket.h>

static_assert(TT_TCP_KEY_BYTES == crypto_auth_hmacsha256_KEYBYTES, "the key is one of HMAC-SHA-256");
static_assert(TT_TCP_PROOF_BYTES == crypto_auth_hmacsha256_BYTES, "a proof is an HMAC-SHA-256");
static_assert(TT_TCP_ANSWER_BYTES == TT_TCP_RANDOM_BYTES + TT_TCP_PROOF_BYTES, "an answer is these two");

static const unsigned char mark[8] = {'t', 'u', 't', 't', 'i', 't', 'c', 1}; /* last: version of what follows */
static const unsigned char welcome[TT_TCP_WELCOME_BYTES] = {'w'};

enum { FROM_AT = 8, TO_AT = 16, RAIL_AT = 24, RESERVED_AT = 28, RANDOM_AT = 32 };

static_assert(RANDOM_AT + TT_TCP_RANDOM_BYTES == TT_TCP_HELLO_BYTES, "a hello ends with its random bytes");
/* ---- bytes ---- */

static void put(unsigned char *to, uint64_t number, size_t size) {
  for (size_t n = 0; n < size; n++)
    to[n] = (unsigned char)(number >> 8 * n);
}

static uint64_t get(const unsigned char *from, size_t size) {
  uint64_t number = 0;
  for (size_t n = 0; n < size; n++)
    number |= (uint64_t)from[n] << 8 * n;
  return number;
}

static void write_hello(unsigned char *hello, int64_t from, int64_t to, int32_t rail) {
  memcpy(hello, mark, sizeof mark);
  put(hello + FROM_AT, (uint64_t)from, 8);
  put(hello + TO_AT, (uint64_t)to, 8);
  put(hello + RAIL_AT, (uint64_t)rail, 4);
  put(hello + RESERVED_AT, 0, 4);
  randombytes_buf(hello + RANDOM_AT, TT_TCP_RANDOM_BYTES);
}

/* Whether this is a hello to that rank from another; who it is from then. */
static bool read_hello(const unsigned char *hello, int64_t rank, int64_t *from) {
  uint64_t caller = get(hello + FROM_AT, 8), rail = get(hello + RAIL_AT, 4);
  *from = (int64_t)caller;
  return memcmp(hello, mark, sizeof mark) == 0 && caller <= INT64_MAX && *from != rank &&
         get(hello + TO_AT, 8) == (uint64_t)rank && rail < TT_RAILS_MOST && get(hello + RESERVED_AT, 4) == 0;
}

/* ---- proofs ---- */

static void prove(const tt_tcp_auth *auth, const unsigned char *key, const char *who, unsigned char *proof) {
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, key, TT_TCP_KEY_BYTES);
  crypto_auth_hmacsha256_update(&state, (const unsigned char *)who, strlen(who));
  crypto_auth_hmacsha256_update(&state, auth->hello, sizeof auth->hello);
  crypto_auth_hmacsha256_update(&state, auth->random, sizeof auth->random);
  crypto_auth_hmacsha256_final(&state, proof);
  sodium_memzero(&state, sizeof state);
}

static bool is_proof(const tt_tcp_auth *auth, const unsigned char *key, const char *who, const unsigned char *proof) {
  unsigned char right[TT_TCP_PROOF_BYTES];
  prove(auth, key, who, right);
  return sodium_memcmp(right, proof, sizeof right) == 0;
}

/* ---- who listens ---- */

static tt_tcp_verdict say(int fd, const unsigned char *bytes, size_t size) {
  ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent == (ssize_t)size)
    return TT_TCP_WAITS;
  if (sent >= 0 || errno == EAGAIN)
    errno = ENOBUFS;
  return TT_TCP_LOST;
}

static tt_tcp_verdict hear_hello(tt_tcp_auth *auth, int fd, const unsigned char *key) {
  unsigned char answer[TT_TCP_ANSWER_BYTES];
  memcpy(auth->hello, auth->in, sizeof auth->hello);
  if (!read_hello(auth->hello, auth->rank, &auth->peer))
    return TT_TCP_WRONG;
  randombytes_buf(auth->random, sizeof auth->random);
  memcpy(answer, auth->random, sizeof auth->random);
  prove(auth, key, "listener", answer + TT_TCP_RANDOM_BYTES);
  auth->stage = TT_TCP_AWAITS_PROOF;
  return say(fd, answer, sizeof answer);
}

static tt_tcp_verdict hear_proof(tt_tcp_auth *auth, int fd, const unsigned char *key) {
  if (!is_proof(auth, key, "caller", auth->in))
    return TT_TCP_WRONG;
  return say(fd, welcome, sizeof welcome) == TT_TCP_LOST ? TT_TCP_LOST : TT_TCP_PROVEN;
}

void tt_tcp_auth_listen(tt_tcp_auth *auth, int64_t rank) {
  *auth = (tt_tcp_auth){.stage = TT_TCP_AWAITS_HELLO, .rank = rank, .peer = -1};
}

/* ---- who connects ---- */

static tt_tcp_verdict hear_answer(tt_tcp_auth *auth, int fd, const unsigned char *key) {
  unsigned char proof[TT_TCP_PROOF_BYTES];
  memcpy(auth->random, auth->in, sizeof auth->random);
  if (!is_proof(auth, key, "listener", auth->in + TT_TCP_RANDOM_BYTES))
    return TT_TCP_WRONG;
  prove(auth, key, "caller", proof);
  auth->stage = TT_TCP_AWAITS_WELCOME;
  return say(fd, proof, sizeof proof);
}

static tt_tcp_verdict hear_welcome(tt_tcp_auth *auth) {
  return memcmp(auth->in, welcome, sizeof welcome) == 0 ? TT_TCP_PROVEN : TT_TCP_LOST;
}

tt_tcp_verdict tt_tcp_auth_call(tt_tcp_auth *auth, int fd, int64_t rank, int64_t peer, int32_t rail) {
  *auth = (tt_tcp_auth){.stage = TT_TCP_AWAITS_ANSWER, .rank = rank, .peer = peer};
  write_hello(auth->hello, rank, peer, rail);
  return say(fd, auth->hello, sizeof auth->hello);
}

/* ---- both ---- */

static size_t bytes_of(tt_tcp_stage stage) {
  static const size_t bytes[] = {[TT_TCP_AWAITS_HELLO] = TT_TCP_HELLO_BYTES,
                                 [TT_TCP_AWAITS_PROOF] = TT_TCP_PROOF_BYTES,
                                 [TT_TCP_AWAITS_ANSWER] = TT_TCP_ANSWER_BYTES,
                                 [TT_TCP_AWAITS_WELCOME] = TT_TCP_WELCOME_BYTES};
  return bytes[stage];
}

static tt_tcp_verdict judge(tt_tcp_auth *auth, int fd, const unsigned char *key) {
  switch (auth->stage) {
  case TT_TCP_AWAITS_HELLO:
    return hear_hello(auth, fd, key);
  case TT_TCP_AWAITS_PROOF:
    return hear_proof(auth, fd, key);
  case TT_TCP_AWAITS_ANSWER:
    return hear_answer(auth, fd, key);
  default:
    return hear_welcome(auth);
  }
}

tt_tcp_verdict tt_tcp_auth_go(tt_tcp_auth *auth, int fd, const unsigned char key[TT_TCP_KEY_BYTES]) {
  tt_tcp_verdict verdict = TT_TCP_WAITS;
  while (verdict == TT_TCP_WAITS) {
    size_t bytes = bytes_of(auth->stage);
    assert(auth->heard < bytes && bytes <= sizeof auth->in);
    ssize_t got = recv(fd, auth->in + auth->heard, bytes - auth->heard, MSG_DONTWAIT);
    if (got < 0)
      return errno == EAGAIN || errno == EINTR ? TT_TCP_WAITS : TT_TCP_LOST;
    errno = ECONNRESET; /* where it has ended without an error */
    if (got == 0)
      return TT_TCP_LOST;
    auth->heard += (size_t)got;
    if (auth->heard < bytes)
      continue;
    auth->heard = 0;
    verdict = judge(auth, fd, key);
  }
  return verdict;
}
