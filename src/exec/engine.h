/* exec/engine.h - an instance as its files see it: ops.c makes it from a bound plan, instance.c starts it, engine.c and
 * move.c move it.
 *
 * A plan's steps become ops once, with streams and places found beforehand; lanes then walk over ops. All of it
 * is in the instance's arena, so that a start allocates nothing. */
#ifndef TT_EXEC_ENGINE_H
#define TT_EXEC_ENGINE_H

#include "exec/accumulate.h"
#include "exec/arith.h"
#include "exec/memory.h"
#include "exec/stopwatch.h"
#include "exec/stream_table.h"

typedef struct tt_op { /* a step of the list, with what it needs here */
  uint8_t kind;        /* tt_step_kind */
  bool ends_message;   /* SEND: commit after it; receives: the slot is used up after it */
  tt_media media;      /* as bound */
  uint8_t level;       /* of its lane, or TT_OWN_LEVEL */
  uint8_t slots;       /* tt_medium of what is copied into slots */
  uint16_t wait_count;
  uint32_t wait_first; /* of instance->wait */
  tt_use use;
  tt_place length, src, dst;
  tutti_stream *stream;
} tt_op;

typedef struct tt_lane_run {     /* where a lane is */
  const tt_op *op, *end;         /* the current step; op == end: the lane is through */
  unsigned char *src, *dst;      /* of the current step; RECV: src is dst; SEND: dst is NULL */
  int64_t length;                /* bytes of the current step */
  int64_t done, granted;         /* bytes moved; bytes that its waits allow */
  unsigned char *slot;           /* NULL: none. A sender's reserved one, a receiver's peeked one */
  int64_t slot_used, slot_bytes; /* slot_bytes: of a peeked one */
  tutti_slot_header *header;     /* of a reserved one */
  bool remote;                   /* the peeked one's bytes have to be fetched; slot is NULL */
  const tt_op *first;
  uint32_t mark;           /* of the current step's block */
  uint32_t blocks, wanted; /* hash of the marks of all blocks in the slot; wanted: as its sender says */
  bool marked;             /* the current one's mark is in it */
  bool entered;            /* src, dst, length and mark are set */
  bool in_cell;            /* what the step takes is not in its stream */
  bool refers;             /* try to refer in this step */
  tt_media went;           /* how bytes of the message went so far */
} tt_lane_run;

typedef struct tt_wait_on {
  const tt_lane_run *lane;
  const tt_op *op;
  bool whole;
} tt_wait_on;

/* Blocks of some steps that travel beside the streams: the direct executor's, in cells. */
typedef struct tt_beside {
  bool (*has)(void *user, uint32_t step); /* of a send or receive: its block does, in this run */
  /* What came there, NULL where nothing has yet. TUTTI_ERR_MISMATCH, without text: another call's, or another block. */
  tutti_status (*peek)(void *user, uint32_t step, uint32_t mark, const unsigned char **data);
  void *user;
} tt_beside;

typedef struct tt_stream_list {
  tutti_stream **stream;
  uint32_t count;
} tt_stream_list;

