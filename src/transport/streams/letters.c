/* transport/streams/letters.c - a pool by size, so that a slot costs no allocation; queues; heads. */
#include "transport/streams/letters.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

#define KEPT_BYTES ((size_t)64 << 20) /* what comes back beyond it is freed */

static_assert(sizeof(tt_streams_head) == LINE, "a head travels as it is");
static_assert(offsetof(tt_streams_letter, head) == LINE, "data is aligned, right behind the head");
static_assert(offsetof(tt_streams_letter, data) == 2 * LINE, "data is aligned, right behind the head");

/* ---- the pool ---- */

static uint8_t class_of(size_t room) {
  uint8_t size_class = 0;
  while (size_class < TT_STREAMS_CLASSES && ((size_t)LINE << size_class) < room)
    size_class++;
  return size_class;
}

tt_streams_letter *tt_streams_pool_take(tt_streams_pool *pool, size_t room) {
  if (room > TT_STREAMS_LETTER_BYTES)
    return NULL;
  uint8_t size_class = class_of(room);
  bool pooled = size_class < TT_STREAMS_CLASSES;
  tt_streams_letter *letter = pooled ? pool->kept[size_class] : NULL;
  if (letter) {
    assert(letter->size_class == size_class && pool->bytes >= (size_t)LINE << size_class);
    pool->kept[size_class] = letter->next;
    pool->bytes -= (size_t)LINE << size_class;
    return letter;
  }
  size_t bytes = pooled ? (size_t)LINE << size_class : (room + LINE - 1) / LINE * LINE;
  letter = aligned_alloc(LINE, sizeof *letter + bytes);
  if (letter)
    letter->size_class = size_class;
  return letter;
}

void tt_streams_pool_give(tt_streams_pool *pool, tt_streams_letter *letter) {
  if (!letter)
    return;
  size_t bytes = (size_t)LINE << letter->size_class;
  if (letter->size_class == TT_STREAMS_CLASSES || pool->bytes + bytes > KEPT_BYTES) {
    free(letter);
    return;
  }
  letter->next = pool->kept[letter->size_class];
  pool->kept[letter->size_class] = letter;
  pool->bytes += bytes;
}

void tt_streams_pool_finish(tt_streams_pool *pool) {
  for (int n = 0; n < TT_STREAMS_CLASSES; n++)
    while (pool->kept[n]) {
      tt_streams_letter *letter = pool->kept[n];
      pool->kept[n] = letter->next;
      free(letter);
    }
  pool->bytes = 0;
}

/* ---- queues ---- */

void tt_streams_queue_add(tt_streams_queue *queue, tt_streams_letter *letter) {
  letter->next = NULL;
  if (queue->last)
    queue->last->next = letter;
  else
    queue->first = letter;
  queue->last = letter;
}

tt_streams_letter *tt_streams_queue_remove(tt_streams_queue *queue) {
  assert(queue->first);
  tt_streams_letter *letter = queue->first;
  queue->first = letter->next;
  if (!queue->first)
    queue->last = NULL;
  return letter;
}

void tt_streams_queue_insert(tt_streams_queue *queue, tt_streams_letter *letter) {
  if (!queue->last || queue->last->number < letter->number) {
    tt_streams_queue_add(queue, letter);
    return;
  }
  tt_streams_letter **at = &queue->first;
  while ((*at)->number < letter->number)
    at = &(*at)->next;
  assert((*at)->number > letter->number); /* each is there once */
  letter->next = *at;
  *at = letter;
}

/* ---- heads ---- */

void tt_streams_head_turn(tt_streams_head *head) {
  head->letter = htole64(head->letter);
  head->id = htole64(head->id);
  head->stream = htole64(head->stream);
  head->slot = htole32(head->slot);
  head->bytes = htole32(head->bytes);
  head->unused = htole16(head->unused);
  head->header.call = htole64(head->header.call);
  head->header.key = htole64(head->header.key);
}

const char *tt_streams_head_check(const tt_streams_head *head) {
  static const unsigned char none[sizeof head->reserved];
  if (head->letter == 0 || head->letter > INT64_MAX)
    return "the letter's number";
  if (head->bytes > TT_STREAMS_LETTER_BYTES || (head->kind != TT_STREAMS_DATA && head->bytes > 0))
    return "the letter's length";
  if (head->kind < TT_STREAMS_DATA || head->kind > TT_STREAMS_BYE)
    return "the letter's kind";
  if (head->again > 1 || memcmp(head->reserved, none, sizeof none) != 0)
    return "a reserved byte";
  return NULL;
}

void tt_streams_letter_seal(tt_streams_letter *letter, uint64_t number) {
  assert(letter->head.bytes <= TT_STREAMS_LETTER_BYTES);
  tt_streams_head *head = &letter->head;
  head->letter = number;
  head->again = 0;
  memset(head->reserved, 0, sizeof head->reserved);
  letter->number = number;
  letter->stream = head->stream;
  letter->bytes = head->bytes;
  tt_streams_head_turn(head);
}
