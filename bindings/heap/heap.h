/* bindings/heap/heap.h - libtutti-heap.so: large blocks of malloc, which other processes can read once calls use them.
 *
 *     addresses   | granule 0 | granule 1 | ...     a region, reserved once; a granule is 64 KiB
 *     private     ordinary memory: what every block is at first
 *     shared      mapped from a place in the file (memfd) that other processes map, too: a block that calls use
 *     frozen      since a fork: private again, over what is at its place in the file
 *
 * A run of granules is live, dirty (freed, still memory) or clean (freed, given back to the system). Nothing here may
 * call malloc: it is malloc. */
#ifndef TT_HEAP_HEAP_H
#define TT_HEAP_HEAP_H

#include <transport/shm/offer.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define HEAP_GRANULE ((size_t)64 << 10)
#define HEAP_NONE UINT32_MAX

typedef enum heap_state { HEAP_INSIDE, HEAP_LIVE, HEAP_DIRTY, HEAP_CLEAN } heap_state;
typedef enum heap_kind { HEAP_PRIVATE, HEAP_SHARED, HEAP_FROZEN } heap_kind;

typedef struct heap_granule {
  uint64_t bytes;          /* first of a live run: what was asked for */
  uint64_t used;           /* first of a run: bytes of it that calls have used, all together */
  uint32_t count;          /* first and last of a run: its granules */
  uint32_t place;          /* first of a run that is not private: where in the file it begins, in granules */
  uint32_t taken;          /* the same: forks until it got that place */
  uint32_t next, previous; /* first of a free run: in its list */
  uint32_t freed_ms;       /* first of a dirty run: when */
  uint32_t run;            /* of a live run that calls have used: its first; else anything */
  uint8_t state;           /* heap_state; of first and last, inside otherwise */
  uint8_t kind;            /* heap_kind; of first and last */
  bool first;              /* of a run */
} heap_granule;

typedef struct heap_list {
  uint32_t first, last; /* newest, oldest */
} heap_list;

enum { HEAP_BINS = 32, HEAP_MOVE_LEAST = 16 }; /* granules: to copy fewer is as fast as to move their pages */

typedef struct heap {
  unsigned char *base; /* of the region */
  size_t bytes;        /* of the region; 0: there is no heap */
  uint32_t total;      /* granules of the region */
  uint32_t used, open; /* runs lie before `used`; what is before `open` is memory that the process may use */
  heap_granule *granule;
  heap_list dirty, clean[HEAP_BINS]; /* of clean runs: by log2 of their granules */
  size_t live_bytes, live_most, dirty_bytes;
  size_t threshold; /* shorter blocks are the C library's */
  bool parts;       /* blocks may move of which calls use only a part */
  bool statics;     /* static arrays lie in the file, too */
  bool loud;        /* it says why it is off */
  bool child;       /* of a process whose peers read its file: it has none */
  pthread_mutex_t lock;
} heap;

extern heap tt_heap;
/* This thread has the lock, or is about to have it, or had it just now. */
extern _Thread_local volatile sig_atomic_t tt_heap_inside __attribute__((tls_model("initial-exec")));

static inline void tt_heap_lock(void) {
  tt_heap_inside = 1;
  pthread_mutex_lock(&tt_heap.lock);
}
static inline void tt_heap_unlock(void) {
  pthread_mutex_unlock(&tt_heap.lock);
  tt_heap_inside = 0;
}

static inline bool tt_heap_has(const void *memory) {
  return (size_t)((const unsigned char *)memory - tt_heap.base) < tt_heap.bytes;
}
static inline uint32_t tt_heap_number(const void *memory) {
  return (uint32_t)((size_t)((const unsigned char *)memory - tt_heap.base) / HEAP_GRANULE);
}
static inline void *tt_heap_at(uint32_t granule) { return tt_heap.base + granule * HEAP_GRANULE; }
static inline heap_granule *tt_heap_of(uint32_t granule) { return &tt_heap.granule[granule]; }
static inline size_t tt_heap_size(uint32_t count) { return count * HEAP_GRANULE; }
static inline uint32_t tt_heap_granules(size_t bytes) { return (uint32_t)((bytes + HEAP_GRANULE - 1) / HEAP_GRANULE); }

/* region.c */
void tt_heap_die(const char *what) __attribute__((noreturn));
void tt_heap_tell(const char *reason, const char *memory); /* where it is loud; reason: NULL: there is none */
uint32_t tt_heap_now_ms(void);                             /* cheap, and coarse */
bool tt_heap_open(uint32_t granules); /* so many of the region are memory; false: the system refuses */
bool tt_heap_is_limited(int resource);

/* names.c */
bool tt_heap_is_malloc(void); /* the program calls it by all of its names, and nothing but the C library is behind it */

