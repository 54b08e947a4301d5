/* transport/streams/streams.c - streams of slots over packets that come in any order.
 *
 *     reserve -> fill -> commit   a packet with the data          peek -> use -> release
 *     credits                   <-- how many have been released   (said for half a window at a time)
 *
 * A stream has a window of slots: the writer sends as many ahead of what it knows to be released. Each opening by a
 * writer has a number of its own, which all its packets carry. A reader takes the openings of its id one after the
 * other: what comes of one waits in an inbox until its reader opens, and what comes late, after its reader has closed,
 * is dropped. The writer says when it closes, after how many slots, so that an inbox is kept no longer than it is
 * needed (inbox.c).
 */
#include "transport/streams/inbox.h"
#include "transport/streams/packets.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE = 64 };

typedef struct unused {
  tt_streams_node node;
  uint16_t count; /* openings that nothing was written to, since the last that was used */
} unused;

struct tutti_stream { /* one end */
  tt_streams_node node;
  uint64_t id;
  int64_t peer;
  bool writes, once, note;
  /* writer */
  uint32_t next, released, unsent; /* slots, which wrap: next; free again; whose packets need this rank still */
  uint16_t unused;                 /* to be said with each packet */
  size_t room;
  tt_streams_packet *slot; /* reserved */
  tutti_stream_sent sent;
  /* reader */
  tt_streams_place *at;
};

static tutti_status no_memory(uint64_t id, int64_t peer) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for stream %" PRIu64 " with rank %" PRId64, id, peer);
}

/* ---- what the carrier says ---- */

/* Numbers wrap; those that are compared lie within a window. */
static bool is_before(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }

void tt_streams_add_unsent(void *user, uint64_t stream, int32_t count) {
  tutti_stream *writer = tt_streams_node_find(user, TT_STREAMS_WRITER, stream, -1);
  if (writer) /* or it has been closed */
    writer->unsent += (uint32_t)count;
}

void tt_streams_set_released(void *user, int64_t peer, uint64_t stream, uint32_t count) {
  tutti_stream *writer = tt_streams_node_find(user, TT_STREAMS_WRITER, stream, -1);
  bool newer = writer && writer->peer == peer && is_before(writer->released, count) && !is_before(writer->next, count);
  if (newer)
    writer->released = count;
}

/* ---- opening and closing ---- */

static tutti_status check(const tt_streams *self, const tutti_stream_spec *spec) {
  int64_t count = self->rank_count;
  if (spec->reader_count != 1)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "stream %" PRIu64 " has %" PRId64 " readers; over %s it may have one",
                   spec->id, spec->reader_count, self->carrier.name);
  if (spec->source < 0 || spec->source >= count || spec->readers[0] < 0 || spec->readers[0] >= count)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "stream %" PRIu64 " from rank %" PRId64 " to rank %" PRId64 ": there are %" PRId64 " ranks",
                   spec->id, spec->source, spec->readers[0], count);
  if ((spec->source == self->rank) == (spec->readers[0] == self->rank))
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "stream %" PRIu64 " from rank %" PRId64 " to rank %" PRId64 " must have one end at rank %" PRId64,
                   spec->id, spec->source, spec->readers[0], self->rank);
  if (spec->slot_bytes_minimum > TT_STREAMS_PACKET_BYTES)
    return tt_fail(TUTTI_ERR_ARGUMENT, "slot_bytes_minimum is %zu; over %s a slot has at most %" PRIu32 " bytes",
                   spec->slot_bytes_minimum, self->carrier.name, TT_STREAMS_PACKET_BYTES);
  return TUTTI_OK;
}

static tutti_status open_writer(tt_streams *self, const tutti_stream_spec *spec, tutti_stream **stream) {
  int64_t peer = spec->readers[0];
  tutti_stream *made = tt_streams_node_make(self, TT_STREAMS_WRITER, self->last_stream + 1, -1, sizeof *made);
  if (!made)
    return no_memory(spec->id, peer);
  size_t lines = (spec->slot_bytes_minimum + LINE - 1) / LINE;
  self->last_stream++;
  made->id = spec->id;
  made->peer = peer;
  made->writes = true;
  made->once = spec->once;
  made->note = spec->once == 2;
  made->room = lines > 0 ? lines * LINE : LINE;
  *stream = made;
  return TUTTI_OK;
}

