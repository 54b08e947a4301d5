/* transport/shm/ring.h - a stream in shared memory: slots, contents, and a counter for each reader.
 *
 *     tt_shm_ring | reader 0 | reader 1 ... | slot 0 | slot 1 ... | contents 0 | contents 1 ...
 *
 * A slot is one cache line with the number of the commit that filled it, so that a reader polls and reads the header
 * in one line; up to 32 bytes of data travel in it too: a small message costs one line from core to core. A reader's
 * counter says how many slots it has released; the writer looks at it only when it has used all slots that it knew to
 * be free. */
#ifndef TT_TRANSPORT_SHM_RING_H
#define TT_TRANSPORT_SHM_RING_H

#include "transport/shm/segment.h"

#include <tutti/transport.h>

#define TT_SHM_INLINE_BYTES 32u
#define TT_SHM_REFERRED ((uint64_t)1 << 63) /* in `bytes`: the data lies at offset reference, not in the ring */
#define TT_SHM_REMOTE ((uint64_t)1 << 62)   /* in `bytes`: at address reference of the writer's process */
#define TT_SHM_HEAP ((uint64_t)1 << 61)     /* in `bytes`: at offset reference of the writer's heap */

typedef struct tt_shm_slot {
  _Alignas(TT_SHM_LINE) _Atomic uint64_t sequence; /* commits on the stream up to this one; 0: never
                                                      used. Release in publish, acquire in has_come */
  uint64_t bytes;
  tutti_slot_header header;
  union {
    uint64_t word[TT_SHM_INLINE_BYTES / 8];
    uint64_t reference;
  } data;
} tt_shm_slot;

typedef struct tt_shm_reader {
  _Alignas(TT_SHM_LINE) _Atomic uint64_t released; /* release in tt_shm_release, acquire in least_released */
  uint64_t opened;                                 /* 1: this end is or was open; under the segment's lock */
} tt_shm_reader;

typedef struct tt_shm_ring {
  tt_shm_block block;
  uint64_t slot_count; /* a power of two */
  uint64_t slot_bytes;
  uint64_t reader_count;
  uint64_t opened; /* the writer's */
  _Alignas(TT_SHM_LINE) tt_shm_reader reader[];
} tt_shm_ring;

static inline tt_shm_slot *tt_shm_ring_slots(tt_shm_ring *ring) {
  return (tt_shm_slot *)(void *)(ring->reader + ring->reader_count);
}
static inline unsigned char *tt_shm_ring_contents(tt_shm_ring *ring) {
  return (unsigned char *)(tt_shm_ring_slots(ring) + ring->slot_count);
}
static inline uint64_t tt_shm_ring_head_bytes(uint64_t reader_count, uint64_t slot_count) {
  return sizeof(tt_shm_ring) + reader_count * sizeof(tt_shm_reader) + slot_count * sizeof(tt_shm_slot);
}

#endif