typedef struct tt_instance {
  tt_executor executor;
  struct { /* found once */
    tt_stream_table *of;
    const tutti_transport_ops *ops;
    void *transport;
    tt_thresholds thresholds;
    tt_sent *sent; /* its counts */
  } streams;
  const tt_bound_plan *bound;
  const tt_plan *plan; /* its list */
  struct {             /* ops.c makes them of the bound plan */
    tt_op *op;         /* parallel to plan->step */
    tt_wait_on *wait;
    tt_stream_list refer; /* of the sends that the bound plan settles */
    tt_stream_list send;  /* of all that send, where commit alone may not do */
    bool reduces, uses_mid, takes;
    bool lends[2]; /* something of in, of out */
  } steps;
  tt_lane_run *lane;
  uint32_t *active; /* lanes that are not through */
  uint32_t active_count;
  int64_t slot;  /* bytes that a slot may carry, or the plan's slice where that is less; a multiple of 64 */
  int64_t slice; /* of the run: of whole elements, at most `slot` */

  struct { /* as in tt_run */
    uint64_t call, key, shape;
    bool single_copy;
    int64_t lends_from; /* tt_run_lends_from */
    bool referred;      /* something was, in this run */
    bool lending;       /* the transport waits to hear that nobody reads what this run lent */
  } run;
  const tt_beside *beside; /* what this run has there is sent already; NULL: nothing */
  tt_arith arith;
  tt_blocks blocks;
  tt_memory memory;
  tt_accumulate accumulate;
  struct { /* what is fetched to be combined with its destination; made when first needed */
    unsigned char *memory;
    int64_t bytes;
  } aside;

  struct {
    tutti_status status; /* of the run; an error stays */
    int64_t peer;        /* job rank that it names, -1: none */
    char text[256];
  } fault;
  tt_stopwatch stopwatch;
  struct {
    tt_access_log write; /* NULL: off */
    void *user;
  } log;
  tt_arena arena;
} tt_instance;

/* Bytes that a slot carries, where a stream's have `most`; a multiple of 64. No slice of a plan cuts an element. */
static inline int64_t tt_slot_bytes(const tt_plan *plan, int64_t most, int64_t element) {
  int64_t slice = plan->slice_bytes > 0 && plan->slice_bytes < most ? plan->slice_bytes & -(int64_t)64 : most;
  slice = slice < element ? (element + 63) & -(int64_t)64 : slice;
  slice = slice < most ? slice : most;
  return slice < 64 ? 64 : slice & -(int64_t)64;
}

static inline int64_t tt_slice_bytes(int64_t slot, int64_t element) { return slot - slot % element; }

/* Of a lane's step: nothing of the next one goes into its slot. */
static inline bool tt_step_ends_message(const tt_step *step, bool last_of_lane) {
  return (step->flags & TT_STEP_LAST) || last_of_lane || step[1].peer != step->peer;
}

/* What carries what is copied into slots. */
static inline tt_medium tt_media_slots(tt_media media) {
  return media & TT_MEDIA(TT_MEDIUM_MESSAGE)     ? TT_MEDIUM_MESSAGE
         : media & TT_MEDIA(TT_MEDIUM_PUBLISHED) ? TT_MEDIUM_PUBLISHED
                                                 : TT_MEDIUM_SLOT;
}

/* Its peer is on another machine. */
static inline bool tt_op_far(const tt_op *op) { return op->media & TT_MEDIA(TT_MEDIUM_MESSAGE); }

extern const tt_executor_ops tt_instance_ops;
tutti_status tt_instance_create(const tt_bound_plan *bound, tt_stream_table *streams, tt_instance **instance);
void tt_instance_destroy(tt_instance *instance); /* accepts NULL */
tutti_status tt_instance_step(tt_instance *instance, bool *done, bool *moved, int64_t *peer);
bool tt_instance_awaits_neighbour(const tt_instance *instance);
bool tt_instance_awaits_far(const tt_instance *instance);

/* instance.c: nobody reads what its run lent any more, or it was given up. */
void tt_instance_end_lending(tt_instance *instance);
/* A start; `beside` is borrowed until it is complete, NULL: all blocks go through streams. */
tutti_status tt_instance_start(tt_instance *instance, const tt_run *run, const tt_beside *beside);

/* ops.c: fills steps, lane, active and what else depends on the bound plan alone. */
tutti_status tt_ops_make(tt_instance *instance);

/* move.c: moves one piece of the lane's current step, at most to `granted`. *moved = 0: it cannot go on now. */
tutti_status tt_move(tt_instance *instance, tt_lane_run *lane, int64_t *moved);
/* Commits the slot that a sending lane holds, if any. */
tutti_status tt_move_flush(tt_instance *instance, tt_lane_run *lane);
/* TUTTI_ERR_MISMATCH: the peer of the lane's current step `what`. */
tutti_status tt_move_mismatch(tt_instance *instance, const tt_lane_run *lane, const char *what);

#endif
