/* transport/tcp/connection.h - one connection on one rail: bytes in, bytes out, is it alive?
 *
 *     who called      packets ->        <- acks (acknowledgements, credits)
 *
 * What it means, and what is done when it fails, is its pipe's (pipe.c). */
#ifndef TT_TRANSPORT_TCP_CONNECTION_H
#define TT_TRANSPORT_TCP_CONNECTION_H

#include "transport/streams/packets.h"
#include "transport/tcp/acks.h"

typedef enum tt_tcp_fate {
  TT_TCP_GOES,
  TT_TCP_ENDED,  /* by the other machine: its process has closed it, or has ended */
  TT_TCP_BROKEN, /* an error, or silence: the rail has failed */
  TT_TCP_WRONG,  /* what came can not have been said by a peer that is well */
  TT_TCP_LACKS   /* no memory here; recorded */
} tt_tcp_fate;

typedef struct tt_tcp_connection {
  struct tt_tcp_connection *next; /* of those that came from its peer; of those to be freed */
  int fd;                         /* -1: closed, to be freed */
  int32_t rail;
  int64_t peer, opened_ns;
  bool called;                /* by this rank: it sends packets, and gets acks */
  bool full;                  /* the system takes no more now */
  bool watched;               /* epoll tells when it does */
  const char *why;            /* what was wrong, for the log; where an error number says more: NULL */
  int error;                  /* that number */
  uint64_t moved, told_moved; /* bytes, both ways; those already counted for its rail */
  uint64_t received;          /* of `moved` */
  struct tt_tcp_tail {        /* at the last look (tail.c) */
    uint64_t sent;            /* of `moved` */
    size_t in_flight;
    int nudges; /* since something has moved */
  } tail;
  /* out */
  tt_streams_queue sent; /* whole, and not acknowledged; but for the last one's bytes from `part` on */
  size_t part;           /* 0: the last one is whole, too */
  tt_tcp_acks acks;
  /* in */
  unsigned char piece[sizeof(tt_streams_head)]; /* of a head or an ack */
  size_t piece_bytes;
  tt_streams_packet *packet; /* that is coming */
  size_t packet_bytes;       /* of its data, that have come */
  uint64_t skip_bytes;       /* of a packet that had come before */
} tt_tcp_connection;

/* What a connection tells of what came. */
typedef struct tt_tcp_reader {
  /* Where the data of a packet goes; *packet = NULL: nowhere, it has come before. head: in this machine's order. */
  tt_tcp_fate (*begin)(void *user, tt_tcp_connection *connection, const tt_streams_head *head,
                       tt_streams_packet **packet);
  tt_tcp_fate (*deliver_take)(void *user, tt_tcp_connection *connection, tt_streams_packet *packet);
  tt_tcp_fate (*ack)(void *user, tt_tcp_connection *connection, tt_tcp_ack ack);
  void *user;
} tt_tcp_reader;

#define TT_TCP_SCRATCH_BYTES ((size_t)16 << 10)

/* Takes fd. NULL: no memory. */
tt_tcp_connection *tt_tcp_connection_create(int fd, int64_t peer, int32_t rail, bool called);
/* Closes the connection: reset, so that nothing of it stays; or in good order. Its packets stay. */
void tt_tcp_connection_close(tt_tcp_connection *connection, bool reset);
/* Gives back what it holds, and frees it. */
void tt_tcp_connection_destroy(tt_tcp_connection *connection, tt_streams_pool *pool);

/* Takes packets from the queue to `sent` as far as the system takes their bytes; `most`: bytes, and one packet at
 * least. Calls whole(user, packet) for each that is gone whole. */
tt_tcp_fate tt_tcp_connection_send(tt_tcp_connection *connection, tt_streams_queue *from, size_t most,
                                   void (*whole)(void *user, const tt_streams_packet *packet), void *user);
tt_tcp_fate tt_tcp_connection_say(tt_tcp_connection *connection);
/* Reads at most `most` bytes, or a little more; scratch: TT_TCP_SCRATCH_BYTES, of any connection. */
tt_tcp_fate tt_tcp_connection_read(tt_tcp_connection *connection, size_t most, unsigned char *scratch,
                                   const tt_tcp_reader *reader);

/* Sends something that the other end skips, so that its system tells what it lacks of what was sent before. */
tt_tcp_fate tt_tcp_connection_nudge(tt_tcp_connection *connection);
/* Bytes that the other machine has not acknowledged. */
size_t tt_tcp_connection_in_flight(const tt_tcp_connection *connection);
/* Whether the other machine has not answered for long, though it was asked again and again. A process that is stopped
 * is not meant: its machine answers. */
bool tt_tcp_connection_is_silent(const tt_tcp_connection *connection);
/* Whether a NIC of this machine can not carry anything now. */
bool tt_tcp_nic_is_down(const char name[static 16]);

#endif
