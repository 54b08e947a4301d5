/* transport/streams/inbox.c - which reader gets what comes.
 *
 *     openings of a stream by its writer    3 (used)  4 (nothing written)  7 (used)        numbers of the writer's
 *     by its reader                         a         b                    c
 *
 * An opening that was used has an inbox from its first packet on. Readers take the openings one after the other. A
 * packet tells how many openings before its own were not used, so that a gets 3, b nothing, and c 7, whenever each of
 * them opens and closes. Rails overtake each other: which opening is the next is certain when all packets before the
 * inbox's first have come. */
#include "transport/streams/inbox.h"
#include "transport/streams/packets.h"

#include <assert.h>
#include <inttypes.h>

static tutti_status no_memory(uint64_t id, int64_t peer) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for stream %" PRIu64 " with rank %" PRId64, id, peer);
}

/* Numbers wrap; those that are here lie within a window. */
static bool is_before(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }

void tt_streams_inbox_drop_packets(tt_streams *self, tt_streams_inbox *box) {
  while (box->packets) {
    tt_streams_packet *packet = box->packets;
    box->packets = packet->next;
    tt_streams_pool_put(self->carrier.pool, packet);
  }
}

/* Nothing more will come, and nobody will read it. */
static void free_if_over(tt_streams *self, tt_streams_inbox *box) {
  if (box->closed && box->ended && box->arrived == box->end)
    tt_streams_node_destroy(self, box);
}

static void free_if_empty(tt_streams *self, tt_streams_place *at) {
  if (!at->open && !at->first && at->missed == 0)
    tt_streams_node_destroy(self, at);
}

static void wait_here(tt_streams_place *at, tt_streams_inbox *box) {
  assert(!box->next_here && !box->closed);
  tt_streams_inbox **behind = &at->first;
  while (*behind && (*behind)->node.key < box->node.key)
    behind = &(*behind)->next_here;
  box->next_here = *behind;
  *behind = box;
}

static void close_inbox(tt_streams *self, tt_streams_inbox *box) {
  assert(!box->closed);
  box->closed = true;
  tt_streams_inbox_drop_packets(self, box);
  free_if_over(self, box);
}

/* The first opening that waits is the next one of its stream. */
static bool is_certain(const tt_streams *self, const tt_streams_place *at) {
  return at->first && self->carrier.had(self->carrier.user, at->node.peer) >= at->first->first_packet - 1;
}

/* Readers that are closed are earlier than the one that is open, and openings without packets than the first. */
static void match(tt_streams *self, tt_streams_place *at) {
  while (is_certain(self, at)) {
    tt_streams_inbox *box = at->first;
    uint32_t both = at->missed < box->before ? at->missed : box->before;
    at->missed -= both;
    box->before -= both;
    bool late = at->missed > 0;
    if (!late && (!at->open || at->inbox || at->empty))
      return;
    if (!late && box->before > 0) {
      box->before--;
      at->empty = true;
      return;
    }
    at->first = box->next_here;
    if (late) {
      at->missed--;
      close_inbox(self, box);
    } else {
      at->inbox = box;
    }
  }
}

static tt_streams_inbox *make_inbox(tt_streams *self, const tt_streams_packet *packet) {
  tt_streams_inbox *box = tt_streams_node_make(self, TT_STREAMS_INBOX, packet->stream, packet->peer, sizeof *box);
  tt_streams_place *at =
      box ? tt_streams_node_find_or_make(self, TT_STREAMS_PLACE, packet->head.id, packet->peer, sizeof *at) : NULL;
  if (!at) {
    if (box)
      tt_streams_node_destroy(self, box);
    return NULL;
  }
  box->first_packet = packet->number;
  box->before = packet->head.unused;
  wait_here(at, box);
  return box;
}

/* ---- readers ---- */

tutti_status tt_streams_place_open(tt_streams *self, uint64_t id, int64_t peer, tt_streams_place **place) {
  tt_streams_place *at = tt_streams_node_find_or_make(self, TT_STREAMS_PLACE, id, peer, sizeof *at);
  if (!at)
    return no_memory(id, peer);
  if (at->open)
    return tt_fail(TUTTI_ERR_ARGUMENT, "stream %" PRIu64 " from rank %" PRId64 " is already open", id, peer);
  at->open = true;
  match(self, at);
  *place = at;
  return TUTTI_OK;
}

