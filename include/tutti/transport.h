/* tutti/transport.h - the contract of a transport: ordered streams of slots between peers. It knows no collectives.
 *
 * A stream goes from one rank to one reader, or to several (`publish`), and keeps its order. The writer reserves a
 * slot, fills it and commits it. Each reader peeks at the oldest slot that it has not released, uses the bytes in place
 * (it reduces or copies out of them) and releases the slot. No call blocks: a call that cannot go on says so, and the
 * engine calls again later.
 *
 *     writer   reserve -> fill -> commit                    slots: |  2  |  3  |  4  |     |
 *     reader                        peek -> use -> release            ^ reader's next     ^ writer's next
 *
 * Threads: one thread at a time calls a transport. Both ends name a stream by the same 64-bit id. A stream's full name
 * is (id, source, reader), so every (source, reader) pair may use the same id.
 *
 * tutti_context_options takes the transport of a vendor or a binding, which needs this header only. */
#ifndef TUTTI_TRANSPORT_H
#define TUTTI_TRANSPORT_H

#include <tutti/boot.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_stream tutti_stream; /* each transport defines its own; opaque to everyone else */

/* The first bytes of every slot. The engine writes them before commit; they say which call the bytes belong to. A
 * reader that finds another key than its own knows that ranks called different things, before it has used a byte. */
typedef struct tutti_slot_header {
  uint64_t call; /* low half: number of the call on its communicator, from 1; high half: hash of the slot's blocks */
  uint64_t key;  /* hash of the call; equal on all ranks that agree */
} tutti_slot_header;

typedef struct tutti_stream_spec {
  uint64_t id;               /* equal on all ends; unique among the open streams of one (source, readers) */
  int64_t source;            /* the job rank that writes */
  const int64_t *readers;    /* the reader_count job ranks that read; borrowed during stream_open */
  int64_t reader_count;      /* 1, or more if `publish` is set */
  size_t slot_bytes_minimum; /* the least number of bytes that a slot holds, without its header */
  int once; /* 1: the id is never reused, so the transport may forget an end that was closed unused; 2: so it is, and
             * what goes there is no call's data: the peer may have left before */
} tutti_stream_spec;

/* What the writer has committed to a stream so far. */
typedef struct tutti_stream_sent {
  uint64_t slots, slot_bytes;      /* slots that were filled, and their bytes */
  uint64_t lent, lent_bytes;       /* slots that refer to data, which readers use in place */
  uint64_t fetched, fetched_bytes; /* slots that refer to data, which readers fetch */
} tutti_stream_sent;

