/* transport/tcp/acks.h - what is said on the way back of a connection: 24 bytes each, little-endian. All of it stays
 * true for ever, so that it can be said twice, in any order, on any connection. */
#ifndef TT_TRANSPORT_TCP_ACKS_H
#define TT_TRANSPORT_TCP_ACKS_H

#include "base/base.h"

#define TT_TCP_ACK_BYTES 24

typedef enum tt_tcp_ack_kind {
  TT_TCP_HAD = 1,  /* packets first .. last have come */
  TT_TCP_RELEASED, /* of stream `first`, `count` slots have been released, ever */
  TT_TCP_LEAVES    /* who says it closes, and has sent packets 1 .. last */
} tt_tcp_ack_kind;

typedef struct tt_tcp_ack {
  uint32_t kind, count;
  uint64_t first, last;
} tt_tcp_ack;

void tt_tcp_ack_put(unsigned char wire[static TT_TCP_ACK_BYTES], tt_tcp_ack ack);
tt_tcp_ack tt_tcp_ack_get(const unsigned char wire[static TT_TCP_ACK_BYTES]);

/* What is to be said on one connection. */
typedef struct tt_tcp_acks {
  unsigned char *bytes; /* from `begin` on to `end`; the first of them may be the rest of an ack */
  size_t begin, end, size;
} tt_tcp_acks;

tutti_status tt_tcp_acks_add(tt_tcp_acks *acks, tt_tcp_ack ack);
void tt_tcp_acks_finish(tt_tcp_acks *acks);

#endif