static tutti_status open_reader(tt_streams *self, const tutti_stream_spec *spec, tutti_stream **stream) {
  tutti_stream *made = tt_streams_node_make(self, TT_STREAMS_READER, spec->id, spec->source, sizeof *made);
  if (!made)
    return no_memory(spec->id, spec->source);
  made->id = spec->id;
  made->peer = spec->source;
  tutti_status status = tt_streams_place_open(self, spec->id, spec->source, &made->at);
  if (status == TUTTI_OK) {
    made->at->once = spec->once;
    *stream = made;
  } else {
    tt_streams_node_destroy(self, made);
  }
  return status;
}

tutti_status tt_streams_open(void *given, const tutti_stream_spec *spec, tutti_stream **stream) {
  tt_streams *self = given;
  tutti_status status = check(self, spec);
  if (status != TUTTI_OK)
    return status;
  return spec->source == self->rank ? open_writer(self, spec, stream) : open_reader(self, spec, stream);
}

/* The reader need not keep anything for it. */
static void send_end(tt_streams *self, const tutti_stream *stream) {
  tt_streams_packet *packet = tt_streams_pool_get(self->carrier.pool, 0);
  if (!packet)
    return;
  packet->peer = stream->peer;
  packet->note = stream->note;
  packet->head = (tt_streams_head){.id = stream->id,
                                   .stream = stream->node.key,
                                   .slot = stream->next,
                                   .kind = TT_STREAMS_END,
                                   .unused = stream->unused};
  self->carrier.send_take(self->carrier.user, packet);
}

static void close_writer(tt_streams *self, tutti_stream *stream) {
  bool used = stream->sent.slots > 0;
  int64_t peer = stream->peer;
  if (stream->slot)
    tt_streams_pool_put(self->carrier.pool, stream->slot);
  if (used)
    send_end(self, stream);
  unused *count = used || stream->once
                      ? NULL
                      : tt_streams_node_find_or_make(self, TT_STREAMS_UNUSED, stream->id, peer, sizeof *count);
  if (count && count->count < UINT16_MAX)
    count->count++;
  tt_streams_node_destroy(self, stream);
}

void tt_streams_close(void *self, tutti_stream *stream) {
  if (!stream)
    return;
  if (stream->writes) {
    close_writer(self, stream);
    return;
  }
  tt_streams_place_close(self, stream->at);
  tt_streams_node_destroy(self, stream);
}

/* What is known of a stream that nobody opens any more. */
static bool is_forgotten(const tt_streams_node *node, uint64_t first, uint64_t count) {
  bool closed = node->kind == TT_STREAMS_PLACE && !((const tt_streams_place *)node)->open;
  return (closed || node->kind == TT_STREAMS_UNUSED) && node->key - first < count;
}

void tt_streams_forget(void *given, uint64_t first, uint64_t count) {
  tt_streams *self = given;
  for (size_t n = 0; n < self->bucket_count; n++)
    for (tt_streams_node *node = self->bucket[n]; node;) {
      if (!is_forgotten(node, first, count)) {
        node = node->after;
        continue;
      }
      if (node->kind == TT_STREAMS_PLACE)
        tt_streams_place_forget(self, (tt_streams_place *)node);
      else
        tt_streams_node_destroy(self, node);
      node = self->bucket[n]; /* others of the bucket may have gone with it */
    }
}

static void free_node(tt_streams *self, tt_streams_node *node) {
  if (node->kind == TT_STREAMS_INBOX)
    tt_streams_inbox_drop_packets(self, (tt_streams_inbox *)node);
  if (node->kind == TT_STREAMS_WRITER && ((tutti_stream *)node)->slot)
    tt_streams_pool_put(self->carrier.pool, ((tutti_stream *)node)->slot);
  tt_streams_node_destroy(self, node);
}

void tt_streams_finish(tt_streams *self) {
  for (size_t n = 0; n < self->bucket_count; n++)
    while (self->bucket[n])
      free_node(self, self->bucket[n]);
  free(self->bucket);
  self->bucket = NULL;
  self->bucket_count = 0;
}

/* ---- slots ---- */

