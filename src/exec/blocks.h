/* exec/blocks.h - where the blocks of a plan lie in one run: block numbers -> byte ranges of a buffer.
 *
 * The composition's blocks come from the run's block table; a uniform table cuts `total` elements into block_count
 * blocks, the first total % block_count of them one element longer. A composition block of c elements is cut into
 * part_count parts at multiples of 64 bytes: with c = w whole units of 64 bytes and a rest, the first w % part_count
 * parts have one unit more, and the last part has the rest too. So parts differ by at most a unit. All of it is a pure
 * function of numbers that every rank knows; divisions happen at start, only a table that is not uniform divides again
 * for each step. */
#ifndef TT_EXEC_BLOCKS_H
#define TT_EXEC_BLOCKS_H

#include "exec/exec.h"

typedef struct tt_cut { /* how a composition block is cut into parts */
  int64_t units;        /* of every part */
  int64_t longer;       /* so many parts have one unit more */
} tt_cut;

typedef struct tt_blocks {
  const int64_t *count, *offset; /* NULL: uniform */
  int64_t base, extra;           /* uniform: blocks of base elements, the first `extra` of base + 1 */
  int64_t part_count, total;
  int element_shift; /* log2 of bytes an element */
  int unit_shift;    /* log2 of elements a unit of 64 bytes */
  tt_cut cut[2];     /* uniform: of a block of base, and of base + 1 elements */
} tt_blocks;

/* What tt_ref says, with the plan block split into composition block and part. */
typedef struct tt_place {
  uint32_t block; /* composition block; cell of tmp */
  uint16_t part;
  uint16_t space; /* tt_space */
} tt_place;

#define TT_PARTS_MOST 65535u

typedef struct tt_span { /* in bytes */
  int64_t block;         /* where the composition block begins, in a buffer that holds all blocks */
  int64_t part;          /* where the part begins, in its block */
  int64_t bytes;         /* of the part */
} tt_span;

/* TUTTI_ERR_ARGUMENT where the table does not fit the plan, TUTTI_ERR_MEMORY where its bytes pass 63 bits. */
tutti_status tt_blocks_init(tt_blocks *blocks, const tt_block_table *table, tutti_type type, const tt_plan *plan);
tt_span tt_blocks_span(const tt_blocks *blocks, tt_place place); /* any space but tmp */
int64_t tt_blocks_total_bytes(const tt_blocks *blocks);
int64_t tt_blocks_longest_block(const tt_blocks *blocks, int64_t block_count); /* bytes */
int64_t tt_blocks_longest_part(const tt_blocks *blocks, int64_t block_count);  /* bytes */
tt_place tt_blocks_place(tt_ref ref, uint32_t part_count);

#endif
