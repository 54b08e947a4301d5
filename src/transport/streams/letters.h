/* transport/streams/letters.h - what is done with letters: their pool, queues of them, and how their heads travel. */
#ifndef TT_TRANSPORT_STREAMS_LETTERS_H
#define TT_TRANSPORT_STREAMS_LETTERS_H

#include "transport/streams/streams.h"

tt_streams_letter *tt_streams_pool_take(tt_streams_pool *pool, size_t room); /* NULL: no memory */
void tt_streams_pool_give(tt_streams_pool *pool, tt_streams_letter *letter); /* accepts NULL */
void tt_streams_pool_finish(tt_streams_pool *pool);

typedef struct tt_streams_queue {
  tt_streams_letter *first, *last; /* NULL: empty */
} tt_streams_queue;

void tt_streams_queue_add(tt_streams_queue *queue, tt_streams_letter *letter);
tt_streams_letter *tt_streams_queue_remove(tt_streams_queue *queue); /* the first; there is one */
/* Where its number belongs: the queue is ascending. */
void tt_streams_queue_insert(tt_streams_queue *queue, tt_streams_letter *letter);

/* Between the order of this machine and that of the wire, both ways. */
void tt_streams_head_turn(tt_streams_head *head);
/* Of a head in this machine's order; NULL: it is right, else what is wrong. */
const char *tt_streams_head_check(const tt_streams_head *head);

/* The post's part of the head, and the whole head in the wire's order. number: 0 for a letter of the post's own. */
void tt_streams_letter_seal(tt_streams_letter *letter, uint64_t number);
/* As it is in memory, on its way: head and data. */
static inline const unsigned char *tt_streams_letter_wire(const tt_streams_letter *letter) {
  return (const unsigned char *)&letter->head;
}
static inline size_t tt_streams_letter_wire_bytes(const tt_streams_letter *letter) {
  return sizeof letter->head + letter->bytes;
}

#endif
