/* exec/exec.h - runs plans: plan + buffers + streams + kernels, without ever blocking by itself.
 *
 *     tt_stream_table  one communicator's streams on one transport (lane id x peer -> stream), and its cells; opened on
 *                      first need
 *     tt_executor      one outstanding run of a bound plan; reused, starts allocate nothing. There are two:
 *         instance     walks lanes, a slice at a time, over streams
 *         direct       walks one list, over shared cells; where only the two ends of a move know its length, long
 *                      blocks go over streams, and an instance does the steps
 *
 * At one time at most one run is under way on a stream table, and every rank starts the same runs in the same order.
 * The caller loops over an executor's step until it says done and decides how to wait in between. */
#ifndef TT_EXEC_EXEC_H
#define TT_EXEC_EXEC_H

#include "dtype/dtype.h"
#include "plan/plan.h"

#include <tutti/transport.h>

typedef struct tt_stream_table tt_stream_table;

#define TT_STREAM_TABLE_IDS ((uint64_t)1 << 32) /* at most */

/* Bytes from which something is done otherwise; each rank's own affair. 0: as the option says. */
typedef struct tt_thresholds {
  int64_t lend;        /* shortest piece that is lent where it may be */
  int64_t keep;        /* a rank that takes nothing lends longer blocks only: its slots hold others, and it goes on */
  int64_t fetch;       /* most that is fetched at once, to be stored; */
  int64_t combine;     /* to be combined */
  int64_t nontemporal; /* of all blocks: from here on, final results are stored past the cache */
} tt_thresholds;

typedef struct tt_stream_table_spec {
  const tutti_transport_ops *ops; /* borrowed */
  void *transport;                /* opened; borrowed */
  const int64_t *job_rank;        /* of each rank of the communicator; borrowed */
  int64_t rank, rank_count;       /* in the communicator */
  uint64_t stream_base;           /* ids of this stream table's streams are stream_base + lane id: equal on all ranks */
  uint64_t ids;                   /* that it has from there on: the last few are its cells', lanes must be fewer */
  bool patient;                   /* a step may poll a little for what will come soon: every rank has a core */
  const bool *far;           /* of each rank: messages to it are costly, and wait to be whole; borrowed; NULL: none */
  size_t slot_bytes_minimum; /* equal on all ranks: blocks are cut into slices of at most this */
  bool alone;                /* of one request: ids are used once; little memory, as ranks run ahead by few starts */
  tt_thresholds thresholds;
  struct tt_spent *spent; /* tt_stream_table_watch's; NULL: nobody wants to know */
} tt_stream_table_spec;

/* Sets those that are 0. slot_bytes: slot_bytes_minimum. */
void tt_thresholds_fill(tt_thresholds *thresholds, size_t slot_bytes);

tutti_status tt_stream_table_create(const tt_stream_table_spec *spec, tt_stream_table **streams);
void tt_stream_table_destroy(tt_stream_table *streams);

/* Whether that rank shares this one's core, as far as is known; at first none does. At any time: it changes nothing but
 * what tt_executor_awaits_neighbour says. */
void tt_stream_table_set_neighbour(tt_stream_table *streams, int64_t rank, bool shares);

#define TT_SPENT_LEVELS 32

/* Where time went. The rest of what a call took went elsewhere: into its check, its record for others, ... */
typedef struct tt_level_spent {
  char name[16];   /* of a level of plans; "own": copies within the rank's memory */
  bool far;        /* with ranks on other machines */
  int64_t move_ns; /* copied, combined, given to the transport and taken from it */
  int64_t wait_ns; /* nothing could be done, until something of this level could */
} tt_level_spent;

typedef struct tt_spent {
  tt_level_spent level[TT_SPENT_LEVELS];
  uint32_t level_count; /* what would be more is left out */
} tt_spent;

/* Runs that start from now on add to `spent`, which is borrowed until the next call of this; NULL: none do. No run may
 * be under way. It changes nothing but how long they take. */
void tt_stream_table_watch(tt_stream_table *streams, tt_spent *spent);

