/* transport/shm/open.c - opening and closing the ends of streams.
 *
 * Both ends find the ring by a key made of id, source and readers; whoever comes first makes it and thereby chooses its
 * slots. All ends closed: the ring is freed. Slots by default share a budget among the streams between all pairs, so
 * that what is in flight stays in the cores' caches. */
#include "transport/shm/stream.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct opening {
  tt_shm *self;
  const tutti_stream_spec *spec;
  tt_shm_role role;
  int64_t reader; /* this rank's place in the readers; -1: the writer */
  uint64_t slot_bytes, slot_count;
} opening;

static tutti_status check_spec(const tt_shm *self, const tutti_stream_spec *spec) {
  if (spec->source < 0 || spec->source >= self->rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "stream source %" PRId64 " is not a rank of a job of %" PRId64, spec->source,
                   self->rank_count);
  if (spec->reader_count < 1 || spec->reader_count > self->rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "the stream has %" PRId64 " readers in a job of %" PRId64 " ranks",
                   spec->reader_count, self->rank_count);
  for (int64_t r = 0; r < spec->reader_count; r++)
    if (spec->readers[r] < 0 || spec->readers[r] >= self->rank_count ||
        (r > 0 && spec->readers[r] <= spec->readers[r - 1]))
      return tt_fail(TUTTI_ERR_ARGUMENT,
                     "stream reader %" PRId64 " (number %" PRId64 ") is not a rank of a job of %" PRId64
                     ", or readers do not ascend",
                     spec->readers[r], r, self->rank_count);
  return TUTTI_OK;
}

static tutti_status find_role(opening *open) {
  const tutti_stream_spec *spec = open->spec;
  open->reader = -1;
  open->role = TT_SHM_WRITER;
  if (spec->source == open->self->rank)
    return TUTTI_OK;
  open->role = TT_SHM_READER;
  for (int64_t r = 0; r < spec->reader_count; r++)
    if (spec->readers[r] == open->self->rank)
      open->reader = r;
  if (open->reader >= 0)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_ARGUMENT, "rank %" PRId64 " is neither source nor reader of the stream of rank %" PRId64,
                 open->self->rank, spec->source);
}

static void init_ring(tt_shm_block *block, void *argument) {
  const opening *open = argument;
  tt_shm_ring *ring = (tt_shm_ring *)block;
  ring->slot_bytes = open->slot_bytes;
  ring->slot_count = open->slot_count;
  ring->reader_count = (uint64_t)open->spec->reader_count;
}

static tutti_status join_ring(tt_shm_block *block, void *argument) {
  const opening *open = argument;
  tt_shm_ring *ring = (tt_shm_ring *)block;
  uint64_t *opened = open->role == TT_SHM_WRITER ? &ring->opened : &ring->reader[open->reader].opened;
  if (*opened != 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "rank %" PRId64 " opened stream %" PRIx64 " of rank %" PRId64 " before",
                   open->self->rank, open->spec->id, open->spec->source);
  if (ring->slot_bytes < open->spec->slot_bytes_minimum)
    return tt_fail(TUTTI_ERR_MISMATCH,
                   "stream %" PRIx64 " of rank %" PRId64 " has slots of %" PRIu64 " bytes, rank %" PRId64 " needs %zu",
                   open->spec->id, open->spec->source, ring->slot_bytes, open->self->rank,
                   open->spec->slot_bytes_minimum);
  *opened = 1;
  return TUTTI_OK;
}

