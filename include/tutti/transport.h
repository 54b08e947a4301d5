/* tutti/transport.h - the contract of a transport: ordered streams of slots between peers, and nothing of collectives.
 *
 * A stream goes from one rank to one reader, or to several (`publish`), and keeps its order. The writer reserves a
 * slot, fills it and commits it; each reader peeks at the oldest slot it has not released, uses the bytes in place
 * (reduces out of it, copies out of it) and releases it. No call blocks: one that cannot go on now says so, and the
 * engine comes back.
 *
 *     writer   reserve -> fill -> commit                    slots: |  2  |  3  |  4  |     |
 *     reader                        peek -> use -> release            ^ reader's next     ^ writer's next
 *
 * Threads: calls on one transport come from one thread at a time. Both sides of a stream name it by the same 64-bit id;
 * the same id may be used for every (source, reader) pair, since streams are told apart by (id, source, reader).
 *
 * A vendor's or a binding's transport is given in tutti_context_options and is built against this header only. */
#ifndef TUTTI_TRANSPORT_H
#define TUTTI_TRANSPORT_H

#include <tutti/boot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_stream tutti_stream; /* each transport's own; opaque to everyone else */

/* First bytes of every slot, written by the engine until commit: which call the bytes belong to. A reader that finds
 * another key than its own knows that ranks called different things, before it has used a byte. */
typedef struct tutti_slot_header {
  uint64_t call; /* low half: number of the call on its communicator, from 1; high half: hash of the slot's blocks */
  uint64_t key;  /* hash of what the call is: equal on all ranks that agree */
} tutti_slot_header;

typedef struct tutti_stream_spec {
  uint64_t id;               /* equal on all ends; unique among the open streams of one (source, readers) */
  int64_t source;            /* job rank that writes */
  const int64_t *readers;    /* job ranks that read, reader_count of them; borrowed during open */
  int64_t reader_count;      /* 1, or more where `publish` is set */
  size_t slot_bytes_minimum; /* a slot must hold at least this, header not included */
  int once;                  /* the id is not used again: an end that was closed unused need not be remembered */
} tutti_stream_spec;

/* What was committed to a stream so far. */
typedef struct tutti_stream_sent {
  uint64_t slots, slot_bytes;      /* filled and committed */
  uint64_t lent, lent_bytes;       /* referred to: readers find it where it lies */
  uint64_t fetched, fetched_bytes; /* referred to: readers fetch it */
} tutti_stream_sent;

