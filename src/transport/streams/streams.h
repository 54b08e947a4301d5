/* transport/streams/streams.h - streams of slots over packets: what transports have in common whose ranks send each
 * other messages (tcp, ucx).
 *
 *     streams.c   slots and credits: the functions of a transport's table
 *     inbox.c     what came early, or late
 *     packets.c   a pool of packets, and their heads; numbers.c: which of them have come; table.c: what is kept
 *
 * Below is a carrier of the transport's own: it numbers packets, brings each to its rank once, in any order, and knows
 * who is gone. Packets that come are given to tt_streams_deliver_take. */
#ifndef TT_TRANSPORT_STREAMS_STREAMS_H
#define TT_TRANSPORT_STREAMS_STREAMS_H

#include "base/base.h"

#include <tutti/transport.h>

/* ---- packets: what slots travel as ---- */

/* As it travels: 64 bytes, little-endian, then the data. */
typedef struct tt_streams_head {
  uint64_t packet; /* number on its way to that rank, from 1 */
  uint64_t id;     /* of its stream */
  uint64_t stream; /* one opening of that stream by its writer, who gives each a number of its own: what is on the way
                      when a stream is closed can not be taken for the next one's of the same id */
  uint32_t slot;   /* number in its stream; wraps */
  uint32_t bytes;  /* of data */
  uint8_t kind;    /* TT_STREAMS_DATA .. */
  uint8_t again;   /* sent before, on a rail that has failed: the receiver says its whole state again */
  uint16_t unused; /* openings of that id by its writer since the last that was used: nothing is said of those */
  uint8_t reserved[12];
  tutti_slot_header header;
} tt_streams_head;

enum {
  TT_STREAMS_DATA = 1, /* a slot */
  TT_STREAMS_END,      /* the writer has closed its stream; slot: how many there were */
  TT_STREAMS_BYE,      /* the last packet to a rank; streams do not see it */
  TT_STREAMS_OWN       /* from here on: a carrier's own, which have no number */
};

#define TT_STREAMS_PACKET_BYTES (UINT32_C(1) << 30) /* of data, at most: a head that says more is an enemy's */

typedef struct tt_streams_packet {
  struct tt_streams_packet *next;
  int64_t peer;
  uint64_t number, stream; /* as in the head, which has the order of the wire once the packet is on its way */
  void *carrier;           /* the carrier's own, as is `rail` */
  uint32_t bytes;
  uint8_t size_class, rail;
  bool note; /* no call's data, perhaps to a rank that this one has no call with */
  uint8_t padding[17];
  tt_streams_head head;
  unsigned char data[]; /* 64-byte aligned, right behind the head */
} tt_streams_packet;

#define TT_STREAMS_CLASSES 16 /* 64 << class bytes of room; longer packets are not kept */

typedef struct tt_streams_pool {
  tt_streams_packet *kept[TT_STREAMS_CLASSES];
  size_t bytes; /* in all that are kept */
} tt_streams_pool;

/* ---- the carrier, and streams over it ---- */

typedef struct tt_streams_node tt_streams_node; /* what table.c keeps */

typedef struct tt_streams_carrier {
  const char *name; /* "tcp", for errors */
  tt_streams_pool *pool;
  /* Sends packet->head.bytes of data to packet->peer. id, stream, slot, bytes, kind, unused and header are set; the
   * rest of the head is the carrier's. What is for a peer that is gone is dropped. */
  tutti_status (*send_take)(void *user, tt_streams_packet *packet);
  /* Tells the peer how many slots of that stream of his have been released, ever. `now`: do not wait for others to go
   * with. */
  tutti_status (*credit)(void *user, int64_t peer, uint64_t stream, uint32_t count, bool now);
  uint64_t (*had)(void *user, int64_t peer); /* packets 1 .. that have come from the peer */
  int (*dead)(void *user, int64_t peer);     /* as peer_dead of a transport's table */
  void *user;
} tt_streams_carrier;

/* The first member of a transport that uses these functions as its table's. */
typedef struct tt_streams {
  int64_t rank, rank_count;
  uint32_t window; /* slots of a stream; equal on all ranks */
  tt_streams_carrier carrier;
  tt_streams_node **bucket;
  size_t bucket_count, node_count; /* bucket_count: a power of two, or 0 */
  uint64_t last_stream;            /* number of the newest that this rank writes */
} tt_streams;

/* Closes all that are open. The carrier still is. */
void tt_streams_finish(tt_streams *self);

/* ---- what the carrier calls; user: tt_streams ---- */

/* A packet has come; kept until it is given back to the pool. */
tutti_status tt_streams_deliver_take(void *user, tt_streams_packet *packet);
/* Of the packets of that stream, so many more need this rank's progress; -1: one fewer. */
void tt_streams_add_unsent(void *user, uint64_t stream, int32_t count);
/* The peer has released so many slots of that stream, ever. */
void tt_streams_set_released(void *user, int64_t peer, uint64_t stream, uint32_t count);
/* Calls `credit` for each stream that comes from that peer. */
void tt_streams_credit_all(void *user, int64_t peer);

/* Before there are any: the boot's allgather of what ranks tell each other when they open `transport`. */
tutti_status tt_streams_gather(const char *transport, const tutti_boot *boot, const void *own, void *all, size_t bytes,
                               int64_t timeout_ns);

/* ---- of a transport's table ---- */

tutti_status tt_streams_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream);
void tt_streams_close(void *self, tutti_stream *stream);
tutti_status tt_streams_reserve(void *self, tutti_stream *stream, tutti_slot_header **header, void **data,
                                size_t *room);
tutti_status tt_streams_commit(void *self, tutti_stream *stream, size_t bytes);
tutti_status tt_streams_peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                             size_t *bytes);
tutti_status tt_streams_release(void *self, tutti_stream *stream);
uint64_t tt_streams_unreleased(void *self, tutti_stream *stream);
uint64_t tt_streams_unsent(void *self, tutti_stream *stream);
void tt_streams_forget(void *self, uint64_t first, uint64_t count);
void tt_streams_sent(void *self, tutti_stream *stream, tutti_stream_sent *sent);

#endif
