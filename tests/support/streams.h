/* tests/support/streams.h - a transport that stands on streams of packets, in processes of a job, with messages whose
 * content follows from a seed. */
#ifndef TEST_SUPPORT_STREAMS_H
#define TEST_SUPPORT_STREAMS_H

#include "base/base.h"
#include "support/job.h"
#include "support/sanitized.h"

#include <tutti/transport.h>

#include <stdint.h>

#if SANITIZED
#include <sanitizer/lsan_interface.h>
#endif

#define SECOND ((int64_t)1000000000)

static const tutti_transport_ops *tested; /* the transport: open_rank of support/tcp.h and its like sets it */

/* A rank of a job ends without the sanitizer's own look. */
static inline void close_rank(void *self) {
  tested->close(self);
#if SANITIZED
  self = NULL;
  CHECK(__lsan_do_recoverable_leak_check() == 0);
#endif
}

static inline tutti_stream *open_end(void *self, uint64_t id, int64_t source, int64_t reader, size_t slot_bytes) {
  const tutti_stream_spec spec = {
      .id = id, .source = source, .readers = &reader, .reader_count = 1, .slot_bytes_minimum = slot_bytes};
  tutti_stream *stream = NULL;
  CHECK(tested->stream_open(self, &spec, &stream) == TUTTI_OK);
  return stream;
}

static inline void move_on(void *self, int64_t wait_ns) {
  int64_t peer = -1;
  CHECK(tested->progress(self, &peer) == TUTTI_OK);
  if (wait_ns > 0)
    tested->wait(self, wait_ns);
}

/* ---- messages ---- */

static inline void fill(unsigned char *bytes, size_t size, uint64_t seed) {
  tt_random random;
  tt_random_init(&random, seed);
  size_t b = 0;
  for (; b + 8 <= size; b += 8) {
    uint64_t word = tt_random_next(&random);
    memcpy(bytes + b, &word, 8);
  }
  for (; b < size; b++)
    bytes[b] = (unsigned char)(seed + b);
}

static inline bool is_filled(const unsigned char *bytes, size_t size, uint64_t seed) {
  tt_random random;
  tt_random_init(&random, seed);
  size_t b = 0;
  for (; b + 8 <= size; b += 8) {
    uint64_t word = tt_random_next(&random);
    if (memcmp(bytes + b, &word, 8) != 0)
      return false;
  }
  for (; b < size; b++)
    if (bytes[b] != (unsigned char)(seed + b))
      return false;
  return true;
}

static inline size_t size_of(uint64_t seed, size_t most) {
  tt_random random;
  tt_random_init(&random, seed * 31 + 7);
  size_t size = (size_t)tt_random_below(&random, most + 1);
  return seed % 3 == 0 ? size % 100 : size;
}

/* Whether there was room. */
static inline bool put(void *self, tutti_stream *stream, size_t size, uint64_t seed) {
  tutti_slot_header *header;
  void *data;
  size_t room = 0;
  CHECK(tested->reserve(self, stream, &header, &data, &room) == TUTTI_OK);
  if (room == 0)
    return false;
  CHECK(room >= size && (uintptr_t)data % 64 == 0);
  *header = (tutti_slot_header){.call = seed, .key = ~seed};
  fill(data, size, seed);
  CHECK(tested->commit(self, stream, size) == TUTTI_OK);
  return true;
}

/* Whether it had come: the expected one, and no other. */
static inline bool take(void *self, tutti_stream *stream, size_t size, uint64_t seed) {
  const tutti_slot_header *header = NULL;
  const void *data;
  size_t came;
  CHECK(tested->peek(self, stream, &header, &data, &came) == TUTTI_OK);
  if (!header)
    return false;
  CHECK(header->call == seed && header->key == ~seed && (uintptr_t)data % 64 == 0);
  CHECK(came == size && is_filled(data, size, seed));
  CHECK(tested->release(self, stream) == TUTTI_OK);
  return true;
}

static inline void put_now(void *self, tutti_stream *stream, size_t size, uint64_t seed) {
  while (!put(self, stream, size, seed))
    move_on(self, SECOND);
}

static inline void take_now(void *self, tutti_stream *stream, size_t size, uint64_t seed) {
  while (!take(self, stream, size, seed))
    move_on(self, SECOND);
}

static inline void send_off(void *self, tutti_stream *stream) {
  while (tested->unsent(self, stream) > 0)
    move_on(self, SECOND);
}

#endif
