/* transport/streams/packets.h - what is done with packets: their pool, queues of them, and how their heads travel. */
#ifndef TT_TRANSPORT_STREAMS_PACKETS_H
#define TT_TRANSPORT_STREAMS_PACKETS_H

#include "transport/streams/streams.h"

tt_streams_packet *tt_streams_pool_get(tt_streams_pool *pool, size_t room); /* NULL: no memory */
void tt_streams_pool_put(tt_streams_pool *pool, tt_streams_packet *packet); /* accepts NULL */
void tt_streams_pool_finish(tt_streams_pool *pool);

typedef struct tt_streams_queue {
  tt_streams_packet *first, *last; /* NULL: empty */
} tt_streams_queue;

void tt_streams_queue_add(tt_streams_queue *queue, tt_streams_packet *packet);
tt_streams_packet *tt_streams_queue_remove(tt_streams_queue *queue); /* the first; there is one */
/* Where its number belongs: the queue is ascending. */
void tt_streams_queue_insert(tt_streams_queue *queue, tt_streams_packet *packet);

/* Between the order of this machine and that of the wire, both ways. */
void tt_streams_head_turn(tt_streams_head *head);
/* Of a head in this machine's order; NULL: it is right, else what is wrong. */
const char *tt_streams_head_check(const tt_streams_head *head);

/* The carrier's part of the head, and the whole head in the wire's order. number: 0 for a packet of the carrier's own.
 */
void tt_streams_packet_seal(tt_streams_packet *packet, uint64_t number);
/* As it is in memory, on its way: head and data. */
static inline const unsigned char *tt_streams_packet_wire(const tt_streams_packet *packet) {
  return (const unsigned char *)&packet->head;
}
static inline size_t tt_streams_packet_wire_bytes(const tt_streams_packet *packet) {
  return sizeof packet->head + packet->bytes;
}

#endif
