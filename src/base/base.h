/* base/base.h - what every folder stands on: errors, log, arena, vectors, options, clock, random. */
#ifndef TT_BASE_BASE_H
#define TT_BASE_BASE_H

#include <tutti/status.h>

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TT_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* ---- atomics: those of <stdatomic.h>, in _Atomic objects ---- */

/* A word of plain shared memory, such as one of a record that is also copied as a whole. */
static inline _Atomic uint64_t *tt_atomic_word(const void *word) { return (_Atomic uint64_t *)(uintptr_t)word; }

/* ---- errors: the function that decides an error records it once, callers pass the status on ---- */

/* Records the text for this thread and returns `status`. */
tutti_status tt_fail(tutti_status status, const char *format, ...) TT_PRINTF(2, 3);
void tt_fail_clear(void);

/* ---- log: to stderr, one line each, "tutti[rank]: ..."; level from TUTTI_LOG ---- */

typedef enum tt_log_level { TT_LOG_ERROR, TT_LOG_WARN, TT_LOG_INFO, TT_LOG_DEBUG } tt_log_level;
void tt_log(tt_log_level level, const char *format, ...) TT_PRINTF(2, 3);
void tt_log_rank(int64_t rank); /* prefix of later lines; -1: none */

/* ---- arena: memory of one compilation, freed at once. Allocations are zeroed and 16-byte aligned. ---- */

typedef struct tt_arena {
  struct tt_arena_chunk *chunks;
  size_t used_bytes;     /* in the newest chunk */
  size_t reserved_bytes; /* in all chunks */
  bool failed;           /* sticky: an allocation failed and returned NULL */
} tt_arena;

void tt_arena_init(tt_arena *arena);
void tt_arena_finish(tt_arena *arena);
void *tt_arena_alloc(tt_arena *arena, size_t count, size_t size); /* NULL and failed = true where memory is exhausted */
char *tt_arena_format(tt_arena *arena, const char *format, ...) TT_PRINTF(2, 3);

/* ---- index: pointers by number. {0}: empty ---- */

typedef struct tt_index_slot {
  uint64_t key;
  void *value; /* NULL: free */
} tt_index_slot;

typedef struct tt_index {
  tt_index_slot *slot;
  size_t used, size; /* size: a power of two, or 0 */
} tt_index;

void *tt_index_find(const tt_index *index, uint64_t key);      /* NULL: there is none */
bool tt_index_set(tt_index *index, uint64_t key, void *value); /* not NULL; false: no memory */
void tt_index_remove(tt_index *index, uint64_t key);           /* if it is there */
void tt_index_finish(tt_index *index);

/* ---- options: every environment variable is a row of this table; docs and `tutti info` are made from it ---- */

typedef enum tt_option_kind {
  TT_OPTION_FLAG,
  TT_OPTION_INT,
  TT_OPTION_BYTES,
  TT_OPTION_TIME,
  TT_OPTION_TEXT
} tt_option_kind;

typedef struct tt_option {
  const char *name; /* TUTTI_TIMEOUT */
  tt_option_kind kind;
  int64_t minimum;      /* of a number */
  const char *fallback; /* text of the default */
  const char *help;
  size_t offset; /* in tt_options */
} tt_option;

