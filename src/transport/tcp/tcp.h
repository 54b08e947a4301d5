/* transport/tcp/tcp.h - the transport between machines: slots of streams over TCP, on every rail at once.
 *
 *     tcp.c                 the table; opening: one allgather tells addresses and the job's key
 *     ../streams/           streams: slots, credits, what came early; knows no socket
 *     pipe.c peer.c         packets to each rank: numbered, sent on whichever rail is free, kept until acknowledged,
 *                           sent again elsewhere when a rail fails; knows no stream
 *     back.c acks.c         packets from each rank: used once, acknowledged, with credits
 *     reach.c               which connections there are, and who is dead
 *     connection.c read.c   one connection, on one rail: bytes out and in
 *     door.c calls.c        nobody comes in who does not prove that he holds the job's key
 *
 * Connections are opened by who sends, on first need, one for each peer and rail; the data of the other direction has
 * connections of its own. So the way back of each is free for acknowledgements and credits, which never stand behind
 * bulk data. A slot is a packet is a chunk: it travels whole on one rail, is used when it is whole, once, and kept by
 * the sender until it is acknowledged. */
#ifndef TT_TRANSPORT_TCP_TCP_H
#define TT_TRANSPORT_TCP_TCP_H

#include "transport/between.h"

#define TT_TCP_KEY_BYTES 32 /* of the job's key: made in opening, proven at every door */

/* Rails of two machines belong together where their networks are equal, else by their place in the list.
 *
 * Beside the vtable's promises: peer_dead says 1 for a process that has ended without a word and can not be reached any
 * more, 2 for one that has closed; silence alone is neither. */
const tutti_transport_ops *tt_tcp_ops(void); /* config: tt_between_config */

/* What has gone over a rail so far; for benchmarks and tests. Names as in the config. */
typedef struct tt_tcp_counts {
  char name[16];
  uint64_t sent_bytes, received_bytes; /* packets with their heads, sent again ones included */
  uint64_t resent;                     /* packets that had to be sent again since this rail failed */
  uint64_t retired;                    /* how often a connection on it was given up */
} tt_tcp_counts;

/* counts: room for TT_RAILS_MOST; returns how many. */
int64_t tt_tcp_count(void *self, tt_tcp_counts *counts);

#endif
