/* transport/streams/packets.c - a pool by size, so that a slot costs no allocation; queues; heads. */
#include "transport/streams/packets.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

#define KEPT_BYTES ((size_t)64 << 20) /* what comes back beyond it is freed */

static_assert(sizeof(tt_streams_head) == LINE, "a head travels as it is");
static_assert(offsetof(tt_streams_packet, head) == LINE, "data is aligned, right behind the head");
static_assert(offsetof(tt_streams_packet, data) == 2 * LINE, "data is aligned, right behind the head");

/* ---- the pool ---- */

static uint8_t class_of(size_t room) {
  uint8_t size_class = 0;
  while (size_class < TT_STREAMS_CLASSES && ((size_t)LINE << size_class) < room)
    size_class++;
  return size_class;
}

tt_streams_packet *tt_streams_pool_get(tt_streams_pool *pool, size_t room) {
  if (room > TT_STREAMS_PACKET_BYTES)
    return NULL;
  uint8_t size_class = class_of(room);
  bool pooled = size_class < TT_STREAMS_CLASSES;
  tt_streams_packet *packet = pooled ? pool->kept[size_class] : NULL;
  if (packet) {
    assert(packet->size_class == size_class && pool->bytes >= (size_t)LINE << size_class);
    pool->kept[size_class] = packet->next;
    pool->bytes -= (size_t)LINE << size_class;
    return packet;
  }
  size_t bytes = pooled ? (size_t)LINE << size_class : (room + LINE - 1) / LINE * LINE;
  packet = aligned_alloc(LINE, sizeof *packet + bytes);
  if (packet)
    packet->size_class = size_class;
  return packet;
}

void tt_streams_pool_put(tt_streams_pool *pool, tt_streams_packet *packet) {
  if (!packet)
    return;
  size_t bytes = (size_t)LINE << packet->size_class;
  if (packet->size_class == TT_STREAMS_CLASSES || pool->bytes + bytes > KEPT_BYTES) {
    free(packet);
    return;
  }
  packet->next = pool->kept[packet->size_class];
  pool->kept[packet->size_class] = packet;
  pool->bytes += bytes;
}

void tt_streams_pool_finish(tt_streams_pool *pool) {
  for (int n = 0; n < TT_STREAMS_CLASSES; n++)
    while (pool->kept[n]) {
      tt_streams_packet *packet = pool->kept[n];
      pool->kept[n] = packet->next;
      free(packet);
    }
  pool->bytes = 0;
}

/* ---- queues ---- */

void tt_streams_queue_add(tt_streams_queue *queue, tt_streams_packet *packet) {
  packet->next = NULL;
  if (queue->last)
    queue->last->next = packet;
  else
    queue->first = packet;
  queue->last = packet;
}

tt_streams_packet *tt_streams_queue_remove(tt_streams_queue *queue) {
  assert(queue->first);
  tt_streams_packet *packet = queue->first;
  queue->first = packet->next;
  if (!queue->first)
    queue->last = NULL;
  return packet;
}

void tt_streams_queue_insert(tt_streams_queue *queue, tt_streams_packet *packet) {
  if (!queue->last || queue->last->number < packet->number) {
    tt_streams_queue_add(queue, packet);
    return;
  }
  tt_streams_packet **at = &queue->first;
  while ((*at)->number < packet->number)
    at = &(*at)->next;
  assert((*at)->number > packet->number); /* each is there once */
  packet->next = *at;
  *at = packet;
}

/* ---- heads ---- */

void tt_streams_head_turn(tt_streams_head *head) {
  head->packet = htole64(head->packet);
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
  if (head->packet == 0 || head->packet > INT64_MAX)
    return "the packet's number";
  if (head->bytes > TT_STREAMS_PACKET_BYTES || (head->kind != TT_STREAMS_DATA && head->bytes > 0))
    return "the packet's length";
  if (head->kind < TT_STREAMS_DATA || head->kind > TT_STREAMS_BYE)
    return "the packet's kind";
  if (head->again > 1 || memcmp(head->reserved, none, sizeof none) != 0)
    return "a reserved byte";
  return NULL;
}

void tt_streams_packet_seal(tt_streams_packet *packet, uint64_t number) {
  assert(packet->head.bytes <= TT_STREAMS_PACKET_BYTES);
  tt_streams_head *head = &packet->head;
  head->packet = number;
  head->again = 0;
  memset(head->reserved, 0, sizeof head->reserved);
  packet->number = number;
  packet->stream = head->stream;
  packet->bytes = head->bytes;
  tt_streams_head_turn(head);
}
