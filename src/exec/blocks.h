/* exec/blocks.h - where the blocks of a plan lie in one run: block numbers -> byte ranges of a buffer.
 *
 * The composition's blocks come from the run's block table. A table is uniform where its blocks have one length, or two
 * that differ by an element. A composition block is cut into part_count parts at multiples of a unit, the least number
 * of elements that fills lines of 64 bytes: with w whole units and a rest, the first w % part_count parts have one unit
 * more, and the last part has the rest too. So parts differ by at most a unit and no element is cut. All of it is a
 * pure function of numbers that both ends know; divisions happen at start, only a table that is not uniform divides
 * again for each step, and only where blocks have parts. */
#ifndef TT_EXEC_BLOCKS_H
#define TT_EXEC_BLOCKS_H

#include "exec/exec.h"

typedef struct tt_cut { /* how a composition block is cut into parts */
  int64_t units;        /* of every part */
  int64_t longer;       /* so many parts have one unit more */
} tt_cut;

typedef struct tt_blocks {
  tt_table_kind kind;
  bool uniform;
  bool own[2];    /* SPLIT: in, out hold only the own block */
  int unit_shift; /* log2 of the elements of a unit */
  int64_t part_count, rank;
  int64_t element_bytes;
  int64_t base, extra;      /* uniform: blocks of base elements, the first `extra` of base + 1 */
  tt_cut cut[2];            /* uniform: of a block of base, and of base + 1 elements */
  const int64_t *count[2];  /* LISTED: [0]; SQUARE: of in, of out */
  const int64_t *offset[3]; /* of in, out, mid */
  int64_t mid_bytes;
  int64_t longest;   /* bytes of the longest part that may be in tmp */
  int64_t out_bytes; /* of all blocks that this rank gets; uniform: of all there are */
} tt_blocks;

/* What tt_ref says, with the plan block split into composition block and part. */
typedef struct tt_place {
  uint32_t block; /* composition block; cell of tmp */
  uint32_t peer;  /* SQUARE: where it is in arrays by rank */
  uint16_t part;
  uint16_t space; /* tt_space */
} tt_place;

#define TT_PARTS_MOST 65535u
#define TT_PLACE_FOREIGN TT_SPACE_COUNT /* `space` of a length: SQUARE, neither from nor to this rank */

/* TUTTI_ERR_ARGUMENT where the table does not fit the plan, TUTTI_ERR_MEMORY where its bytes pass 63 bits. Where the
 * table is not uniform, tt_blocks_touch has to follow for every step. */
tutti_status tt_blocks_init(tt_blocks *blocks, const tt_run *run, int64_t element_bytes, const tt_plan *plan);
/* Looks at the length of a step that writes to `dst`: checks it, and counts it in longest and out_bytes. */
tutti_status tt_blocks_touch(tt_blocks *blocks, tt_place length, tt_place dst);
int64_t tt_blocks_bytes(const tt_blocks *blocks, tt_place length);
int64_t tt_blocks_offset(const tt_blocks *blocks, tt_place place); /* bytes from its buffer's beginning; not of tmp */
/* Where it begins in a vector of all blocks that the sender has; not of LISTED. */
int64_t tt_blocks_image(const tt_blocks *blocks, tt_place length);
/* Bytes of its composition block before the part. */
int64_t tt_blocks_before(const tt_blocks *blocks, tt_place length);

/* Which block it is and how long: both ends of a move must say the same. */
static inline uint32_t tt_blocks_mark(tt_place length, int64_t bytes) {
  uint64_t mark = ((uint64_t)length.block << 16 | length.part) * 0x9E3779B97F4A7C15u + (uint64_t)bytes + 1;
  return (uint32_t)((mark * 0xFF51AFD7ED558CCDu) >> 32);
}

/* The place of a reference, and the one that tells the length of a plan block. */
tt_place tt_blocks_place(const tt_plan *plan, tt_ref ref);
tt_place tt_blocks_length(const tt_plan *plan, uint32_t block);

#endif