static tutti_status fail_if_gone(const tt_streams *self, const tutti_stream *stream) {
  int gone = self->carrier.dead(self->carrier.user, stream->peer);
  if (gone == 0)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_PEER, "rank %" PRId64 " %s, rank %" PRId64 " waits for it", stream->peer,
                 gone == 1 ? "died" : "has left the job", self->rank);
}

tutti_status tt_streams_reserve(void *given, tutti_stream *stream, tutti_slot_header **header, void **data,
                                size_t *room) {
  tt_streams *self = given;
  assert(stream->writes);
  *room = 0;
  assert(stream->next - stream->released <= self->window);
  if (stream->next - stream->released >= self->window)
    return fail_if_gone(self, stream);
  if (!stream->slot && !(stream->slot = tt_streams_pool_get(self->carrier.pool, stream->room)))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a slot of %zu bytes", stream->room);
  *header = &stream->slot->head.header;
  *data = stream->slot->data;
  *room = stream->room;
  return TUTTI_OK;
}

/* Openings before this one that the reader has not heard of. */
static void begin_use(tt_streams *self, tutti_stream *stream) {
  unused *before = tt_streams_node_find(self, TT_STREAMS_UNUSED, stream->id, stream->peer);
  if (!before)
    return;
  stream->unused = before->count;
  tt_streams_node_destroy(self, before);
}

tutti_status tt_streams_commit(void *given, tutti_stream *stream, size_t bytes) {
  tt_streams *self = given;
  assert(stream->writes);
  tt_streams_packet *packet = stream->slot;
  if (!packet)
    return tt_fail(TUTTI_ERR_ARGUMENT, "commit of a slot that was not reserved");
  if (bytes > stream->room)
    return tt_fail(TUTTI_ERR_ARGUMENT, "commit of %zu bytes into a slot of %zu", bytes, stream->room);
  if (stream->sent.slots == 0)
    begin_use(self, stream);
  stream->slot = NULL;
  stream->unsent++;
  stream->sent.slots++;
  stream->sent.slot_bytes += bytes;
  packet->peer = stream->peer;
  packet->note = stream->note;
  tt_streams_head *head = &packet->head;
  head->id = stream->id;
  head->stream = stream->node.key;
  head->slot = stream->next++;
  head->bytes = (uint32_t)bytes;
  head->kind = TT_STREAMS_DATA;
  head->unused = stream->unused;
  return self->carrier.send_take(self->carrier.user, packet);
}

tutti_status tt_streams_peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                             size_t *bytes) {
  assert(!stream->writes);
  const tt_streams_packet *packet = tt_streams_place_peek(self, stream->at);
  *header = NULL;
  if (!packet)
    return fail_if_gone(self, stream);
  *header = &packet->head.header;
  *data = packet->data;
  *bytes = packet->bytes;
  return TUTTI_OK;
}

tutti_status tt_streams_release(void *given, tutti_stream *stream) {
  tt_streams *self = given;
  assert(!stream->writes);
  if (!tt_streams_place_peek(self, stream->at))
    return tt_fail(TUTTI_ERR_ARGUMENT, "release of a slot that has not arrived");
  return tt_streams_place_release(self, stream->at);
}

uint64_t tt_streams_unreleased(void *self, tutti_stream *stream) {
  assert(stream->writes && !is_before(stream->next, stream->released));
  (void)self;
  return stream->next - stream->released;
}

uint64_t tt_streams_unsent(void *self, tutti_stream *stream) {
  assert(stream->writes);
  (void)self;
  return stream->unsent;
}

void tt_streams_sent(void *self, tutti_stream *stream, tutti_stream_sent *sent) {
  assert(stream->writes);
  (void)self;
  *sent = stream->sent;
}

tutti_status tt_streams_gather(const char *transport, const tutti_boot *boot, const void *own, void *all, size_t bytes,
                               int64_t timeout_ns) {
  char missing[128] = "";
  tt_fail_clear();
  tutti_status status = boot->allgather(boot->user, own, all, bytes, timeout_ns, missing, sizeof missing);
  if (status == TUTTI_ERR_TIMEOUT)
    return tt_fail(status, "%s: these ranks did not come to open connections: %s", transport, missing);
  if (status == TUTTI_OK)
    return status;
  char why[300]; /* the boot's own words */
  snprintf(why, sizeof why, "%s", tutti_last_error());
  return tt_fail(status, "%s: ranks could not exchange their addresses: %s", transport, *missing ? missing : why);
}