void tt_streams_place_close(tt_streams *self, tt_streams_place *at) {
  assert(at->open);
  match(self, at);
  if (at->inbox)
    close_inbox(self, at->inbox);
  else if (!at->once)
    at->missed += !at->empty;
  at->inbox = NULL;
  at->open = at->empty = false;
  free_if_empty(self, at);
}

void tt_streams_place_forget(tt_streams *self, tt_streams_place *at) {
  assert(!at->open && !at->inbox);
  for (tt_streams_inbox *box; (box = at->first) != NULL;) {
    at->first = box->next_here;
    close_inbox(self, box);
  }
  at->missed = 0;
  free_if_empty(self, at);
}

tt_streams_packet *tt_streams_place_peek(tt_streams *self, tt_streams_place *at) {
  if (!at->inbox && at->first)
    match(self, at);
  const tt_streams_inbox *box = at->inbox;
  return box && box->packets && box->packets->head.slot == box->next ? box->packets : NULL;
}

tutti_status tt_streams_place_release(tt_streams *self, tt_streams_place *at) {
  tt_streams_inbox *box = at->inbox;
  tt_streams_packet *packet = box->packets;
  assert(packet && packet->head.slot == box->next && !box->closed);
  box->packets = packet->next;
  box->next++;
  tt_streams_pool_put(self->carrier.pool, packet);
  if (box->next - box->told < self->window / 2)
    return TUTTI_OK;
  box->told = box->next;
  return self->carrier.credit(self->carrier.user, at->node.peer, box->node.key, box->next, true);
}

/* ---- what comes ---- */

static void queue_take(tt_streams_inbox *box, tt_streams_packet *packet) {
  tt_streams_packet **at = &box->packets;
  while (*at && is_before((*at)->head.slot, packet->head.slot))
    at = &(*at)->next;
  packet->next = *at;
  *at = packet;
}

static tutti_status fail_packet(tt_streams *self, tt_streams_packet *packet) {
  int64_t peer = packet->peer;
  uint32_t slot = packet->head.slot;
  uint64_t id = packet->head.id;
  tt_streams_pool_put(self->carrier.pool, packet);
  return tt_fail(TUTTI_ERR_SYSTEM, "rank %" PRId64 " sent slot %" PRIu32 " of stream %" PRIu64 " without a credit",
                 peer, slot, id);
}

/* Keeps the packet, or not. */
static void put_into(tt_streams *self, tt_streams_inbox *box, tt_streams_packet *packet) {
  bool data = packet->head.kind == TT_STREAMS_DATA;
  box->first_packet = packet->number < box->first_packet ? packet->number : box->first_packet;
  box->arrived += data;
  if (!data) {
    box->ended = true;
    box->end = packet->head.slot;
  }
  if (data && !box->closed)
    queue_take(box, packet);
  else
    tt_streams_pool_put(self->carrier.pool, packet);
  free_if_over(self, box);
}

tutti_status tt_streams_deliver_take(void *user, tt_streams_packet *packet) {
  tt_streams *self = user;
  tt_streams_inbox *box = tt_streams_node_find(self, TT_STREAMS_INBOX, packet->stream, packet->peer);
  bool first = !box;
  uint64_t id = packet->head.id;
  int64_t peer = packet->peer;
  if (first && !(box = make_inbox(self, packet))) {
    tt_streams_pool_put(self->carrier.pool, packet);
    return no_memory(id, peer);
  }
  if (packet->head.kind == TT_STREAMS_DATA && packet->head.slot - box->next >= self->window && !box->closed)
    return fail_packet(self, packet);
  put_into(self, box, packet);
  tt_streams_place *at = first ? tt_streams_node_find(self, TT_STREAMS_PLACE, id, peer) : NULL;
  if (at) {
    match(self, at);
    free_if_empty(self, at);
  }
  return TUTTI_OK;
}

void tt_streams_credit_all(void *user, int64_t peer) {
  tt_streams *self = user;
  for (size_t n = 0; n < self->bucket_count; n++)
    for (tt_streams_node *node = self->bucket[n]; node; node = node->after)
      if (node->kind == TT_STREAMS_INBOX && node->peer == peer) {
        tt_streams_inbox *box = (tt_streams_inbox *)node;
        box->told = box->next;
        self->carrier.credit(self->carrier.user, peer, node->key, box->next, false);
      }
}