typedef struct tt_options {
  int64_t log;               /* 0 error .. 3 debug */
  int64_t timeout_ns;        /* a call that waits longer fails; 0: never */
  int64_t create_timeout_ns; /* context and communicator creation */
  int64_t verify;            /* prove every plan before its first use */
  int64_t spin;              /* polls before yielding, where every rank has a core */
  int64_t shared_spin_ns;    /* the same where cores are shared */
  const char *progress;      /* "thread", or empty */
  int64_t progress_core;     /* of that thread; -1: any */
  int64_t yield_ns;          /* yields so long before sleeping */
  int64_t slot_bytes;        /* of a stream; 0: chosen by ranks per node */
  int64_t slot_count;        /* of a stream */
  int64_t direct_bytes;      /* largest message of the direct executor */
  const char *medium;        /* that carries what it can; "": chosen */
  int64_t read_bytes; /* pieces from which it is worth while to read them from another process's memory; 0: found out */
  struct {
    int64_t lend;        /* pieces from which a reference is cheaper than a copy into a slot */
    int64_t fetch;       /* most that is read at once from another process's memory, to be stored */
    int64_t combine;     /* the same to be combined: short enough for a cache */
    int64_t nontemporal; /* of all blocks: from here on results that nobody reads go past the cache */
  } bytes;
  int64_t cma; /* read long messages from other processes' memory */
  struct {
    const char *params;  /* parameters for every collective, instead of what wisdom and profile choose */
    const char *profile; /* path of a profile file; "": the shipped one */
    const char *wisdom;  /* path of a file of measured choices; "": the one of this machine; "off" */
  } choice;
  struct {
    const char *wanted; /* "on", or empty */
    int64_t bytes;      /* shortest block of it */
  } heap;
  const char *groups;    /* group map of level "node" */
  const char *nodes;     /* map of ranks to machines; "": found out */
  const char *nics;      /* that carry data between machines; "": all that are fit */
  const char *far;       /* transport between machines: its name in transport/transports.inc */
  struct {               /* between machines */
    int64_t slots;       /* of a stream */
    int64_t bulk_bytes;  /* from which a message may take another way beside busy ones */
    int64_t batch_bytes; /* that one system call of tcp sends */
  } between;
  const char *topology; /* path of a switch file; "": none */
  struct {              /* by the launcher */
    const char *boot;
    int64_t rank, size; /* -1: none */
  } set;
} tt_options;

const tt_options *tt_options_get(void); /* parsed from the environment once; a value that does not parse is reported */
int64_t tt_options_far_slots(void);     /* between.slots, at most 1024 */
const tt_option *tt_option_table(size_t *count);
/* The name of the table's row that `name` nearly is; NULL: none. */
const char *tt_option_nearest(const char *name);
/* Warns of variables that are named like options and are none. Once for a job is enough. */
void tt_options_warn(void);
tutti_status tt_parse_bytes(const char *text, int64_t *bytes);  /* 64, 8K, 1M, 2G (1024s) */
tutti_status tt_parse_time(const char *text, int64_t *time_ns); /* 500us, 20ms, 3s, 3 (seconds) */
void tt_format_bytes(int64_t bytes, char text[static 16]);      /* "64K" where it divides, else "65537" */

/* ---- clock and random ---- */

int64_t tt_clock_ns(void);                  /* monotonic */
#define TT_CLOCK_LONGEST (INT64_MAX / 4)    /* a timeout that may be added to the clock: 73 years */
int64_t tt_clock_until(int64_t timeout_ns); /* from now; very long ones are cut so that nothing overflows */

typedef struct tt_random {
  uint64_t state;
} tt_random;
void tt_random_init(tt_random *random, uint64_t seed);
uint64_t tt_random_next(tt_random *random);
uint64_t tt_random_below(tt_random *random, uint64_t limit); /* limit > 0 */
/* An order of so many items, each of that size, all orders equally likely. */
void tt_random_shuffle(tt_random *random, void *items, int64_t count, size_t bytes);
uint64_t tt_hash(uint64_t seed, const void *bytes, size_t size);

/* Between two looks at what another core will change. */
static inline void tt_relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* ---- file.c: descriptors that the program may have closed, whose numbers may be those of files of its own ---- */

typedef struct tt_file {
  int fd;                  /* -1: none */
  uint64_t device, number; /* what it was opened to */
} tt_file;

tt_file tt_file_of(int fd); /* remembers what it is open to; fd: -1: none */
bool tt_file_is_open(const tt_file *file);

/* ---- copy.c ---- */

/* memcpy, also where the C library's is slow. */
void tt_copy(void *to, const void *from, size_t bytes);

/* ---- host.c ---- */

/* Which machine this process is on, as far as shared memory is concerned: equal numbers can map each other's memory and
 * meet on abstract sockets and know each other's process numbers (the same boot of the same kernel, the same namespaces
 * of network and processes, the same user). */
uint64_t tt_host(void);
/* Where process numbers mean the same, and cores may be shared: also beyond a namespace of the network. */
uint64_t tt_host_processes(void);
/* The same where an address of the network means the same. */
uint64_t tt_host_network(void);
/* The level 2 cache of a core that this process may use; 0: unknown. */
int64_t tt_host_l2_bytes(void);
/* Of this machine, those that this process may not use among them; 0: unknown. */
int64_t tt_host_cores(void);
/* That can be had now without swapping, as the machine and this process's control groups say; INT64_MAX: unknown. */
int64_t tt_host_memory_bytes(void);

#endif
