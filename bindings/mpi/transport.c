/* bindings/mpi/transport.c - streams over point-to-point messages of MPI: how ranks on different machines reach each
 * other.
 *
 *     reserve -> fill -> commit   a packet with the data (pipes.c)    peek -> use -> release
 *     credits                     <-- how many have been released     (with a packet of the stream that goes back, or
 *                                                                     one of its own for half a window)
 *
 * A stream has WINDOW slots: the writer has a credit for each slot that the reader holds or will get. What has come
 * waits in its stream's queue, whether that end has been opened or not, so that nothing has to be read in order. */
#include "transport.h"

#include "pipes.h"

#include <limits.h>
#include <stdlib.h>

enum { WINDOW = 16, LINE = 64, FIRST_BUCKETS = 64 };

struct tutti_stream { /* one end */
  uint64_t id;
  int64_t peer;
  bool writes, opened; /* not opened: made by what has come */
  uint32_t next;       /* number of the slot that is committed or peeked at next */
  /* writer */
  uint32_t credits, unsent; /* unsent: packets that MPI has not done with */
  size_t room;
  tt_mpi_packet *slot; /* reserved */
  tutti_stream_sent sent;
  /* reader */
  uint32_t owed;          /* credits: released, and the writer does not know */
  tt_mpi_packet *packets; /* by number */
  tutti_stream *twin;     /* the end of the stream in the other direction, of the same id and peer; NULL: none yet */
  tutti_stream *after;    /* in its bucket */
};

typedef struct streams { /* what open makes */
  tt_mpi_pipes *pipes;
  int64_t rank;
  tutti_stream **bucket;
  size_t bucket_count, count; /* bucket_count: a power of two */
} streams;

/* ---- the table ---- */

