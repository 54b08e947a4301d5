/* exec/direct.h - the direct executor as its two files see it: flatten.c makes one list of ops from a plan, direct.c
 * runs it. */
#ifndef TT_EXEC_DIRECT_H
#define TT_EXEC_DIRECT_H

#include "exec/arith.h"
#include "exec/cells.h"
#include "exec/link.h"
#include "exec/memory.h"

typedef struct tt_direct_op { /* anything but a send */
  int32_t peer;               /* -1: a copy */
  tt_use use;
  tt_place block, src, dst;
  int64_t bytes, src_at, dst_at, data_at; /* of the shape: length, offsets in buffers and in the peer's image */
} tt_direct_op;

typedef struct tt_direct_range { /* of the input that is published */
  int64_t begin, bytes;
} tt_direct_range;

struct tt_direct {
  tt_cells *cells;
  tt_direct_op *op;
  uint32_t op_count, position; /* position: op that is next */
  tt_direct_range *range;
  uint32_t range_count;
  bool publishes, published; /* by the plan; in this run */
  bool near;                 /* data are in the lines that readers wait for */
  bool reads_all;            /* takes something from every other rank */
  uint64_t sequence, key;
  int polls; /* for one rank's data, before a step returns */
  tt_memory memory;
  tt_blocks blocks;
  tt_arith arith;
  tt_run shape; /* of the last run: type, operator and blocks that offsets stand for */

  const tt_plan *plan;
  tt_place *sent; /* places that the plan sends, each once */
  uint32_t sent_count;
  bool reduces, uses_mid;
  tutti_status status; /* of the run; an error stays */
  int64_t bad_peer;
  tt_arena arena;
};

/* flatten.c: fills op, sent and what else depends on the plan alone. TUTTI_ERR_PLAN where a rank sends what it did not
 * have at the start. */
tutti_status tt_flatten(tt_direct *direct);

#endif