/* What went by one medium. */
typedef struct tt_sent {
  int64_t messages; /* runs of sends up to one that ends a message, of which some bytes went so; or cells, one for all
                       that a run sends in them */
  int64_t bytes;    /* of blocks; what all of several readers find in one place counts once */
  int64_t slots;    /* of streams, those that refer among them; or cells */
  int64_t carried;  /* bytes of slots, with their gaps; not foreseen */
} tt_sent;

/* What this rank has sent over the stream table so far. sent: [TT_MEDIUM_COUNT]. What is lent, and slots, are the
 * transport's own counts: 0 where it has none. */
void tt_stream_table_sent(const tt_stream_table *streams, tt_sent *sent);

/* Where the composition's blocks lie, made at each start without allocation. */
typedef enum tt_table_kind {
  TT_TABLE_SPLIT,  /* `total` cut into block_count parts that differ by at most one element, one after the other; a
                    * buffer that holds only the rank's own block (in_own, out_own) has it at offset 0 */
  TT_TABLE_LISTED, /* block b has count[b] elements at in_offset[b] of in, out_offset[b] of out, mid_offset[b] of mid */
  TT_TABLE_SQUARE  /* block i * p + j: `in` has those with i = rank, block j at in_offset[j], and `out` those with j =
                    * rank, block i at out_offset[i]. Counts: in_count[j], out_count[i], equal where they are one block:
                    * no rank knows others. Counts NULL: all have `each`, at multiples of it. mid has none */
} tt_table_kind;

/* Arrays are borrowed until the run is complete. Only what this rank's plan touches is read, but for `known`. */
typedef struct tt_block_table {
  tt_table_kind kind;
  int64_t block_count;                 /* composition blocks */
  int64_t total;                       /* elements. SPLIT: of all blocks. LISTED: 1 + the last one of mid */
  int64_t each;                        /* SQUARE without counts */
  const int64_t *count;                /* LISTED */
  bool known;                          /* LISTED: every rank has all of count[], and the same in it */
  bool has_all[2];                     /* LISTED: every block is in this rank's in, in its out */
  const int64_t *in_count, *out_count; /* SQUARE: both or none */
  /* Elements from the buffer's beginning; may be negative. Not read by SPLIT, nor by SQUARE without counts. */
  const int64_t *in_offset, *out_offset, *mid_offset;
} tt_block_table;

typedef struct tt_run {
  const void *in;
  void *out;
  bool in_own, out_own; /* SPLIT: the buffer holds only the own block */
  bool wide;            /* acc=f32: sums, products and averages of 16-bit floats are float32 until they are complete */
  bool single_copy;     /* what is sent may be read where it lies, wherever that is: the buffers' owner waits for it */
  int64_t refer_least;  /* single_copy: shorter blocks are not worth that, on all ranks; 0: not known */
  bool moves_only;      /* no rank's plan combines, as all ranks know: elements may be torn on their way */
  tt_block_table blocks;
  tutti_type type;
  tutti_op op;
  int64_t element_bytes;     /* 0: of the type, which is one of types.h; else the type says no more than this */
  const tt_user_op *user_op; /* NULL: op is one of types.h; borrowed */
  uint64_t call, key;        /* for the slot headers; keys of one call agree: tt_key_agrees */
  uint64_t shape;            /* equal and not 0: nothing but buffers and call number differs from the run before */
} tt_run;

/* The shortest block that is lent at all. A rank that takes nothing would wait for late readers: where slots hold the
 * block it goes on, unless the block is one to be read where it lies. */
static inline int64_t tt_run_lends_from(const tt_run *run, const tt_thresholds *thresholds, bool takes) {
  int64_t beyond = thresholds->keep + 1;
  if (takes)
    return 0;
  return run->single_copy && run->refer_least < beyond ? run->refer_least : beyond;
}

/* The low bits of a key: what the moved bytes mean, which has to be equal where both ends say it. */
#define TT_KEY_MEANING UINT64_C(0xffff)
static inline bool tt_key_agrees(uint64_t a, uint64_t b) {
  return a == b || ((a ^ b) <= TT_KEY_MEANING && (!(a & TT_KEY_MEANING) || !(b & TT_KEY_MEANING)));
}

