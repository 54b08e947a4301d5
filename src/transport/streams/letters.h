/* transport/streams/letters.h - letters between ranks: what a slot travels as; their pool, queues of them, and how
 * their heads travel. */
#ifndef TT_TRANSPORT_STREAMS_LETTERS_H
#define TT_TRANSPORT_STREAMS_LETTERS_H

#include "base/base.h"

#include <tutti/transport.h>

/* As it travels: 64 bytes, little-endian, then the data. */
typedef struct tt_streams_head {
  uint64_t letter; /* number on its way to that rank, from 1 */
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
  TT_STREAMS_BYE,      /* the last letter to a rank; streams do not see it */
  TT_STREAMS_OWN       /* from here on: a post's own, which have no number */
};

#define TT_STREAMS_LETTER_BYTES (UINT32_C(1) << 30) /* of data, at most: a head that says more is an enemy's */

typedef struct tt_streams_letter {
  struct tt_streams_letter *next;
  int64_t peer;
  uint64_t number, stream; /* as in the head, which has the order of the wire once the letter is on its way */
  void *post;              /* the post's own, as is `rail` */
  uint32_t bytes;
  uint8_t size_class, rail;
  uint8_t padding[18];
  tt_streams_head head;
  unsigned char data[]; /* 64-byte aligned, right behind the head */
} tt_streams_letter;

#define TT_STREAMS_CLASSES 16 /* 64 << class bytes of room; longer letters are not kept */

typedef struct tt_streams_pool {
  tt_streams_letter *kept[TT_STREAMS_CLASSES];
  size_t bytes; /* in all that are kept */
} tt_streams_pool;

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
