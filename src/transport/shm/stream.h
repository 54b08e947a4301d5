/* transport/shm/stream.h - this rank's end of a ring: private positions and what it knows of the other side. */
#ifndef TT_TRANSPORT_SHM_STREAM_H
#define TT_TRANSPORT_SHM_STREAM_H

#include "transport/shm/ring.h"
#include "transport/shm/self.h"

typedef enum tt_shm_role { TT_SHM_WRITER, TT_SHM_READER } tt_shm_role;

struct tutti_stream {
  uint64_t next;  /* slots that this end has committed or released */
  uint64_t limit; /* writer: slots that may be committed before it looks at the readers again */
  uint64_t mask;  /* slot_count - 1 */
  uint64_t slot_bytes;
  tt_shm_slot *slot;
  unsigned char *contents;
  tutti_slot_header
      header; /* writer: of the slot in work; copied at commit, so that pollers do not disturb its making */
  tt_shm_ring *ring;
  tt_shm_reader *own;     /* reader */
  tutti_stream_sent sent; /* writer */
  tt_shm_role role;
  int bell; /* to ring others from; -1: none */
  uint32_t peer_count;
  tutti_stream *before, *after; /* of self->streams */
  struct tt_shm_peer {
    tt_shm_rank *rank;
    int64_t number;
  } peer[]; /* writer: the readers; reader: the source */
};

#endif
