/* transport/loop/parts.h - what the files of this folder share.
 *
 * A ring belongs to a writer and holds the slots; an ear belongs to one of its readers and says how far that reader is.
 * An ear is found by (id, source, reader) and exists from whichever end opens first. The table of ears is under the
 * loop's mutex; rings and ears meet only through the two counters, committed and released. */
#ifndef TT_TRANSPORT_LOOP_PARTS_H
#define TT_TRANSPORT_LOOP_PARTS_H

#include "transport/loop/loop.h"

#include <pthread.h>
#include <stdatomic.h>

#define TT_LOOP_BUCKETS 1024

typedef struct loop_slot {
  tutti_slot_header header;
  const void *data; /* own memory, or the writer's buffer after refer */
  size_t bytes;
  bool remote; /* as if in another process: readers fetch it */
} loop_slot;

typedef struct loop_ring {
  size_t room, slot_count;
  _Atomic uint64_t committed; /* slots; release by the writer, acquire by readers */
  loop_slot *slot;
  unsigned char *memory; /* slot_count * room */
  int64_t reader_count;
  struct loop_ear **ear; /* of each reader */
  bool reserved;
  tutti_stream_sent sent;
  struct loop_ring *next; /* all rings of the loop */
} loop_ring;

typedef struct loop_name { /* of an ear */
  uint64_t id;
  int64_t source, reader;
  uint64_t group; /* hash of all readers: each set of readers is a stream of its own */
} loop_name;

typedef struct loop_ear {
  loop_name name;
  _Atomic(loop_ring *) ring; /* NULL until the writer has opened; release by the writer, acquire by the reader */
  _Atomic uint64_t released; /* slots; release by the reader, acquire by the writer */
  uint64_t visible;          /* scheduled mode: slots that the schedule has let through */
  struct loop_ear *next;     /* in its bucket */
} loop_ear;

typedef struct loop_cells {
  uint64_t id;
  int64_t *ranks;
  int64_t count, closed;
  size_t bytes;
  unsigned char *memory;
  struct loop_cells *next;
} loop_cells;

typedef struct loop_memory { /* of ops->alloc */
  unsigned char *base;
  size_t bytes;
  struct loop_memory *next;
} loop_memory;

struct tt_loop {
  tt_loop_options options;
  tt_random random;      /* scheduled mode only */
  _Atomic int64_t dead;  /* first killed rank, -1: none */
  pthread_mutex_t mutex; /* guards what follows */
  loop_ear *ear[TT_LOOP_BUCKETS];
  loop_ring *ring;
  loop_cells *cells;
  loop_memory *memory;
};

typedef struct loop_end { /* what ops->open gives: one rank */
  tt_loop *loop;
  int64_t rank;
} loop_end;

tutti_status tt_loop_stream_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream);
void tt_loop_stream_close(void *self, tutti_stream *stream);
tutti_status tt_loop_reserve(void *self, tutti_stream *stream, tutti_slot_header **header, void **data, size_t *room);
tutti_status tt_loop_commit(void *self, tutti_stream *stream, size_t bytes);
tutti_status tt_loop_refer(void *self, tutti_stream *stream, const void *data, size_t bytes, int anywhere);
tutti_status tt_loop_peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                          size_t *bytes);
tutti_status tt_loop_fetch(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes);
tutti_status tt_loop_release(void *self, tutti_stream *stream);
uint64_t tt_loop_unreleased(void *self, tutti_stream *stream);
void tt_loop_sent(void *self, tutti_stream *stream, tutti_stream_sent *sent);
void tt_loop_ring_free(loop_ring *ring);

tutti_status tt_loop_cells_open(void *self, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes,
                                void **cell);
void tt_loop_cells_close(void *self, uint64_t id);
tutti_status tt_loop_alloc(void *self, size_t bytes, void **memory);
void tt_loop_free(void *self, void *memory);
/* Whether [data, data + bytes) lies in memory of tt_loop_alloc. */
bool tt_loop_owns(tt_loop *loop, const void *data, size_t bytes);
void tt_loop_memory_finish(tt_loop *loop);

#endif
