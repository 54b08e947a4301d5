/* transport/shm/stream.c - moving slots: a few instructions each, no system call, no lock.
 *
 * Orders: `sequence` is stored with release after the slot is full and loaded with acquire by readers; `released` is
 * stored with release after the last use of a slot and loaded with acquire by the writer before it fills the slot
 * again. */
#include "transport/shm/stream.h"

#include "transport/shm/bell.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

_Static_assert(sizeof(tt_shm_slot) == TT_SHM_LINE, "a small message is one line, its header too");
_Static_assert(sizeof(tt_shm_reader) == TT_SHM_LINE, "readers do not write each other's line");
_Static_assert(offsetof(tt_shm_ring, reader) % TT_SHM_LINE == 0, "readers do not write the ring's own line");
#define ELSEWHERE (TT_SHM_REFERRED | TT_SHM_REMOTE | TT_SHM_HEAP)
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

static void wake_peers(const tutti_stream *stream) {
  for (uint32_t p = 0; p < stream->peer_count; p++)
    tt_shm_wake(stream->peer[p].rank, stream->bell);
}

/* A peer of this end that has died or left; NULL: none. */
static const struct tt_shm_peer *gone_peer(const tutti_stream *stream) {
  for (uint32_t p = 0; p < stream->peer_count; p++)
    if (atomic_load_explicit(&stream->peer[p].rank->state, memory_order_acquire) > TT_SHM_JOINED)
      return &stream->peer[p];
  return NULL;
}

static uint64_t least_released(const tt_shm_ring *ring) {
  uint64_t least = UINT64_MAX;
  for (uint64_t r = 0; r < ring->reader_count; r++) {
    uint64_t released = atomic_load_explicit(&ring->reader[r].released, memory_order_acquire);
    least = released < least ? released : least;
  }
  return least;
}

static bool has_room(tutti_stream *stream) {
  assert(stream->next <= stream->limit && stream->limit - stream->next <= stream->mask + 1);
  if (LIKELY(stream->next != stream->limit))
    return true;
  stream->limit = least_released(stream->ring) + stream->mask + 1;
  return stream->next != stream->limit;
}

static unsigned char *contents_of(const tutti_stream *stream, uint64_t number) {
  return stream->contents + (number & stream->mask) * stream->slot_bytes;
}

tutti_status tt_shm_reserve_slot(void *self, tutti_stream *stream, tutti_slot_header **header, void **data,
                                 size_t *room) {
  assert(stream->role == TT_SHM_WRITER);
  if (!has_room(stream)) {
    *room = 0;
    const struct tt_shm_peer *gone = gone_peer(stream);
    return gone == NULL || has_room(stream) ? TUTTI_OK : tt_shm_peer_fail(self, gone->number);
  }
  *header = &stream->header;
  *data = contents_of(stream, stream->next);
  *room = stream->slot_bytes;
  return TUTTI_OK;
}

/* Makes the slot visible: all else in it is written. */
static tutti_status publish(tutti_stream *stream, tt_shm_slot *slot) {
  assert(atomic_load_explicit(&slot->sequence, memory_order_relaxed) <= stream->next); /* it is this end's own */
  slot->header = stream->header;
  atomic_store_explicit(&slot->sequence, ++stream->next, memory_order_release);
  wake_peers(stream);
  return TUTTI_OK;
}

static tutti_status fail_unreserved(void) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "commit of a slot that was not reserved");
}

tutti_status tt_shm_commit(void *self, tutti_stream *stream, size_t bytes) {
  (void)self;
  assert(stream->role == TT_SHM_WRITER);
  if (!LIKELY(stream->next != stream->limit))
    return fail_unreserved();
  if (!LIKELY(bytes <= stream->slot_bytes))
    return tt_fail(TUTTI_ERR_ARGUMENT, "commit of %zu bytes into a slot of %" PRIu64, bytes, stream->slot_bytes);
  tt_shm_slot *slot = &stream->slot[stream->next & stream->mask];
  slot->bytes = bytes;
  stream->sent.slots++;
  stream->sent.slot_bytes += bytes;
  if (bytes <= TT_SHM_INLINE_BYTES) {
    const unsigned char *contents = contents_of(stream, stream->next);
    for (size_t w = 0; w * 8 < bytes; w++)
      memcpy(&slot->data.word[w], contents + w * 8, 8);
  }
  return publish(stream, slot);
}

/* What a slot says of where they lie: a kind, and *reference. 0: readers cannot get there. */
static uint64_t find_place(const tt_shm *self, const void *data, size_t bytes, int anywhere, uint64_t *reference) {
  *reference = tt_shm_offset(self->segment, data);
  if (*reference < self->segment->bytes && bytes <= self->segment->bytes - *reference)
    return TT_SHM_REFERRED;
  if (self->heap && self->offer->locate(data, bytes, reference))
    return TT_SHM_HEAP;
  *reference = (uint64_t)(uintptr_t)data;
  return anywhere && self->remote && bytes >= self->remote_least ? TT_SHM_REMOTE : 0;
}

