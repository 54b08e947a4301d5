/* transport/loop/stream.c - streams of the loop: one ring of slots a writer, one ear a reader.
 *
 * An end that closes leaves ring and ear in place: peers may still be reading, and the same id may be opened again and
 * goes on where it was. All of it is freed with the loop. */
#include "transport/loop/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tutti_stream { /* one end: a ring or an ear */
  loop_ring *ring;    /* writer's */
  loop_ear *ear;      /* reader's */
};

static loop_ear **bucket_of(tt_loop *loop, const loop_name *name) {
  return &loop->ear[tt_hash(0, name, sizeof *name) % TT_LOOP_BUCKETS];
}

/* The ear of that name, made where there is none; NULL: no memory. Under the mutex. */
static loop_ear *find_ear(tt_loop *loop, const tutti_stream_spec *spec, int64_t reader) {
  loop_name name = {spec->id, spec->source, reader,
                    tt_hash(0, spec->readers, (size_t)spec->reader_count * sizeof *spec->readers)};
  loop_ear **bucket = bucket_of(loop, &name);
  for (loop_ear *ear = *bucket; ear; ear = ear->next)
    if (memcmp(&ear->name, &name, sizeof name) == 0)
      return ear;
  loop_ear *ear = calloc(1, sizeof *ear);
  if (!ear)
    return NULL;
  ear->name = name;
  ear->next = *bucket;
  *bucket = ear;
  return ear;
}

void tt_loop_ring_free(loop_ring *ring) {
  free(ring->memory);
  free(ring->slot);
  free(ring->ear);
  free(ring);
}

static loop_ring *make_ring(const tt_loop *loop, const tutti_stream_spec *spec) {
  size_t bytes =
      loop->options.slot_bytes > spec->slot_bytes_minimum ? loop->options.slot_bytes : spec->slot_bytes_minimum;
  loop_ring *ring = calloc(1, sizeof *ring);
  if (!ring)
    return NULL;
  ring->room = (bytes + 63) / 64 * 64;
  ring->slot_count = loop->options.slot_count;
  ring->reader_count = spec->reader_count;
  ring->slot = calloc(ring->slot_count, sizeof *ring->slot);
  ring->ear = calloc((size_t)spec->reader_count, sizeof(loop_ear *));
  ring->memory = aligned_alloc(64, ring->slot_count * ring->room);
  if (ring->slot && ring->ear && ring->memory)
    return ring;
  tt_loop_ring_free(ring);
  return NULL;
}

static void join(tt_loop *loop, loop_ring *ring, loop_ear **ear) {
  for (int64_t n = 0; n < ring->reader_count; n++) {
    ring->ear[n] = ear[n];
    atomic_store_explicit(&ear[n]->ring, ring, memory_order_release); /* pairs with peek */
  }
  ring->next = loop->ring;
  loop->ring = ring;
}

static tutti_status open_writer(tt_loop *loop, const tutti_stream_spec *spec, loop_ear **ear, loop_ring **found) {
  for (int64_t n = 0; n < spec->reader_count; n++) {
    ear[n] = find_ear(loop, spec, spec->readers[n]);
    if (!ear[n])
      return tt_fail(TUTTI_ERR_MEMORY, "no memory for a stream to %" PRId64 " readers", spec->reader_count);
  }
  loop_ring *ring = atomic_load_explicit(&ear[0]->ring, memory_order_relaxed); /* written under the mutex, as we are */
  if (!ring) {
    ring = make_ring(loop, spec);
    if (!ring)
      return tt_fail(TUTTI_ERR_MEMORY, "no memory for a stream of %zu slots", loop->options.slot_count);
    join(loop, ring, ear);
  }
  *found = ring;
  return TUTTI_OK;
}

static tutti_status open_end(loop_end *end, const tutti_stream_spec *spec, tutti_stream *stream) {
  if (spec->source != end->rank) {
    stream->ear = find_ear(end->loop, spec, end->rank);
    return stream->ear ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for a stream");
  }
  loop_ear **ear = calloc((size_t)spec->reader_count, sizeof *ear);
  if (!ear)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a stream to %" PRId64 " readers", spec->reader_count);
  tutti_status status = open_writer(end->loop, spec, ear, &stream->ring);
  free(ear);
  return status;
}

tutti_status tt_loop_stream_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream) {
  loop_end *end = self;
  tutti_stream *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a stream");
  pthread_mutex_lock(&end->loop->mutex);
  tutti_status status = open_end(end, spec, made);
  pthread_mutex_unlock(&end->loop->mutex);
  if (status != TUTTI_OK)
    free(made);
  else
    *stream = made;
  return status;
}

void tt_loop_stream_close(void *self, tutti_stream *stream) {
  (void)self;
  free(stream);
}

static bool refused(tt_loop *loop, uint64_t one_in) {
  return !loop->options.threads && tt_random_below(&loop->random, one_in) == 0;
}

/* Slots that every reader has released. */
static uint64_t least_released(const loop_ring *ring) {
  uint64_t least = UINT64_MAX;
  for (int64_t n = 0; n < ring->reader_count; n++) {
    uint64_t released = atomic_load_explicit(&ring->ear[n]->released, memory_order_acquire); /* pairs with release */
    least = released < least ? released : least;
  }
  return least;
}

static uint64_t committed_of(loop_ring *ring) {
  return atomic_load_explicit(&ring->committed, memory_order_relaxed); /* the writer reads its own */
}

