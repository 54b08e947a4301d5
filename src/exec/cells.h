/* exec/cells.h - the shared memory of the direct executor: one cell a rank, written by it, read by all.
 *
 *     cell   | completed | half 0 | half 1 | ... |      half of a call = its sequence number modulo TT_CELL_HALVES
 *     half   | sequence, key, up to 48 bytes of data | more data ... |
 *
 * A rank fills its half, then stores the sequence number; readers wait for that number. A rank may write into a half
 * again when every rank has completed the call that used it: a rank that has begun call n has completed n - 1, and each
 * rank says in `completed` how far it is, for those who do not read it otherwise. */
#ifndef TT_EXEC_CELLS_H
#define TT_EXEC_CELLS_H

#include "exec/exec.h"

#include <stdatomic.h>

#define TT_CELL_HALVES 4
#define TT_CELL_INLINE 48

typedef struct tt_half {
  _Atomic uint64_t sequence; /* release by the writer after all else, acquire by readers */
  uint64_t key;
  unsigned char near[TT_CELL_INLINE]; /* data of short calls: in the line that readers wait for */
  unsigned char far[];                /* of the others */
} tt_half;

typedef struct tt_cells {
  const tt_link_spec *spec;
  uint64_t id;
  unsigned char **cell; /* of each rank */
  size_t half_bytes;    /* from one half to the next */
  int64_t data_bytes;   /* of far */
  uint64_t sequence;    /* direct calls begun by this rank */
  uint64_t *completed;  /* by each rank, as far as this one knows */
  uint64_t settled;     /* every rank has completed this one */
} tt_cells;

tutti_status tt_cells_open(const tt_link_spec *spec, tt_cells **cells); /* spec: borrowed */
void tt_cells_close(tt_cells *cells);                                   /* accepts NULL */
/* Whether this rank may write its half of call `sequence`. */
bool tt_cells_writable(tt_cells *cells, uint64_t sequence);
/* This rank has completed call `sequence`. */
void tt_cells_complete(tt_cells *cells, uint64_t sequence);
/* Wakes the other ranks where they sleep. */
void tt_cells_wake(const tt_cells *cells);

#define TT_CELL_HEAD 128 /* bytes of a cell before its first half: `completed` */

static inline tt_half *tt_cells_half(const tt_cells *cells, int64_t rank, uint64_t sequence) {
  return (tt_half *)(void *)(cells->cell[rank] + TT_CELL_HEAD + sequence % TT_CELL_HALVES * cells->half_bytes);
}

#endif