tutti_status tt_shm_refer(void *self, tutti_stream *stream, const void *data, size_t bytes, int anywhere) {
  assert(stream->role == TT_SHM_WRITER);
  uint64_t reference, kind = find_place(self, data, bytes, anywhere, &reference);
  if (kind == 0)
    return TUTTI_ERR_UNSUPPORTED;
  if (stream->next == stream->limit)
    return fail_unreserved();
  tt_shm_slot *slot = &stream->slot[stream->next & stream->mask];
  bool remote = kind == TT_SHM_REMOTE;
  slot->bytes = bytes | kind;
  slot->data.reference = reference;
  *(remote ? &stream->sent.fetched : &stream->sent.lent) += 1;
  *(remote ? &stream->sent.fetched_bytes : &stream->sent.lent_bytes) += bytes;
  return publish(stream, slot);
}

void tt_shm_sent(void *self, tutti_stream *stream, tutti_stream_sent *sent) {
  (void)self;
  assert(stream->role == TT_SHM_WRITER);
  *sent = stream->sent;
}

size_t tt_shm_refer_least(void *self) { return ((tt_shm *)self)->remote ? ((tt_shm *)self)->remote_least : SIZE_MAX; }

static bool has_come(const tutti_stream *stream, const tt_shm_slot *slot) {
  return atomic_load_explicit(&slot->sequence, memory_order_acquire) == stream->next + 1;
}

/* Of what a slot refers to; NULL: it has to be fetched. */
static const void *place_of(const tt_shm *self, const tutti_stream *stream, const tt_shm_slot *slot) {
  if (slot->bytes & TT_SHM_REMOTE)
    return NULL;
  if (slot->bytes & TT_SHM_HEAP)
    return tt_shm_heap_at(&self->heap[stream->peer[0].number], slot->data.reference, slot->bytes & ~ELSEWHERE);
  return tt_shm_at(self->segment, slot->data.reference);
}

tutti_status tt_shm_peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                         size_t *bytes) {
  assert(stream->role == TT_SHM_READER);
  const tt_shm_slot *slot = &stream->slot[stream->next & stream->mask];
  if (!has_come(stream, slot)) {
    *header = NULL;
    const struct tt_shm_peer *gone = gone_peer(stream);
    if (LIKELY(gone == NULL))
      return TUTTI_OK;
    if (!has_come(stream, slot)) /* what it sent before it went is used first */
      return tt_shm_peer_fail(self, gone->number);
  }
  *header = &slot->header;
  *bytes = slot->bytes;
  if (slot->bytes <= TT_SHM_INLINE_BYTES)
    *data = slot->data.word;
  else
    *data = contents_of(stream, stream->next);
  if (!LIKELY((slot->bytes & ELSEWHERE) == 0)) {
    *bytes = slot->bytes & ~ELSEWHERE;
    *data = place_of(self, stream, slot);
    if (*data == NULL && !(slot->bytes & TT_SHM_REMOTE))
      return tt_fail(TUTTI_ERR_MEMORY, "rank %" PRId64 " cannot map %zu bytes of rank %" PRId64 "'s memory: %s",
                     ((tt_shm *)self)->rank, *bytes, stream->peer[0].number, strerror(errno));
  }
  return TUTTI_OK;
}

tutti_status tt_shm_fetch(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes) {
  assert(stream->role == TT_SHM_READER);
  const tt_shm_slot *slot = &stream->slot[stream->next & stream->mask];
  if (!has_come(stream, slot) || !(slot->bytes & TT_SHM_REMOTE))
    return tt_fail(TUTTI_ERR_ARGUMENT, "fetch of a slot that does not refer to a process's memory");
  uint64_t room = slot->bytes & ~ELSEWHERE;
  if (offset > room || bytes > room - offset)
    return tt_fail(TUTTI_ERR_ARGUMENT, "fetch of %zu bytes at offset %zu of a slot of %" PRIu64, bytes, offset, room);
  return tt_shm_remote_read(self, stream->peer[0].number, slot->data.reference + offset, to, bytes);
}

tutti_status tt_shm_release(void *self, tutti_stream *stream) {
  (void)self;
  assert(stream->role == TT_SHM_READER);
  const tt_shm_slot *slot = &stream->slot[stream->next & stream->mask];
  if (!LIKELY(has_come(stream, slot)))
    return tt_fail(TUTTI_ERR_ARGUMENT, "release of a slot that has not arrived");
  atomic_store_explicit(&stream->own->released, ++stream->next, memory_order_release);
  wake_peers(stream);
  return TUTTI_OK;
}

uint64_t tt_shm_unreleased(void *self, tutti_stream *stream) {
  (void)self;
  assert(stream->role == TT_SHM_WRITER);
  return stream->next - least_released(stream->ring);
}