uint64_t tt_loop_unreleased(void *self, tutti_stream *stream) {
  (void)self;
  return committed_of(stream->ring) - least_released(stream->ring);
}

tutti_status tt_loop_reserve(void *self, tutti_stream *stream, tutti_slot_header **header, void **data, size_t *room) {
  loop_end *end = self;
  loop_ring *ring = stream->ring;
  assert(ring); /* the writer's end */
  *room = 0;
  if (!ring->reserved && (tt_loop_unreleased(self, stream) == ring->slot_count || refused(end->loop, 3)))
    return TUTTI_OK;
  size_t index = committed_of(ring) % ring->slot_count;
  ring->reserved = true;
  *header = &ring->slot[index].header;
  *data = ring->memory + index * ring->room;
  *room = ring->room;
  return TUTTI_OK;
}

static void put(loop_ring *ring, const void *data, size_t bytes, bool remote) {
  assert(ring->reserved);
  uint64_t committed = committed_of(ring);
  loop_slot *slot = &ring->slot[committed % ring->slot_count];
  slot->data = data;
  slot->bytes = bytes;
  slot->remote = remote;
  ring->reserved = false;
  atomic_store_explicit(&ring->committed, committed + 1, memory_order_release); /* pairs with peek */
}

tutti_status tt_loop_commit(void *self, tutti_stream *stream, size_t bytes) {
  (void)self;
  loop_ring *ring = stream->ring;
  if (!ring->reserved || bytes > ring->room)
    return tt_fail(TUTTI_ERR_ARGUMENT, "commit of %zu bytes into a slot of %zu", bytes,
                   ring->reserved ? ring->room : 0);
  ring->sent.slots++;
  ring->sent.slot_bytes += bytes;
  put(ring, ring->memory + committed_of(ring) % ring->slot_count * ring->room, bytes, false);
  return TUTTI_OK;
}

tutti_status tt_loop_refer(void *self, tutti_stream *stream, const void *data, size_t bytes, int anywhere) {
  loop_end *end = self;
  bool owned = tt_loop_owns(end->loop, data, bytes);
  if (!owned && !anywhere)
    return TUTTI_ERR_UNSUPPORTED;
  tutti_stream_sent *sent = &stream->ring->sent;
  *(owned ? &sent->lent : &sent->fetched) += 1;
  *(owned ? &sent->lent_bytes : &sent->fetched_bytes) += bytes;
  put(stream->ring, data, bytes, !owned);
  return TUTTI_OK;
}

void tt_loop_sent(void *self, tutti_stream *stream, tutti_stream_sent *sent) {
  (void)self;
  *sent = stream->ring->sent;
}

/* How many slots this reader sees: in scheduled mode some of the committed ones arrive later, and never out of order.
 */
static uint64_t visible(tt_loop *loop, loop_ear *ear, loop_ring *ring) {
  uint64_t committed = atomic_load_explicit(&ring->committed, memory_order_acquire); /* pairs with put */
  if (loop->options.threads)
    return committed;
  if (ear->visible < committed && tt_random_below(&loop->random, 2) == 0)
    ear->visible += 1 + tt_random_below(&loop->random, committed - ear->visible);
  assert(ear->visible <= committed);
  return ear->visible;
}

tutti_status tt_loop_peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                          size_t *bytes) {
  loop_end *end = self;
  loop_ear *ear = stream->ear;
  *header = NULL;
  loop_ring *ring = atomic_load_explicit(&ear->ring, memory_order_acquire); /* pairs with join */
  uint64_t released = atomic_load_explicit(&ear->released, memory_order_relaxed);
  if (!ring || visible(end->loop, ear, ring) == released)
    return TUTTI_OK;
  const loop_slot *slot = &ring->slot[released % ring->slot_count];
  *header = &slot->header;
  *data = slot->remote ? NULL : slot->data;
  *bytes = slot->bytes;
  return TUTTI_OK;
}

/* Of the slot that peek has found. */
tutti_status tt_loop_fetch(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes) {
  (void)self;
  loop_ear *ear = stream->ear;
  const loop_ring *ring = atomic_load_explicit(&ear->ring, memory_order_relaxed); /* peek has it */
  uint64_t released = atomic_load_explicit(&ear->released, memory_order_relaxed); /* the reader reads its own */
  const loop_slot *slot = &ring->slot[released % ring->slot_count];
  if (!slot->remote || offset + bytes > slot->bytes)
    return tt_fail(TUTTI_ERR_ARGUMENT, "fetch of %zu bytes at offset %zu of a slot of %zu", bytes, offset, slot->bytes);
  tt_copy(to, (const unsigned char *)slot->data + offset, bytes);
  return TUTTI_OK;
}

/* Scheduled mode: what the last reader has released is spoilt, unless it is a user's buffer. */
static void spoil(loop_ring *ring, uint64_t number) {
  size_t index = number % ring->slot_count;
  unsigned char *own = ring->memory + index * ring->room;
  if (ring->slot[index].data == own && least_released(ring) > number)
    memset(own, 0xEE, ring->slot[index].bytes);
}

tutti_status tt_loop_release(void *self, tutti_stream *stream) {
  loop_end *end = self;
  loop_ear *ear = stream->ear;
  uint64_t released = atomic_load_explicit(&ear->released, memory_order_relaxed); /* the reader reads its own */
  atomic_store_explicit(&ear->released, released + 1, memory_order_release);      /* pairs with least_released */
  if (!end->loop->options.threads)
    spoil(atomic_load_explicit(&ear->ring, memory_order_relaxed), released);
  return TUTTI_OK;
}