typedef struct tutti_transport_ops {
  size_t size;      /* sizeof(tutti_transport_ops); tutti takes members beyond it as NULL */
  const char *name; /* short, such as "shm" */
  int publish;      /* 1: a stream may have several readers */

  /* Opens the transport for a job. Collective over the job's ranks; it may use boot->allgather. config: the user's
   * transport_config. */
  tutti_status (*open)(const void *config, const tutti_boot *boot, void **self);
  /* Closes everything that is open. Local; peers may still be reading what was committed. Accepts NULL. */
  void (*close)(void *self);

  /* Opens one end. Local, never blocks; the other end may open earlier or later. */
  tutti_status (*stream_open)(void *self, const tutti_stream_spec *spec, tutti_stream **stream);
  void (*stream_close)(void *self, tutti_stream *stream);

  /* Writer. *room = 0: no slot is free now. Otherwise the writer may fill *header and *data (*room bytes, 64-byte
   * aligned) until commit; another reserve before commit returns the same slot. commit sends the header and `bytes`
   * bytes of data, bytes <= *room. */
  tutti_status (*reserve)(void *self, tutti_stream *stream, tutti_slot_header **header, void **data, size_t *room);
  tutti_status (*commit)(void *self, tutti_stream *stream, size_t bytes);

  /* Reader. *header = NULL: no slot has come. Otherwise the data does not change until release. *data = NULL: the data
   * is in the writer's memory, and only `fetch` reaches it. */
  tutti_status (*peek)(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                       size_t *bytes);
  tutti_status (*release)(void *self, tutti_stream *stream);

  /* Moves what can be moved without blocking. Returns TUTTI_ERR_PEER, with the rank in *peer, when it knows that a peer
   * is gone. */
  tutti_status (*progress)(void *self, int64_t *peer);
  /* Sleeps until something may have changed or timeout_ns has passed; may return early. NULL: the engine yields. */
  void (*wait)(void *self, int64_t timeout_ns);
  /* Returns 1 if the peer is known to be dead, 2 if it has closed its transport, else 0. Must not block. NULL: nothing
   * is known of peers. */
  int (*peer_dead)(void *self, int64_t peer);
  /* Wakes a peer that may sleep in `wait`; cheap if it does not sleep. The engine calls it after writing to shared
   * cells; streams wake their readers themselves. NULL: the transport has no shared cells. */
  void (*wake)(void *self, int64_t peer);

  /* ---- optional: for transports over shared memory; each may be NULL, but what opens or allocates has its counterpart
   * ---- */

  /* Maps memory that `count` ranks share (job ranks, in ascending order of the group). Equal id and ranks give the same
   * memory, which is zeroed at first. cell[n] points to the cell of ranks[n]: `bytes` bytes, 64-byte aligned. Local;
   * the memory lives until cells_close. */
  tutti_status (*cells_open)(void *self, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes, void **cell);
  /* Gives up this rank's use of the cells; they are freed when every rank has closed them. */
  void (*cells_close)(void *self, uint64_t id);

  /* Allocates and frees buffers that peers can read in place, for tutti_alloc and tutti_free. */
  tutti_status (*alloc)(void *self, size_t bytes, void **memory);
  void (*free)(void *self, void *memory);
  /* Commits the reserved slot so that it refers to `bytes` bytes at `data`, without copying; bytes may exceed the room
   * of a slot. Readers use data in memory of `alloc` in place. With anywhere = 1, data may be elsewhere too, and
   * readers fetch it. Returns TUTTI_ERR_UNSUPPORTED, and does nothing, where readers cannot: the engine then fills and
   * commits. The bytes must not change until all readers have released the slot. */
  tutti_status (*refer)(void *self, tutti_stream *stream, const void *data, size_t bytes, int anywhere);
  /* Writer: the number of committed slots that some reader has not released. */
  uint64_t (*unreleased)(void *self, tutti_stream *stream);

  /* Reader: copies `bytes` bytes, from byte `offset` of the slot that peek found, to `to`. Needed where peek returns
   * data = NULL. If it fails, as when the writer has died, the call fails with the same error and the bytes at `to` are
   * undefined. */
  tutti_status (*fetch)(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes);

  /* ---- optional: for transports in which `progress` sends what commit has queued; each may be NULL ---- */

  /* Writer: the number of committed slots that reach their reader only if this rank calls `progress` again. A
   * collective returns only when there are none, because this rank may then compute for long while the reader waits. */
  uint64_t (*unsent)(void *self, tutti_stream *stream);
  /* A descriptor that poll finds readable when progress may have something to do; the transport owns it. It lets a rank
   * sleep until something comes from here or from its own machine. NULL, or a result of -1: ranks poll often instead.
   */
  int (*descriptor)(void *self);

  /* ---- optional: for `refer` with anywhere = 1 ---- */

  /* The shortest length in bytes for which `refer` pays; it may refuse shorter data. Equal on all ranks that may share
   * cells. 0: always; SIZE_MAX: never. NULL: 0. */
  size_t (*refer_least)(void *self);

  /* ---- optional: for transports that keep what comes for streams whose reader is not open yet ---- */

  /* Says that no rank will open streams with the ids first .. first + count - 1 again, and that this rank has none of
   * them open. The transport may drop what has come for them. What comes later it may keep: the engine calls this
   * again. NULL: it keeps everything. */
  void (*forget)(void *self, uint64_t first, uint64_t count);

  /* ---- optional: counts ---- */

  /* Writer: fills *sent, which is zeroed before. NULL: slots and references are not counted. */
  void (*sent)(void *self, tutti_stream *stream, tutti_stream_sent *sent);

  /* ---- optional: for `refer` where memory can be moved to where peers read it; both may be NULL ---- */

  /* begins = 1: a call begins that may refer to memory anywhere. Returns 1 where the transport wants to hear by `use`
   * which, before the call refers to any, and by begins = 0 that it has ended: all readers have released what it
   * referred to, or it was given up. */
  int (*lending)(void *self, int begins);
  /* The call uses these bytes: until it ends nobody else writes to them. */
  void (*use)(void *self, const void *data, size_t bytes);
} tutti_transport_ops;

#ifdef __cplusplus
}
#endif
#endif
