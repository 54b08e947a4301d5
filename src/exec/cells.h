/* exec/cells.h - the shared memory of the direct executor: one cell a rank, written by it, read by all.
 *
 *     cell   | completed | line | line | ... |          line   | sequence, key, up to 112 bytes of data |
 *     lines  | line | line | ... |                      of all calls after the first ones; made when they come
 *     area   | data 0 | data 1 | ... |                  of longer calls; made when the first one comes
 *
 * A cell has lines for the first calls only, one for each, since many communicators see no more than those. Then lines
 * are taken in turn. Where the stream table is for one request alone, there are never more than the first ones. There
 * are several areas: many data of few bytes, few that are long. A call's data are those of its sequence number modulo
 * how many there are. A rank writes its data, then the line, the sequence number last; readers wait for that number. A
 * rank may write there again when those ranks that read it have completed the call that did: a rank that has begun call
 * n has completed n - 1, and each rank says in `completed` how far it is, for those who do not read it otherwise. Many
 * lines let ranks that share a core run ahead of each other. Sets of ranks are bits of words.
 *
 * Where ranks are many, one that needs all of them says in `awaits` which one it lacks, and is not woken by the others:
 * else each would be woken by each. */
#ifndef TT_EXEC_CELLS_H
#define TT_EXEC_CELLS_H

#include "exec/exec.h"

#include <assert.h>
#include <stdatomic.h>

#define TT_CELL_HEAD 128  /* bytes of a cell before its first line: `completed`, `awaits` */
#define TT_CELL_AWAITS 64 /* where in it */
#define TT_CELL_FIRST 4   /* calls whose lines are in the cell; a power of two */
#define TT_CELL_LINES 56  /* with the first ones, a rank runs ahead by so many calls: fewer than it keeps records of */
#define TT_CELL_INLINE 112
#define TT_CELL_AREAS 3

typedef struct tt_line {
  _Atomic uint64_t sequence; /* release by the writer after all else, acquire by readers */
  uint64_t key;
  unsigned char near[TT_CELL_INLINE]; /* data of short calls: in the line that readers wait for, and the next one, which
                                         comes with it */
} tt_line;

typedef struct tt_cell_use { /* of a line, or of a call's data: by this rank */
  uint64_t sequence;         /* of the call that wrote it last; 0: none */
  uint64_t *readers;         /* set of the ranks that read it */
} tt_cell_use;

typedef struct tt_area {
  uint64_t id;
  unsigned char **base; /* of each rank; [0] NULL: not open yet */
  int64_t bytes;        /* at most, of a call */
  size_t stride;        /* from the data of one call to the next one's */
  uint32_t count;       /* a power of two */
  tt_cell_use *use;     /* of each; NULL: not open yet */
} tt_area;

typedef struct tt_cells {
  const tt_stream_table_spec *spec;
  uint64_t id;
  unsigned char **cell;         /* of each rank */
  unsigned char **line;         /* the same: where its lines are, those of the first calls or the others */
  uint32_t line_count, line_at; /* how many there are; the current call's */
  tt_area area[TT_CELL_AREAS];  /* the last one's data are the longest */
  uint64_t sequence;            /* direct calls begun by this rank */
  uint64_t *completed;          /* by each rank, as far as this one knows */
  uint64_t awaits;              /* what this rank says */
  uint64_t settled;             /* every rank has completed this one */
  size_t set_words;             /* of a set of ranks */
  tt_cell_use *line_use;        /* of each line */
} tt_cells;

tutti_status tt_cells_open(const tt_stream_table_spec *spec, tt_cells **cells); /* spec: borrowed */
void tt_cells_close(tt_cells *cells);                                           /* accepts NULL */
tutti_status tt_cells_open_area(tt_cells *cells, tt_area *area);                /* once or more */
/* The next call begins: cells->sequence and its line. */
tutti_status tt_cells_begin(tt_cells *cells);
/* Whether this rank may write there: nobody reads any more what the use before left. */
bool tt_cells_writable(tt_cells *cells, const tt_cell_use *use);
/* Whether one of those ranks keeps it from doing so. */
bool tt_cells_awaits(const tt_cells *cells, const tt_cell_use *use, const bool *neighbour);
/* This rank has written there in the current call, for `readers`. */
void tt_cells_used(tt_cells *cells, tt_cell_use *use, const uint64_t *readers);
/* This rank has completed call `sequence`. */
void tt_cells_complete(tt_cells *cells, uint64_t sequence);
/* One of those ranks that keep this one from writing there; -1: none is known. */
int64_t tt_cells_awaited(tt_cells *cells, const tt_cell_use *use);
/* Before this rank sleeps: from now on only that one wakes it; -1: each one. */
void tt_cells_prepare_sleep(tt_cells *cells, int64_t rank);
/* Wakes those ranks where they sleep, and await this one. */
void tt_cells_wake(const tt_cells *cells, const uint64_t *ranks);

/* Of the current call. */
static inline tt_line *tt_cells_line(const tt_cells *cells, int64_t rank) {
  assert(rank >= 0 && rank < cells->spec->rank_count && cells->line_at < cells->line_count);
  return (tt_line *)(void *)cells->line[rank] + cells->line_at;
}

/* Which of the area's data the call has. */
static inline size_t tt_cells_turn(const tt_area *area, uint64_t sequence) { return sequence & (area->count - 1); }

static inline unsigned char *tt_cells_data(const tt_area *area, int64_t rank, uint64_t sequence) {
  return area->base[rank] + tt_cells_turn(area, sequence) * area->stride;
}

static inline bool tt_cells_has(const uint64_t *set, int64_t rank) { return set[rank / 64] >> (rank % 64) & 1; }

static inline void tt_cells_add(uint64_t *set, int64_t rank) { set[rank / 64] |= (uint64_t)1 << (rank % 64); }

#endif
