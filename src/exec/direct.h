/* exec/direct.h - the direct executor as its files see it: flatten.c makes sends and ops from a bound plan's lists,
 * layout.c finds where each block of a run travels, direct.c runs it. */
#ifndef TT_EXEC_DIRECT_H
#define TT_EXEC_DIRECT_H

#include "exec/arith.h"
#include "exec/cells.h"
#include "exec/engine.h"
#include "exec/shares.h"

typedef struct tt_direct_op { /* a step that is no send */
  uint32_t step;
  int32_t peer;  /* -1: a copy */
  uint8_t level; /* of its lane, or TT_OWN_LEVEL */
  tt_use use;
  tt_place length, src, dst;
} tt_direct_op;

typedef struct tt_direct_send {
  uint32_t step;
  int32_t peer; /* -1: all readers of the lane, at reader[first_reader] of the plan */
  uint32_t first_reader, reader_count;
  tt_place length, src;
} tt_direct_send;

typedef struct tt_direct_piece { /* of the input, published in a run */
  int64_t from, bytes;
  uint32_t mark; /* tt_blocks_mark */
  tt_direct_spot to;
} tt_direct_piece;

typedef struct tt_direct_take { /* an op in a run */
  int32_t peer;
  uint8_t src_space, dst_space, level;
  bool combines; /* by the kernel of `arith`, and that is all */
  tt_use use;
  uint32_t mark;                 /* tt_blocks_mark */
  int64_t bytes, src_at, dst_at; /* offsets in buffers */
  size_t count;                  /* of elements */
  tt_direct_spot data;
} tt_direct_take;

typedef struct tt_direct {
  tt_executor executor;
  tt_cells *cells;
  tt_sent *sent; /* the stream table's count of what goes in cells */
  struct {       /* of the run that is under way */
    uint64_t sequence, key;
    uint32_t position; /* of the take that is next */
    bool completed;    /* others' cells are not read any more */
    bool published;    /* all that it publishes */
    bool taken;        /* by `instance`, where it does that: all of this run */
  } now;
  int polls; /* for one rank's data, before a step returns */

  struct { /* layout.c: what depends on type, operator and block lengths */
    tt_direct_take *take;
    tt_direct_piece *piece;
    uint32_t take_count, piece_count;
    int64_t piece_bytes;  /* of all pieces */
    uint32_t released;    /* so many takes are done before others' cells are read no more */
    tt_area *area;        /* for what travels in data */
    bool far, writes_far; /* something travels there; is published there */
    bool reads_all;       /* takes something from every other rank */
    bool owes;            /* `owed` is not empty */
    bool rests;           /* some blocks go through streams: `instance` does the steps, there are no takes */
    tt_direct_spot *spot; /* of each step with a peer and some bytes */
    uint64_t *readers, *sources, *owed; /* sets: who reads this rank, whom it reads, and whom nothing but its completion
                                         * would wake */
    int64_t *image;                     /* LISTED: where each block lies in the image; made when first needed */
    tt_run run;                         /* as it was when the shape was made */
    bool made;
  } shape;
  tt_memory memory;
  tt_blocks blocks;
  tt_arith arith;

  const tt_bound_plan *bound;
  const tt_plan *plan; /* its list */
  tt_stream_table *streams;
  struct {                /* flatten.c makes them of the bound plan */
    tt_direct_op *op;     /* in its order */
    tt_direct_send *send; /* in the order of places */
    uint32_t op_count, send_count;
    uint32_t *op_by_place; /* numbers of the ops that take, in the order of places */
    uint32_t op_by_place_count;
    bool reduces, uses_mid;
    uint8_t send_level; /* of what is published */
  } steps;
  tt_stopwatch stopwatch;

  tt_instance *instance; /* for runs in which some blocks go through streams; made when first needed */
  tt_beside beside;      /* what it asks of this one */
  struct {
    tutti_status status; /* of the run; an error stays */
    int64_t peer;        /* job rank that it names */
  } fault;
  tt_arena arena;
} tt_direct;

/* flatten.c: fills steps and what else depends on the bound plan alone. */
tutti_status tt_flatten(tt_direct *direct);
/* layout.c: the shape of a run, unless the run before had the same. */
tutti_status tt_layout(tt_direct *direct, const tt_run *run);

#endif
