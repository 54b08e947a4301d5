/* transport/shm/self.h - one rank's side of the shared memory transport, known to the files of this folder only. */
#ifndef TT_TRANSPORT_SHM_SELF_H
#define TT_TRANSPORT_SHM_SELF_H

#include "transport/shm/offer.h"

#include "transport/shm/segment.h"
#include "transport/shm/shm.h"

#include <tutti/boot.h>

#include <assert.h>

typedef struct tt_shm_cells tt_shm_cells;

typedef struct tt_shm_heap { /* of another process's memory: what it shares, to be read */
  unsigned char *base;       /* NULL: not mapped, as that of the rank itself */
  uint64_t bytes, open;      /* that can be read so far */
} tt_shm_heap;

typedef struct tt_shm_old {
  tt_shm_block *block;
  int64_t freed_ns;
} tt_shm_old;

enum { TT_SHM_KEPT = 256 };

typedef struct tt_shm_kept { /* see kept.c */
  pthread_mutex_t lock;
  uint64_t bytes, live, live_most;
  int count;
  tt_shm_old old[TT_SHM_KEPT]; /* the oldest first */
} tt_shm_kept;

#define TT_SHM_PROBE_BYTES 16384

typedef struct tt_shm {
  tt_shm_segment *segment;
  int64_t rank, rank_count;
  uint64_t slot_bytes, slot_count; /* of new streams */
  tutti_stream *streams;           /* open ones, linked */
  tt_index cells;                  /* open ones, by their id */
  int bell;                        /* the socket to be woken by, and to wake others from; -1: none */
  uint32_t calls;                  /* of progress */
  uint32_t questions;              /* after a peer's death */
  uint64_t *probe;                 /* what peers read to see whether they may, and how fast: TT_SHM_PROBE_BYTES */
  size_t remote_least;             /* shorter messages are not worth a system call; the same on all ranks of a node */
  bool remote;                     /* all ranks may read each other's memory */
  tt_shm_heap *heap;               /* of each rank; NULL: none is used */
  const tt_heap_offer *offer;      /* this process's heap */
  bool twins;                      /* there may be other ranks in this process */
  tt_shm_kept kept;
} tt_shm;

static inline tt_shm_rank *tt_shm_rank_of(const tt_shm *self, int64_t rank) {
  assert(rank >= 0 && rank < self->rank_count);
  return &self->segment->head->rank[rank];
}
/* Those of other nodes have no part in the segment. */
static inline bool tt_shm_is_here(const tt_shm_rank *rank) {
  return atomic_load_explicit(&rank->state, memory_order_acquire) != TT_SHM_ABSENT;
}
/* Whether it is this rank, or another one of its process. */
static inline bool tt_shm_is_own(const tt_shm *self, int64_t rank) {
  return tt_shm_rank_of(self, rank)->pid == tt_shm_rank_of(self, self->rank)->pid;
}

/* open.c, stream.c */
tutti_status tt_shm_stream_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream);
void tt_shm_stream_close(void *self, tutti_stream *stream);
tutti_status tt_shm_reserve_slot(void *self, tutti_stream *stream, tutti_slot_header **header, void **data,
                                 size_t *room);
tutti_status tt_shm_commit(void *self, tutti_stream *stream, size_t bytes);
tutti_status tt_shm_refer(void *self, tutti_stream *stream, const void *data, size_t bytes, int anywhere);
size_t tt_shm_refer_least(void *self);
void tt_shm_sent(void *self, tutti_stream *stream, tutti_stream_sent *sent);
tutti_status tt_shm_peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                         size_t *bytes);
tutti_status tt_shm_fetch(void *self, tutti_stream *stream, size_t offset, void *to, size_t bytes);
tutti_status tt_shm_release(void *self, tutti_stream *stream);
uint64_t tt_shm_unreleased(void *self, tutti_stream *stream);

/* memory.c */
tutti_status tt_shm_cells_open(void *self, uint64_t id, const int64_t *ranks, int64_t count, size_t bytes, void **cell);
void tt_shm_cells_close(void *self, uint64_t id);
void tt_shm_cells_finish(tt_shm *self); /* closes all */
/* What it goes with at the latest: the cells of a group of ranks whose id is the same but for the lowest 16 bits, else
 * for the lowest 19, which are 1 there, or 32, which are 0. NULL: this rank has none open. */
