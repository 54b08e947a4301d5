/* transport/shm/segment.h - the segment that all ranks of a job map: layout, lock, blocks, objects.
 *
 *     head | rank 0 | rank 1 | ... | blocks: powers of two of at least a page, each begins with a tt_shm_block
 *
 * The segment is sparse: its size is address space, only pages that were touched are memory. Positions in it are
 * offsets, since each process maps it elsewhere. One robust lock guards allocator and directory (opening and closing
 * only, never the moving of bytes); every change under it is completed by a single store, so that a rank killed
 * anywhere leaks at most what it was about to free.
 *
 * Low memory: everything but slot contents is backed by fallocate before use, so that a lack of it is an error and
 * never SIGBUS. Slot contents are touched on use: there, with strict overcommit (vm.overcommit_memory = 2) and no
 * memory left, SIGBUS is possible; otherwise the kernel kills a process, which the other ranks see as a dead peer. */
#ifndef TT_TRANSPORT_SHM_SEGMENT_H
#define TT_TRANSPORT_SHM_SEGMENT_H

#include "base/base.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define TT_SHM_LINE 64u
#define TT_SHM_PAGE 4096u
#define TT_SHM_PIECE ((uint64_t)256 << 10)
#define TT_SHM_CLASSES 48
#define TT_SHM_BUCKETS 4096
#define TT_SHM_SOCKET 8

typedef enum tt_shm_state { TT_SHM_ABSENT, TT_SHM_JOINED, TT_SHM_LEFT, TT_SHM_DEAD } tt_shm_state;

/* What a rank shows to the others: one line. */
typedef struct tt_shm_rank {
  _Alignas(TT_SHM_LINE) _Atomic uint32_t sleeping; /* tt_shm_bell: how to ring when something changes; see bell.h */
  _Atomic uint32_t doorbell;                       /* futex */
  _Atomic uint32_t state; /* tt_shm_state; TT_SHM_JOINED by release after what follows, read by acquire */
  int32_t pid;
  int32_t fd;                      /* in its process, on which its life lock is; -1: none. See peer.c */
  int32_t heap_fd;                 /* in its process: of the heap that others may map; -1: none. See heap.c */
  uint64_t probe_address, probe;   /* where this process has that word, and nobody else has it */
  uint64_t heap_inode, heap_bytes; /* of that file */
  char socket[TT_SHM_SOCKET];      /* abstract name of its other bell, after the leading 0; empty: none */
} tt_shm_rank;

typedef enum tt_shm_kind { TT_SHM_FREE, TT_SHM_MEMORY, TT_SHM_RING, TT_SHM_CELLS } tt_shm_kind;

/* Names an object that several ranks open: equal keys give the same object. */
typedef struct tt_shm_key {
  uint64_t id;
  uint64_t group; /* hash of the source and the ranks at the ends */
} tt_shm_key;

/* First line of every block. */
typedef struct tt_shm_block {
  _Alignas(TT_SHM_LINE) uint32_t log_bytes;
  uint32_t kind;      /* tt_shm_kind */
  uint64_t next;      /* of the free list or of the bucket */
  tt_shm_key key;     /* of objects */
  uint32_t end_count; /* of objects: how many ranks open it */
  uint32_t opened;    /* how many of them have so far */
  uint32_t closed;    /* and closed it */
  uint32_t children;  /* objects that go with this one at the latest */
  uint64_t parent;    /* 0: none */
  uint64_t held;      /* bytes from its beginning that are memory, and that alone were ever touched: see block.c */
} tt_shm_block;

typedef struct tt_shm_head {
  uint64_t bytes;
  int64_t rank_count;
  _Atomic uint32_t deaths;        /* ranks known to be dead; tt_shm_peer_mark_dead adds, `progress` acquires */
  _Atomic int64_t looked_ns;      /* when some rank last looked who is alive: a hint, relaxed */
  _Atomic uint32_t no_membarrier; /* 1: some rank has none, sleepers must not rely on it; relaxed */
  _Alignas(TT_SHM_LINE) pthread_mutex_t lock;
  _Atomic int32_t holder;        /* pid of the process that took it last: for errors; relaxed */
  uint64_t bump;                 /* blocks lie before it */
  uint64_t piece;                /* new small blocks begin here, up to the next multiple of TT_SHM_PIECE, if any does */
  uint64_t free[TT_SHM_CLASSES]; /* by log2 of the size */
  uint64_t bucket[TT_SHM_BUCKETS];
  tt_shm_rank rank[];
} tt_shm_head;