static tutti_status find_ring(opening *open, tt_shm_block **block) {
  const tutti_stream_spec *spec = open->spec;
  uint64_t least = spec->slot_bytes_minimum;
  open->slot_bytes = tt_shm_round(least > open->self->slot_bytes ? least : open->self->slot_bytes, TT_SHM_LINE);
  open->slot_count = open->self->slot_count;
  if (open->slot_count > open->self->segment->bytes / open->slot_bytes)
    return tt_fail(TUTTI_ERR_MEMORY,
                   "%" PRIu64 " slots of %" PRIu64
                   " bytes, of TUTTI_SLOT_COUNT and TUTTI_SLOT_BYTES, are more than the "
                   "shared segment of %" PRIu64 " bytes",
                   open->slot_count, open->slot_bytes, open->self->segment->bytes);
  uint64_t readers = (uint64_t)spec->reader_count;
  uint64_t head = tt_shm_ring_head_bytes(readers, open->slot_count);
  tt_shm_object_spec object = {
      .kind = TT_SHM_RING,
      .key = {spec->id, tt_hash((uint64_t)spec->source, spec->readers, readers * sizeof *spec->readers)},
      .parent = tt_shm_parent_of(open->self, spec->id),
      .end_count = (uint32_t)readers + 1,
      .bytes = head + open->slot_count * open->slot_bytes,
      .backed = head,
      .init = init_ring,
      .join = join_ring,
      .argument = open};
  return tt_shm_object_open(open->self->segment, &object, block);
}

static tutti_stream *make_stream(const opening *open) {
  uint32_t peer_count = open->role == TT_SHM_WRITER ? (uint32_t)open->spec->reader_count : 1;
  tutti_stream *stream = NULL;
  size_t bytes = tt_shm_round(sizeof *stream + peer_count * sizeof stream->peer[0], TT_SHM_LINE);
  stream = aligned_alloc(TT_SHM_LINE, bytes);
  if (stream == NULL)
    return NULL;
  *stream = (tutti_stream){.role = open->role, .bell = open->self->bell, .peer_count = peer_count};
  for (uint32_t p = 0; p < peer_count; p++) {
    stream->peer[p].number = open->role == TT_SHM_WRITER ? open->spec->readers[p] : open->spec->source;
    stream->peer[p].rank = tt_shm_rank_of(open->self, stream->peer[p].number);
  }
  return stream;
}

static void bind_ring(tutti_stream *stream, tt_shm_ring *ring, const opening *open) {
  assert((ring->slot_count & (ring->slot_count - 1)) == 0 && ring->slot_bytes % TT_SHM_LINE == 0);
  assert(open->role == TT_SHM_WRITER || (uint64_t)open->reader < ring->reader_count);
  stream->ring = ring;
  stream->mask = ring->slot_count - 1;
  stream->slot_bytes = ring->slot_bytes;
  stream->slot = tt_shm_ring_slots(ring);
  stream->contents = tt_shm_ring_contents(ring);
  stream->own = open->role == TT_SHM_READER ? &ring->reader[open->reader] : NULL;
}

static void insert_stream(tt_shm *self, tutti_stream *stream) {
  stream->after = self->streams;
  if (self->streams != NULL)
    self->streams->before = stream;
  self->streams = stream;
}

static void unlink_stream(tt_shm *self, tutti_stream *stream) {
  if (stream->before != NULL)
    stream->before->after = stream->after;
  else
    self->streams = stream->after;
  if (stream->after != NULL)
    stream->after->before = stream->before;
}

tutti_status tt_shm_stream_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream) {
  opening open = {.self = self, .spec = spec};
  tutti_status status = check_spec(self, spec);
  if (status == TUTTI_OK)
    status = find_role(&open);
  if (status != TUTTI_OK)
    return status;
  tutti_stream *made = make_stream(&open);
  if (made == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a stream's handle");
  tt_shm_block *block = NULL;
  status = find_ring(&open, &block);
  if (status != TUTTI_OK) {
    free(made);
    return status;
  }
  bind_ring(made, (tt_shm_ring *)block, &open);
  insert_stream(self, made);
  *stream = made;
  return TUTTI_OK;
}

void tt_shm_stream_close(void *self, tutti_stream *stream) {
  if (stream == NULL)
    return;
  unlink_stream(self, stream);
  tt_shm_object_close(((tt_shm *)self)->segment, &stream->ring->block);
  free(stream);
}