tt_shm_block *tt_shm_parent_of(const tt_shm *self, uint64_t id);
tutti_status tt_shm_alloc(void *self, size_t bytes, void **memory);
void tt_shm_free(void *self, void *memory);

/* kept.c: threads: any */
void tt_shm_kept_init(tt_shm *self);
void tt_shm_kept_finish(tt_shm *self);
/* A block that holds as much, with what was in it; NULL: there is none. */
tt_shm_block *tt_shm_kept_take(tt_shm *self, uint64_t bytes);
void tt_shm_kept_count(tt_shm *self, const tt_shm_block *block); /* a new one, which will be given */
void tt_shm_kept_give(tt_shm *self, tt_shm_block *block);
bool tt_shm_kept_drop(tt_shm *self); /* gives all back to the segment; whether there were any */

/* remote.c: other processes' memory */
/* Lets other processes of this user read this one's memory, where the system asks for that. Before any rank tries. */
void tt_shm_remote_permit(void);
/* What a rank has found that all have to know when the job is made. */
typedef struct tt_shm_finding {
  int32_t remote_error; /* why it cannot read its neighbour's memory, or 0 */
  int32_t heap_error;   /* why it cannot map others' heaps, or 0 */
  int64_t remote_least; /* bytes from which a read is worth while; 0: it has no neighbour */
} tt_shm_finding;
/* Tries to read the memory of another rank of this node. */
void tt_shm_remote_try(const tt_shm *self, const tt_shm_config *config, tt_shm_finding *mine);
/* Used where all ranks can. Says why not in the log. */
void tt_shm_remote_open(tt_shm *self, const tt_shm_finding *all);
/* The same for ranks that are threads of this process: they may. */
void tt_shm_remote_open_threads(tt_shm *self, const tt_shm_config *config);
/* Copies `bytes` at `address` of the peer's process. */
tutti_status tt_shm_remote_read(tt_shm *self, int64_t peer, uint64_t address, void *to, size_t bytes);

/* heap.c: other processes' memory that libtutti-heap.so shares */
bool tt_shm_heap_is_here(void); /* in this process */
/* Says in the segment what others have to map. Before the rank has joined. */
void tt_shm_heap_show(tt_shm_rank *rank);
/* Maps the heaps of this node's ranks. */
void tt_shm_heap_map(tt_shm *self, tt_shm_finding *mine);
/* Used where all could. Says why not in the log. */
void tt_shm_heap_open(tt_shm *self, const tt_shm_finding *all);
void tt_shm_heap_close(tt_shm *self);
/* Where those bytes of it lie here, to be read. NULL: the system has no memory for that. */
const void *tt_shm_heap_at(tt_shm_heap *heap, uint64_t offset, size_t bytes);
int tt_shm_lending(void *self, int begins);
void tt_shm_use(void *self, const void *data, size_t bytes);

/* alive.c: whether the process that joined as this rank still is */
typedef enum tt_shm_sign { TT_SHM_GONE, TT_SHM_HIDDEN, TT_SHM_THERE } tt_shm_sign; /* HIDDEN: the system does not say */
tt_shm_sign tt_shm_look_at(const tt_shm_segment *segment, const tt_shm_rank *rank);
/* A thread by which the memory of the rank's process can be read; 0: there is none. */
pid_t tt_shm_find_thread(const tt_shm_rank *rank);

/* peer.c: who is alive */
/* Takes this rank's life lock: for who holds the segment by a descriptor of its own. Before it says that it has joined.
 */
tutti_status tt_shm_life_begin(tt_shm *self);
void tt_shm_life_end(tt_shm *self);   /* says that this rank has left, and gives the lock back when that is safe */
void tt_shm_peers_look(tt_shm *self); /* at all, when nobody has done so for a while */
bool tt_shm_peer_has_died(const tt_shm *self, int64_t peer); /* asks the system */
int tt_shm_peer_dead(void *self, int64_t peer);
/* Its process is known to have ended: tells all ranks, unless it had left before. */
void tt_shm_peer_mark_dead(tt_shm *self, int64_t peer);
/* -1: none, although there were deaths: who was wrongly taken for dead has left since. */
int64_t tt_shm_peer_first_dead(const tt_shm *self);
/* The error of a rank that waits for `peer`, which has died or left. */
tutti_status tt_shm_peer_fail(const tt_shm *self, int64_t peer);

#endif
