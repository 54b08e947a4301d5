/* exec/cells.h - the shared memory of the direct executor: one cell a rank, written by it, read by all.
 *
 *     cell   | completed | line 0 | line 1 | ... |      line   | sequence, key, up to 48 bytes of data |
 *     data   | data 0 | data 1 | ... |                  of longer calls; made when the first one comes
 *
 * A call's line and data are those of its sequence number modulo how many there are. A rank writes its data, then the
 * line, the sequence number last; readers wait for that number. A rank may write there again when every rank has
 * completed the call that did: a rank that has begun call n has completed n - 1, and each rank says in `completed` how
 * far it is, for those who do not read it otherwise. Many lines let ranks that share a core run ahead of each other. */
#ifndef TT_EXEC_CELLS_H
#define TT_EXEC_CELLS_H

#include "exec/exec.h"

#include <stdatomic.h>

#define TT_CELL_HEAD 128 /* bytes of a cell before its first line: `completed` */
#define TT_CELL_LINES 16
#define TT_CELL_DATA 4
#define TT_CELL_INLINE 48

typedef struct tt_line {
  _Atomic uint64_t sequence; /* release by the writer after all else, acquire by readers */
  uint64_t key;
  unsigned char near[TT_CELL_INLINE]; /* data of short calls: in the line that readers wait for */
} tt_line;

typedef struct tt_cells {
  const tt_link_spec *spec;
  uint64_t id;
  unsigned char **cell; /* of each rank */
  unsigned char **data; /* of each rank; [0] NULL: not open yet */
  int64_t data_bytes;   /* at most, of a call */
  size_t data_stride;   /* from the data of one call to the next one's */
  uint64_t sequence;    /* direct calls begun by this rank */
  uint64_t *completed;  /* by each rank, as far as this one knows */
  uint64_t settled;     /* every rank has completed this one */
} tt_cells;

tutti_status tt_cells_open(const tt_link_spec *spec, tt_cells **cells); /* spec: borrowed */
void tt_cells_close(tt_cells *cells);                                   /* accepts NULL */
tutti_status tt_cells_open_data(tt_cells *cells);                       /* once or more */
/* Whether this rank may write again what it wrote in call `before` (not after this call, 0 and less: nothing). */
bool tt_cells_writable(tt_cells *cells, int64_t before);
/* Whether a rank that shares this one's core keeps it from doing so. */
bool tt_cells_awaits_neighbour(const tt_cells *cells, int64_t before);
/* This rank has completed call `sequence`. */
void tt_cells_complete(tt_cells *cells, uint64_t sequence);
/* Wakes the other ranks where they sleep. */
void tt_cells_wake(const tt_cells *cells);

static inline tt_line *tt_cells_line(const tt_cells *cells, int64_t rank, uint64_t sequence) {
  return (tt_line *)(void *)(cells->cell[rank] + TT_CELL_HEAD) + sequence % TT_CELL_LINES;
}

static inline unsigned char *tt_cells_data(const tt_cells *cells, int64_t rank, uint64_t sequence) {
  return cells->data[rank] + sequence % TT_CELL_DATA * cells->data_stride;
}

#endif
