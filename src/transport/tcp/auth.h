/* transport/tcp/auth.h - how two ranks prove to each other that they hold the job's key: one connection, from its first
 * byte to the moment when either end knows.
 *
 *     HELLO    64 bytes   mark 8 | from 8 | to 8 | rail 4 | reserved 4 | random 32        who connects ->
 *     ANSWER   64 bytes   random 32 | HMAC(key, "listener" | hello | random)              <- who listens
 *     PROOF    32 bytes   HMAC(key, "caller" | hello | random)                            who connects ->
 *     WELCOME   1 byte    so that who connects knows that he has not been turned away     <- who listens
 *
 * Numbers are little-endian, HMAC is HMAC-SHA-256. All lengths are fixed, so nothing is allocated for a stranger. The
 * words differ, so that no proof can be sent back to who made it. Knows descriptors; opens and closes none. */
#ifndef TT_TRANSPORT_TCP_AUTH_H
#define TT_TRANSPORT_TCP_AUTH_H

#include "transport/tcp/tcp.h"

enum { TT_TCP_HELLO_BYTES = 64, TT_TCP_ANSWER_BYTES = 64, TT_TCP_PROOF_BYTES = 32, TT_TCP_WELCOME_BYTES = 1 };
enum { TT_TCP_RANDOM_BYTES = 32 };

typedef enum tt_tcp_verdict {
  TT_TCP_WAITS,  /* for more from the other end */
  TT_TCP_PROVEN, /* both ends hold the key */
  TT_TCP_LOST,   /* the connection has ended; errno says how */
  TT_TCP_WRONG   /* the other end is a stranger */
} tt_tcp_verdict;

typedef enum tt_tcp_stage {
  TT_TCP_AWAITS_HELLO,
  TT_TCP_AWAITS_PROOF,
  TT_TCP_AWAITS_ANSWER,
  TT_TCP_AWAITS_WELCOME
} tt_tcp_stage;

typedef struct tt_tcp_auth {
  tt_tcp_stage stage;
  int64_t rank; /* own */
  int64_t peer; /* of who listens: as the hello says, true once proven */
  size_t heard; /* bytes of this stage's message */
  unsigned char in[64];
  unsigned char hello[TT_TCP_HELLO_BYTES];
  unsigned char random[TT_TCP_RANDOM_BYTES]; /* of who listens */
} tt_tcp_auth;

/* Says hello on a connection that is established. */
tt_tcp_verdict tt_tcp_auth_call(tt_tcp_auth *auth, int fd, int64_t rank, int64_t peer, int32_t rail);
/* Gets ready for what somebody says who has connected. */
void tt_tcp_auth_listen(tt_tcp_auth *auth, int64_t rank);
/* Goes on with what has come. Takes no byte from fd that follows the last of these messages. */
tt_tcp_verdict tt_tcp_auth_go(tt_tcp_auth *auth, int fd, const unsigned char key[TT_TCP_KEY_BYTES]);

#endif
