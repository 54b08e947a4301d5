/* transport/tcp/letters.h - letters: their pool, queues of them, and how their heads travel. */
#ifndef TT_TRANSPORT_TCP_LETTERS_H
#define TT_TRANSPORT_TCP_LETTERS_H

#include "transport/tcp/pipe.h"

#define TT_TCP_CLASSES 16 /* 64 << class bytes of room; longer letters are not kept */

typedef struct tt_tcp_pool {
  tt_tcp_letter *kept[TT_TCP_CLASSES];
  size_t bytes; /* in all that are kept */
} tt_tcp_pool;

tt_tcp_letter *tt_tcp_pool_take(tt_tcp_pool *pool, size_t room); /* NULL: no memory */
void tt_tcp_pool_give(tt_tcp_pool *pool, tt_tcp_letter *letter); /* accepts NULL */
void tt_tcp_pool_finish(tt_tcp_pool *pool);

typedef struct tt_tcp_queue {
  tt_tcp_letter *first, *last; /* NULL: empty */
} tt_tcp_queue;

void tt_tcp_queue_add(tt_tcp_queue *queue, tt_tcp_letter *letter);
tt_tcp_letter *tt_tcp_queue_remove(tt_tcp_queue *queue); /* the first; there is one */
/* Where its number belongs: the queue is ascending. */
void tt_tcp_queue_insert(tt_tcp_queue *queue, tt_tcp_letter *letter);

/* Between the order of this machine and that of the wire, both ways. */
void tt_tcp_head_turn(tt_tcp_head *head);
/* Of a head in this machine's order; NULL: it is right, else what is wrong. */
const char *tt_tcp_head_check(const tt_tcp_head *head);

/* As it is in memory, on its way: head and data. */
static inline const unsigned char *tt_tcp_letter_wire(const tt_tcp_letter *letter) {
  return (const unsigned char *)&letter->head;
}
static inline size_t tt_tcp_letter_wire_bytes(const tt_tcp_letter *letter) {
  return sizeof letter->head + letter->bytes;
}

#endif
