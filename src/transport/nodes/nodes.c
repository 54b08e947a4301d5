/* transport/nodes/nodes.c - the table of the two: each stream is handed on to the transport that it belongs to. */
#include "transport/nodes/nodes.h"

#include "transport/shm/shm.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct nodes {
  const int64_t *head_of;
  int64_t rank, rank_count;
  void *inner;                        /* of tt_shm_ops() */
  const tutti_transport_ops *between; /* of nodes */
  void *outer;
  bool *lost; /* of each rank: `between` has said so */
} nodes;

struct tutti_stream {
  const tutti_transport_ops *ops;
  void *transport;
  tutti_stream *stream; /* the transport's */
};

static bool is_here(const nodes *self, int64_t rank) {
  return rank >= 0 && rank < self->rank_count && self->head_of[rank] == self->head_of[self->rank];
}

static bool are_here(const nodes *self, const int64_t *ranks, int64_t count) {
  for (int64_t n = 0; n < count; n++)
    if (!is_here(self, ranks[n]))
      return false;
  return true;
}

void *tt_nodes_inner(void *self) { return ((nodes *)self)->inner; }

/* ---- opening, closing ---- */

/* What is committed to other nodes may have to be sent off still: that first. */
static void close_nodes(void *given) {
  nodes *self = given;
  if (!self)
    return;
  if (self->outer)
    self->between->close(self->outer);
  tt_shm_ops()->close(self->inner);
  free(self->lost);
  free(self);
}

static tutti_status open_nodes(const void *given, const tutti_boot *boot, void **opened) {
  const tt_nodes_config *config = given;
  assert(config->head_of[boot->rank] <= boot->rank); /* the head is the lowest of its node */
  const tt_shm_config shm = {.timeout_ns = config->timeout_ns,
                             .head_of = config->head_of,
                             .descriptors = config->across->descriptor != NULL,
                             .crowded = config->crowded,
                             .read_bytes = config->read_bytes};
  nodes *self = calloc(1, sizeof *self);
  bool *lost = calloc((size_t)boot->rank_count, sizeof *lost);
  if (!self || !lost) {
    free(self);
    free(lost);
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the transport of %" PRId64 " ranks", boot->rank_count);
  }
  *self = (nodes){.head_of = config->head_of,
                  .rank = boot->rank,
                  .rank_count = boot->rank_count,
                  .between = config->across,
                  .lost = lost};
  tutti_status status = tt_shm_ops()->open(&shm, boot, &self->inner);
  if (status == TUTTI_OK)
    status = self->between->open(config->across_config, boot, &self->outer);
  if (status == TUTTI_OK)
    *opened = self;
  else
    close_nodes(self);
  return status;
}

/* ---- streams ---- */

static tutti_status stream_open(void *given, const tutti_stream_spec *spec, tutti_stream **stream) {
  nodes *self = given;
  bool here = is_here(self, spec->source) && are_here(self, spec->readers, spec->reader_count);
  tutti_stream *made = malloc(sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a stream's handle");
  made->ops = here ? tt_shm_ops() : self->between;
  made->transport = here ? self->inner : self->outer;
  tutti_status status = made->ops->stream_open(made->transport, spec, &made->stream);
  if (status == TUTTI_OK)
    *stream = made;
  else
    free(made);
  return status;
}

static void stream_close(void *self, tutti_stream *stream) {
  (void)self;
  if (!stream)
    return;
  stream->ops->stream_close(stream->transport, stream->stream);
  free(stream);
}

static tutti_status reserve(void *self, tutti_stream *stream, tutti_slot_header **header, void **data, size_t *room) {
  (void)self;
  return stream->ops->reserve(stream->transport, stream->stream, header, data, room);
}

static tutti_status commit(void *self, tutti_stream *stream, size_t bytes) {
  (void)self;
  return stream->ops->commit(stream->transport, stream->stream, bytes);
}

static tutti_status peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                         size_t *bytes) {
  (void)self;
  return stream->ops->peek(stream->transport, stream->stream, header, data, bytes);
}

static tutti_status release(void *self, tutti_stream *stream) {
  (void)self;
  return stream->ops->release(stream->transport, stream->stream);
}

static tutti_status fetch(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes) {
  (void)self;
  return stream->ops->fetch(stream->transport, stream->stream, offset, to, bytes);
}

static bool refers(const tutti_stream *stream) { return stream->ops->refer && stream->ops->unreleased; }