typedef struct tutti_transport_ops {
  size_t size;      /* sizeof(tutti_transport_ops): what it lacks of later versions is NULL */
  const char *name; /* short, "shm" */
  int publish;      /* whether a stream may have several readers */

  /* Opens the transport for a job; collective over its ranks (it may use boot->allgather). `config` is the user's. */
  tutti_status (*open)(const void *config, const tutti_boot *boot, void **self);
  /* Closes all that is open. Not collective; peers may still be reading what was committed. Accepts NULL. */
  void (*close)(void *self);

  /* Opens one end. Neither collective nor blocking; may be called before the other end has opened. */
  tutti_status (*stream_open)(void *self, const tutti_stream_spec *spec, tutti_stream **stream);
  void (*stream_close)(void *self, tutti_stream *stream);

  /* Writer. *room = 0: no slot is free now. Otherwise *header and *data (room bytes, 64-byte aligned) are the writer's
   * until commit; repeating reserve before commit gives the same slot. `bytes` <= room, the header is sent too. */
  tutti_status (*reserve)(void *self, tutti_stream *stream, tutti_slot_header **header, void **data, size_t *room);
  tutti_status (*commit)(void *self, tutti_stream *stream, size_t bytes);

  /* Reader. *header = NULL: nothing has come. Otherwise data stays as it is until release. *data = NULL: it lies in the
   * writer's memory, where only `fetch` reaches it. */
  tutti_status (*peek)(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                       size_t *bytes);
  tutti_status (*release)(void *self, tutti_stream *stream);

  /* Moves what can be moved without blocking; TUTTI_ERR_PEER (with the rank in *peer) when a peer is known to be gone.
   */
  tutti_status (*progress)(void *self, int64_t *peer);
  /* Sleeps until something may have changed or the time is over; may return early. NULL: the engine yields instead. */
  void (*wait)(void *self, int64_t timeout_ns);
  /* 1: the peer is known to be dead; 2: it has closed its transport; 0: neither. NULL: never known. Must not block. */
  int (*peer_dead)(void *self, int64_t peer);
  /* Wakes a peer that may sleep in `wait`; cheap where it does not. Streams do this themselves; needed after writing to
   * shared cells. NULL where there are none. */
  void (*wake)(void *self, int64_t peer);

  /* ---- optional: transports that are memory; each may be NULL ---- */

  /* Memory that all `count` ranks (job ranks, ascending order of the group) map: equal id and ranks give the same
   * memory, zeroed at first. cell[n] = that of ranks[n]: `bytes` bytes, 64-byte aligned. Not collective; the memory
   * lives until cells_close. */
  tutti_status (*cells_open)(void *self, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes, void **cell);
  /* This rank needs them no more; freed when every rank has said so. */
  void (*cells_close)(void *self, uint64_t id);

  /* Buffers that peers can read in place, for tutti_alloc. */
  tutti_status (*alloc)(void *self, size_t bytes, void **memory);
  void (*free)(void *self, void *memory);
  /* Commits the reserved slot with `bytes` at `data` without copying; `bytes` may be more than a slot holds. Readers
   * peek at it where it lies, in memory of `alloc`; or, with `anywhere`, fetch it from where else it is.
   * TUTTI_ERR_UNSUPPORTED (and nothing done) where they cannot: then fill and commit. The bytes must stay as they are
   * until the slot has been released by all readers. */
  tutti_status (*refer)(void *self, tutti_stream *stream, const void *data, size_t bytes, int anywhere);
  /* Writer: slots committed so far that some reader has not released. */
  uint64_t (*unreleased)(void *self, tutti_stream *stream);

  /* Reader: copies `bytes` from `offset` on of the slot that peek has found to `to`. Needed where peek gives data =
   * NULL. An error, such as that the writer has died, is one of the call; what is at `to` then means nothing. */
  tutti_status (*fetch)(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes);

  /* ---- optional: transports that send in `progress` what commit has left to it; may be NULL ---- */

  /* Writer: slots committed so far that reach their reader only if this rank calls `progress` again. A call does not
   * return before there are none: this rank may then compute for long, and the reader must not wait for that. */
  uint64_t (*unsent)(void *self, tutti_stream *stream);
  /* A descriptor that poll finds readable when progress may have something to do; the transport's own. So a rank can
   * sleep until something comes, from here or from its own machine. NULL, or -1: there is none, and it looks often. */
  int (*descriptor)(void *self);

  /* ---- optional: of `refer` with `anywhere` ---- */

  /* Bytes from which it is worth while; shorter ones may be refused. The same on all ranks that may share cells. 0: it
   * is always done; SIZE_MAX: never. NULL: 0. */
  size_t (*refer_least)(void *self);

  /* ---- optional: of transports that keep what comes for streams whose reader is not open yet ---- */

  /* No rank opens streams of these `count` ids, from `first` on, any more; this one has none of them open. What has
   * come of them need not be kept. What comes later may be: this is called again. NULL: it is kept. */
  void (*forget)(void *self, uint64_t first, uint64_t count);

  /* ---- optional: counts ---- */

  /* Writer. *sent comes zeroed. NULL: slots and what is referred to are not counted. */
  void (*sent)(void *self, tutti_stream *stream, tutti_stream_sent *sent);
} tutti_transport_ops;

#ifdef __cplusplus
}
#endif
#endif