/* blocks.c: NULL: no room. align: a power of two. zero: what is returned has zeroes. */
void *tt_heap_take(size_t bytes, size_t align, bool zero);
void tt_heap_give(void *memory);                  /* keeps errno */
size_t tt_heap_room(const void *memory);          /* its bytes */
void *tt_heap_resize(void *memory, size_t bytes); /* without a copy; NULL: it cannot */

/* move.c: where they were stays memory, without pages. false: it stays as it was, and nothing of `to` is to be kept. */
bool tt_heap_move(void *from, size_t had, void *to, size_t bytes);

/* file.c: the file, and its places. All with the lock, but for the first. */
bool tt_heap_file_tell(tt_heap_file *made); /* makes it at the first time; false: there is none */
bool tt_heap_file_is_ours(void);            /* its descriptor still is */
bool tt_heap_file_is(uint64_t device, uint64_t inode);
/* NULL: it failed. at: NULL: anywhere. */
void *tt_heap_file_map(void *at, uint64_t offset, size_t bytes, int prot, bool shared);
void *tt_heap_place_map(void *at, uint32_t place, size_t bytes, bool shared); /* to read and write */
uint32_t tt_heap_place_take(uint32_t count);                                  /* HEAP_NONE: there is no room */
bool tt_heap_place_empty(uint32_t place, uint32_t count); /* its memory is the system's again; false: it cannot be */
/* It is empty, and may be used again. */
void tt_heap_place_give(uint32_t place, uint32_t count);
/* The same with what is in it, when no process lives that may have inherited it since it was taken. */
void tt_heap_place_leave(uint32_t place, uint32_t count, uint32_t taken);
bool tt_heap_place_may_leave(void); /* there is room to remember one more */
void tt_heap_take_back(void);       /* what was left, and nobody has any more; looks ten times a second at most */

/* share.c: as of tt_heap_offer, without the lock */
void tt_heap_lending(bool begins);
void tt_heap_use(const void *data, size_t bytes);
bool tt_heap_locate(const void *data, size_t bytes, uint64_t *offset);
/* With the lock: it becomes private, without its contents, which are the system's again. false: it stays as it was. */
bool tt_heap_empty(uint32_t first);
/* To where only zeros are: pages of zeros are passed over, and cost no memory there. */
void tt_heap_copy(unsigned char *to, const unsigned char *from, size_t bytes);
void tt_heap_set_run(uint32_t first); /* the same: `run` of its granules */

/* hold.c */
typedef struct heap_hold {
  int fd; /* -1: nothing is held */
  int cancel;
  sigset_t signals;
} heap_hold;
/* From now on threads that write there wait. false: the system cannot do that, and they do not. */
bool tt_heap_hold(heap_hold *held, void *at, size_t bytes);
void tt_heap_let_go(heap_hold *held);

/* statics.c */
const char *tt_heap_share_statics(void); /* at the start of the program; NULL, or why they stay where they are */
bool tt_heap_locate_static(const void *data, size_t bytes, uint64_t *offset); /* as tt_heap_locate */
/* With the lock, all of these. */
void tt_heap_check_statics(void); /* others may have mapped something there: they can be located if nobody has */
void tt_heap_freeze_statics(void);
size_t tt_heap_statics_shared(void); /* bytes */

/* fork.c */
void tt_heap_watch_forks(void);
bool tt_heap_is_alone(void); /* the process has one thread */
/* What lies there in the file is private from now on; with the lock. */
void tt_heap_freeze(void *at, uint64_t offset, size_t bytes, int prot);
/* The same for what is mapped there of the file, each piece protected as it is now, and for nothing else. false: the
 * system does not tell what there is. */
bool tt_heap_freeze_pieces(void *at, size_t bytes);

/* maps.c */
typedef struct heap_map {
  unsigned char *from, *to;
  int prot;
  bool shared;
  uint64_t offset, device, inode; /* of the file */
} heap_map;
/* Those that have some of these bytes, as far as they do. With the lock. false: the system does not tell. */
bool tt_heap_each_map(const void *memory, size_t bytes, void (*each)(const heap_map *map, void *argument),
                      void *argument);

/* heirs.c: with the lock */
uint32_t tt_heap_forks(void); /* so far */
/* Whether a process may live that comes from a fork after the first `from`, and among the first `to`. */
bool tt_heap_has_heirs(uint32_t from, uint32_t to);
void tt_heap_expect_heir(bool any);  /* this thread forks; any: there is something to inherit */
void tt_heap_be_heir(void);          /* the child */
void tt_heap_have_heir(bool failed); /* the parent, of its child; without the lock */
void tt_heap_lose_sight(void);       /* a child was not expected: from now on there are heirs for ever */

#endif