static tutti_stream **bucket_of(const streams *self, uint64_t id, int64_t peer) {
  uint64_t mixed = (id ^ (uint64_t)peer * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
  return &self->bucket[(mixed >> 32) & (self->bucket_count - 1)];
}

static tutti_stream *find(const streams *self, uint64_t id, int64_t peer, bool writes) {
  tutti_stream *stream = *bucket_of(self, id, peer);
  while (stream && (stream->id != id || stream->peer != peer || stream->writes != writes))
    stream = stream->after;
  return stream;
}

static void insert(streams *self, tutti_stream *stream) {
  tutti_stream **bucket = bucket_of(self, stream->id, stream->peer);
  stream->after = *bucket;
  *bucket = stream;
}

static bool grow(streams *self) {
  streams old = *self;
  size_t count = old.bucket_count ? 2 * old.bucket_count : FIRST_BUCKETS;
  tutti_stream **bucket = calloc(count, sizeof *bucket);
  if (!bucket)
    return false;
  self->bucket = bucket;
  self->bucket_count = count;
  for (size_t n = 0; n < old.bucket_count; n++)
    for (tutti_stream *stream = old.bucket[n], *after; stream; stream = after) {
      after = stream->after;
      insert(self, stream);
    }
  free(old.bucket);
  return true;
}

/* That end, made where there is none; NULL: no memory. */
static tutti_stream *find_or_make(streams *self, uint64_t id, int64_t peer, bool writes) {
  tutti_stream *stream = find(self, id, peer, writes);
  if (stream || (self->count >= self->bucket_count && !grow(self)) || !(stream = calloc(1, sizeof *stream)))
    return stream;
  *stream = (tutti_stream){
      .id = id, .peer = peer, .writes = writes, .credits = WINDOW, .twin = find(self, id, peer, !writes)};
  if (stream->twin)
    stream->twin->twin = stream;
  insert(self, stream);
  self->count++;
  return stream;
}

static void drop_packets(streams *self, tutti_stream *stream) {
  while (stream->packets) {
    tt_mpi_packet *packet = stream->packets;
    stream->packets = packet->next;
    tt_mpi_packet_put(self->pipes, packet);
  }
  if (stream->slot)
    tt_mpi_packet_put(self->pipes, stream->slot);
}

static void stream_close(void *transport, tutti_stream *stream) {
  streams *self = transport;
  tutti_stream **at = bucket_of(self, stream->id, stream->peer);
  while (*at != stream)
    at = &(*at)->after;
  *at = stream->after;
  self->count--;
  if (stream->twin)
    stream->twin->twin = NULL;
  drop_packets(self, stream);
  free(stream);
}

static tutti_status stream_open(void *transport, const tutti_stream_spec *spec, tutti_stream **stream) {
  streams *self = transport;
  bool writes = spec->source == self->rank;
  int64_t peer = writes ? spec->readers[0] : spec->source;
  if (spec->slot_bytes_minimum > INT_MAX - 2 * LINE) /* an int counts a message's bytes in MPI */
    return TUTTI_ERR_ARGUMENT;
  *stream = find_or_make(self, spec->id, peer, writes);
  if (!*stream)
    return TUTTI_ERR_MEMORY;
  (*stream)->opened = true;
  (*stream)->room = (spec->slot_bytes_minimum + LINE - 1) / LINE * LINE;
  return TUTTI_OK;
}

static void forget(void *transport, uint64_t first, uint64_t count) {
  streams *self = transport;
  for (size_t n = 0; n < self->bucket_count; n++)
    for (tutti_stream *stream = self->bucket[n], *after; stream; stream = after) {
      after = stream->after;
      if (!stream->opened && stream->id - first < count)
        stream_close(self, stream);
    }
}

/* ---- packets that have come ---- */

/* Numbers wrap; those that are here lie within a window. */
static bool is_before(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }

static void queue_take(tutti_stream *stream, tt_mpi_packet *packet) {
  tt_mpi_packet **at = &stream->packets;
  while (*at && is_before((*at)->head.number, packet->head.number))
    at = &(*at)->next;
  packet->next = *at;
  *at = packet;
}

static tutti_status deliver_take(void *transport, tt_mpi_packet *packet) {
  streams *self = transport;
  tutti_stream *writer = packet->head.credits > 0 ? find(self, packet->head.stream, packet->peer, true) : NULL;
  if (writer) /* or it has been closed */
    writer->credits += packet->head.credits;
  tutti_stream *reader =
      packet->kind == TT_MPI_DATA ? find_or_make(self, packet->head.stream, packet->peer, false) : NULL;
  if (reader)
    queue_take(reader, packet);
  else
    tt_mpi_packet_put(self->pipes, packet);
  return reader || packet->kind == TT_MPI_CREDITS ? TUTTI_OK : TUTTI_ERR_MEMORY;
}

/* ---- packets that have gone ---- */

static void gone(void *transport, const tt_mpi_packet *packet) {
  tutti_stream *writer = find(transport, packet->head.stream, packet->peer, true);
  if (writer) /* or it has been closed */
    writer->unsent--;
}

static uint64_t unsent(void *transport, tutti_stream *stream) {
  (void)transport;
  return stream->unsent;
}

/* ---- slots ---- */

static tutti_status reserve(void *transport, tutti_stream *stream, tutti_slot_header **header, void **data,
                            size_t *room) {
  streams *self = transport;
  *room = 0;
  if (stream->credits == 0)
    return TUTTI_OK;
  if (!stream->slot && !(stream->slot = tt_mpi_packet_get(self->pipes, stream->room)))
    return TUTTI_ERR_MEMORY;
  *header = &stream->slot->head.slot;
  *data = stream->slot->data;
  *room = stream->room;
  return TUTTI_OK;
}

/* Sends the packet with the credits that its peer is owed for the stream that comes from there. */
static tutti_status send_take(streams *self, tt_mpi_packet *packet, tt_mpi_kind kind, tutti_stream *reader) {
  packet->kind = (uint8_t)kind;
  packet->head.credits = 0;
  if (reader) {
    packet->head.credits = reader->owed;
    reader->owed = 0;
  }
  return tt_mpi_pipes_send_take(self->pipes, packet);
}

static tutti_status commit(void *transport, tutti_stream *stream, size_t bytes) {
  tt_mpi_packet *packet = stream->slot;
  if (!packet)
    return TUTTI_ERR_ARGUMENT;
  stream->slot = NULL;
  stream->credits--;
  stream->unsent++;
  stream->sent.slots++;
  stream->sent.slot_bytes += bytes;
  packet->peer = stream->peer;
  packet->bytes = bytes;
  packet->head.stream = stream->id;
  packet->head.number = stream->next++;
  return send_take(transport, packet, TT_MPI_DATA, stream->twin);
}

static tutti_status peek(void *transport, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                         size_t *bytes) {
  (void)transport;
  tt_mpi_packet *packet = stream->packets;
  *header = NULL;
  if (!packet || packet->head.number != stream->next)
    return TUTTI_OK;
  *header = &packet->head.slot;
  *data = packet->data;
  *bytes = packet->bytes;
  return TUTTI_OK;
}

static tutti_status send_credits(streams *self, tutti_stream *stream) {
  tt_mpi_packet *packet = tt_mpi_packet_get(self->pipes, 0);
  if (!packet)
    return TUTTI_ERR_MEMORY;
  packet->peer = stream->peer;
  packet->bytes = 0;
  packet->head = (tt_mpi_head){.stream = stream->id};
  return send_take(self, packet, TT_MPI_CREDITS, stream);
}

static tutti_status release(void *transport, tutti_stream *stream) {
  streams *self = transport;
  tt_mpi_packet *packet = stream->packets;
  stream->packets = packet->next;
  stream->next++;
  stream->owed++;
  tt_mpi_packet_put(self->pipes, packet);
  return stream->owed >= WINDOW / 2 ? send_credits(self, stream) : TUTTI_OK;
}

static void count_sent(void *transport, tutti_stream *stream, tutti_stream_sent *sent) {
  (void)transport;
  *sent = stream->sent;
}

/* ---- the transport ---- */

static tutti_status progress(void *transport, int64_t *peer) {
  return tt_mpi_pipes_progress(((streams *)transport)->pipes, peer);
}

static void close_streams(void *transport) {
  streams *self = transport;
  if (!self)
    return;
  tt_mpi_pipes_flush(self->pipes);
  for (size_t n = 0; n < self->bucket_count; n++)
    while (self->bucket[n])
      stream_close(self, self->bucket[n]);
  tt_mpi_pipes_destroy(self->pipes);
  free(self->bucket);
  free(self);
}

static tutti_status open_streams(const void *config, const tutti_boot *boot, void **transport) {
  MPI_Comm comm = *(const MPI_Comm *)config;
  int rank = -1, size = -1;
  if (PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS || PMPI_Comm_size(comm, &size) != MPI_SUCCESS)
    return TUTTI_ERR_SYSTEM;
  if (rank != boot->rank || size != boot->rank_count)
    return TUTTI_ERR_ARGUMENT;
  streams *self = calloc(1, sizeof *self);
  if (!self || !grow(self)) {
    free(self);
    return TUTTI_ERR_MEMORY;
  }
  self->rank = rank;
  const tt_mpi_owner owner = {deliver_take, gone, self};
  tutti_status status = tt_mpi_pipes_create(comm, &owner, &self->pipes);
  if (status == TUTTI_OK) {
    *transport = self;
    return TUTTI_OK;
  }
  free(self->bucket);
  free(self);
  return status;
}

const tutti_transport_ops *tt_mpi_transport(void) {
  static const tutti_transport_ops ops = {.size = sizeof ops,
                                          .name = "mpi",
                                          .open = open_streams,
                                          .close = close_streams,
                                          .stream_open = stream_open,
                                          .stream_close = stream_close,
                                          .reserve = reserve,
                                          .commit = commit,
                                          .peek = peek,
                                          .release = release,
                                          .progress = progress,
                                          .unsent = unsent,
                                          .forget = forget,
                                          .sent = count_sent};
  return &ops;
}