static tutti_status refer(void *self, tutti_stream *stream, const void *data, size_t bytes, int anywhere) {
  (void)self;
  return refers(stream) ? stream->ops->refer(stream->transport, stream->stream, data, bytes, anywhere)
                        : TUTTI_ERR_UNSUPPORTED;
}

static void forget(void *given, uint64_t first, uint64_t count) {
  nodes *self = given;
  if (self->between->forget)
    self->between->forget(self->outer, first, count);
}

static size_t refer_least(void *self) { return tt_shm_ops()->refer_least(((nodes *)self)->inner); }

static uint64_t unreleased(void *self, tutti_stream *stream) {
  (void)self;
  return refers(stream) ? stream->ops->unreleased(stream->transport, stream->stream) : 0;
}

static uint64_t unsent(void *self, tutti_stream *stream) {
  (void)self;
  return stream->ops->unsent ? stream->ops->unsent(stream->transport, stream->stream) : 0;
}

static void count_sent(void *self, tutti_stream *stream, tutti_stream_sent *sent) {
  (void)self;
  *sent = (tutti_stream_sent){.slots = 0};
  if (stream->ops->sent)
    stream->ops->sent(stream->transport, stream->stream, sent);
}

/* ---- peers ---- */

static tutti_status progress(void *given, int64_t *peer) {
  nodes *self = given;
  tutti_status status = self->between->progress(self->outer, peer);
  if (status == TUTTI_ERR_PEER && *peer >= 0 && *peer < self->rank_count)
    self->lost[*peer] = true;
  return status == TUTTI_OK ? tt_shm_ops()->progress(self->inner, peer) : status;
}

static int descriptor(void *given) {
  nodes *self = given;
  return self->between->descriptor ? self->between->descriptor(self->outer) : -1;
}

/* Without a descriptor, what comes from another node rings no bell: who waits for it sleeps for short times. */
static void wait_nodes(void *given, int64_t timeout_ns) {
  nodes *self = given;
  int other = descriptor(self);
  if (other < 0)
    tt_shm_ops()->wait(self->inner, timeout_ns);
  else
    tt_shm_wait_on(self->inner, other, timeout_ns);
}

static int peer_dead(void *given, int64_t peer) {
  nodes *self = given;
  if (is_here(self, peer))
    return tt_shm_ops()->peer_dead(self->inner, peer);
  if (peer >= 0 && peer < self->rank_count && self->lost[peer])
    return 1;
  return self->between->peer_dead ? self->between->peer_dead(self->outer, peer) : 0;
}

static void wake(void *given, int64_t peer) {
  nodes *self = given;
  if (is_here(self, peer))
    tt_shm_ops()->wake(self->inner, peer);
}

/* ---- memory: within a node ---- */

static tutti_status cells_open(void *given, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes,
                               void **cell) {
  nodes *self = given;
  if (!are_here(self, ranks, count))
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "ranks of several nodes cannot share cells");
  return tt_shm_ops()->cells_open(self->inner, id, ranks, count, bytes, cell);
}

static void cells_close(void *self, uint64_t id) { tt_shm_ops()->cells_close(((nodes *)self)->inner, id); }

static tutti_status alloc(void *self, size_t bytes, void **memory) {
  return tt_shm_ops()->alloc(((nodes *)self)->inner, bytes, memory);
}

static int lending(void *self, int begins) { return tt_shm_ops()->lending(((nodes *)self)->inner, begins); }

static void use(void *self, const void *data, size_t bytes) { tt_shm_ops()->use(((nodes *)self)->inner, data, bytes); }

static void free_memory(void *self, void *memory) { tt_shm_ops()->free(((nodes *)self)->inner, memory); }

static const tutti_transport_ops table = {
    .size = sizeof(tutti_transport_ops),
    .name = "nodes",
    .publish = 1, /* inside a node */
    .open = open_nodes,
    .close = close_nodes,
    .stream_open = stream_open,
    .stream_close = stream_close,
    .reserve = reserve,
    .commit = commit,
    .peek = peek,
    .release = release,
    .progress = progress,
    .wait = wait_nodes,
    .peer_dead = peer_dead,
    .wake = wake,
    .cells_open = cells_open,
    .cells_close = cells_close,
    .alloc = alloc,
    .free = free_memory,
    .refer = refer,
    .refer_least = refer_least,
    .unreleased = unreleased,
    .fetch = fetch,
    .unsent = unsent,
    .descriptor = descriptor,
    .forget = forget,
    .sent = count_sent,
    .lending = lending,
    .use = use,
};

const tutti_transport_ops *tt_nodes_ops(void) { return &table; }