/* A process's mapping. */
typedef struct tt_shm_segment {
  tt_shm_head *head; /* also the base of all offsets */
  uint64_t bytes;
  tt_file file;       /* its descriptor; -1: left open, see tt_shm_life_end */
  int32_t process;    /* that has mapped it */
  _Atomic int users;  /* transports over this mapping; the last one unmaps: acq_rel as each leaves */
  int64_t timeout_ns; /* for the lock where TUTTI_TIMEOUT has none; 0: none */
  atomic_bool stuck;  /* the lock was waited for in vain, and not had since: a hint, relaxed */
} tt_shm_segment;

/* Reserves address space, as much of `bytes` as this process may have; *bytes is what it got. */
tutti_status tt_shm_reserve(uint64_t *bytes, void **base);
/* Makes the memfd of the job, `bytes` long. */
tutti_status tt_shm_create(uint64_t bytes, int64_t rank_count, int *fd);
/* Maps fd over the reserved space; takes fd and the space. `reserved` may be larger than bytes: the rest is given back.
 */
tutti_status tt_shm_map_take(int fd, void *base, uint64_t reserved, uint64_t bytes, tt_shm_segment **segment);
/* Fills the head of a new segment. */
tutti_status tt_shm_head_init(tt_shm_segment *segment, int64_t rank_count);
void tt_shm_unmap(tt_shm_segment *segment); /* one user less; accepts NULL */

/* TUTTI_ERR_TIMEOUT after TUTTI_TIMEOUT, or the time that opening may take: nobody who runs holds it for long. */
tutti_status tt_shm_lock(tt_shm_segment *segment);
/* The same for one who wants to free something: who has waited in vain leaks rather than wait again and again. */
bool tt_shm_lock_to_free(tt_shm_segment *segment);
void tt_shm_unlock(tt_shm_segment *segment);

/* Whether a thread of this process has it. For assertions. */
static inline bool tt_shm_has_lock(const tt_shm_segment *segment) {
  return atomic_load_explicit(&segment->head->holder, memory_order_relaxed) ==
         segment->process; /* it wrote that itself */
}

static inline void *tt_shm_at(const tt_shm_segment *segment, uint64_t offset) {
  assert(offset > 0 && offset < segment->bytes);
  return (char *)segment->head + offset;
}
static inline uint64_t tt_shm_offset(const tt_shm_segment *segment, const void *address) {
  return (uint64_t)((const char *)address - (const char *)segment->head);
}
static inline uint64_t tt_shm_round(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

/* A block of at least `bytes`, its line included, of which the first `backed` are backed by memory; the rest of its
 * first page is zero and so are later pages. Needs the lock. */
tutti_status tt_shm_block_alloc(tt_shm_segment *segment, uint64_t bytes, uint64_t backed, tt_shm_block **block);
/* Backs the first `bytes` of it with memory. Without the lock. */
tutti_status tt_shm_block_back(tt_shm_segment *segment, const tt_shm_block *block, uint64_t bytes);
/* Frees it; the memory of a large one goes back to the system, but for its first page. Without the lock, by whoever
 * alone still knows the block. */
void tt_shm_block_give_back(tt_shm_segment *segment, tt_shm_block *block);

typedef struct tt_shm_object_spec {
  tt_shm_kind kind;
  tt_shm_key key;
  tt_shm_block *parent; /* an open one of all these ranks, or NULL */
  uint32_t end_count;
  uint64_t bytes, backed;                            /* as in tt_shm_block_alloc */
  void (*init)(tt_shm_block *block, void *argument); /* of a new object, before anyone else sees it; may be NULL */
  tutti_status (*join)(tt_shm_block *block, void *argument); /* of every opener, under the lock; may be NULL */
  void *argument;
} tt_shm_object_spec;

/* The object of that key, made by whoever comes first. */
tutti_status tt_shm_object_open(tt_shm_segment *segment, const tt_shm_object_spec *spec, tt_shm_block **block);
/* One end less; the last one frees it, and its children that nobody has open. */
void tt_shm_object_close(tt_shm_segment *segment, tt_shm_block *block);

#endif