/* What the two executors offer; of instances, in ops.c, engine.c, of direct ones in direct.c. */
typedef struct tt_executor tt_executor;
typedef struct tt_executor_ops {
  void (*destroy)(tt_executor *executor);
  /* Sets everything to the beginning. Allocates only where a larger scratch than ever before is needed. */
  tutti_status (*start)(tt_executor *executor, const tt_run *run);
  /* Does what can be done now. *done: complete, buffers are free. *moved: something was done. TUTTI_ERR_MISMATCH (peer
   * named by job rank in *peer) when a slot of another call arrives. */
  tutti_status (*step)(tt_executor *executor, bool *done, bool *moved, int64_t *peer);
  /* Whether the run waits for a rank that shares this one's core, and so for the core. */
  bool (*awaits_neighbour)(const tt_executor *executor);
  /* Whether it waits for a rank on another machine, to send or to take something. */
  bool (*awaits_far)(const tt_executor *executor);
  /* Before this rank sleeps. one: it needs nothing but this run, so that others than a rank which it lacks need not
   * wake it. */
  void (*prepare_sleep)(const tt_executor *executor, bool one);
  /* Whether all of the run goes in cells: they are not written before the next call. */
  bool (*in_cells)(const tt_executor *executor);
  /* Whether `move` may take it elsewhere: its last run, complete or given up, left nothing in the stream table's
   * keeping. */
  bool (*may_move)(const tt_executor *executor);
  /* From now on it runs on another stream table of the same ranks in the same order; what it has found out about its
   * runs goes with it. The stream table that it was on may be gone. */
  tutti_status (*move)(tt_executor *executor, tt_stream_table *streams);
} tt_executor_ops;

struct tt_executor {
  const tt_executor_ops *ops;
  tt_media went; /* how its run has sent; all of it once that is complete */
};

/* bound: borrowed; its class says which executor it is. TUTTI_ERR_UNSUPPORTED where cells are admitted and the
 * transport has none. */
tutti_status tt_executor_create(const tt_bound_plan *bound, tt_stream_table *streams, tt_executor **executor);
static inline void tt_executor_destroy(tt_executor *executor) { /* accepts NULL */
  if (executor)
    executor->ops->destroy(executor);
}

/* What is known of the run's blocks; equal on all ranks, since it is found from the plan's mark `direct` and
 *     lengths that all ranks know   SPLIT, SQUARE without counts, LISTED and known. CELLS: all together are short
 *     lengths that both ends know   SQUARE with counts, LISTED. ENDS: moves_only
 * Which class a run is bound for changes neither the result nor a bit of it. */
tt_class tt_run_class(const tt_plan *plan, const tt_run *run);

/* ---- before it runs ---- */

typedef struct tt_sent_range {
  tt_sent least, most;
} tt_sent_range;

static inline void tt_sent_add(tt_sent *to, const tt_sent *more) {
  to->messages += more->messages;
  to->bytes += more->bytes;
  to->slots += more->slots;
}

static inline void tt_sent_range_add(tt_sent_range *to, const tt_sent_range *more) {
  tt_sent_add(&to->least, &more->least);
  tt_sent_add(&to->most, &more->most);
}

typedef struct tt_forecast_facts { /* of stream table and machine */
  int64_t slot_bytes;              /* slot_bytes_minimum */
  tt_thresholds thresholds;        /* none is 0 */
  int64_t read_least;              /* bytes from which the system reads another rank's memory; -1: it does not */
  bool shared[2];                  /* in, out: they are memory of the transport's alloc */
} tt_forecast_facts;

/* As that stream table has them; its buffers are not known. */
tt_forecast_facts tt_stream_table_facts(const tt_stream_table *streams);

/* What a run will send. Where other ranks' timing decides, it lies between two numbers. by_lane: [lane_count *
 * TT_MEDIUM_COUNT], lane by lane. */
tutti_status tt_forecast(const tt_bound_plan *bound, const tt_run *run, const tt_forecast_facts *facts,
                         tt_sent_range *by_lane);

/* For tests: every range of the plan's memory that a step reads or writes, in the order of execution. */
typedef struct tt_access {
  int64_t rank;
  uint32_t lane, step; /* of the plan; step within its lane */
  const void *address;
  size_t bytes;
  bool write;
} tt_access;

typedef void (*tt_access_log)(void *user, const tt_access *access);
/* Of one that walks lanes; log NULL: off. */
void tt_executor_log(tt_executor *executor, tt_access_log log, void *user);

#endif
