/* bindings/mpi/lists.h - blocks of the program's as tutti gets them. */
#ifndef TT_MPI_LISTS_H
#define TT_MPI_LISTS_H

#include "call.h"
#include "measure.h"
#include "stage.h"

typedef struct tt_mpi_part {
  char *base;
  int64_t bytes;             /* of all blocks */
  int64_t each;              /* of a block, where all are alike */
  int64_t *counts, *offsets; /* in bytes; of reduce_scatter: in elements. offsets NULL: block after block */
  int64_t begin, end;        /* what is used, in bytes from base */
  int64_t own;               /* where this rank's block begins, in bytes from base */
  int64_t own_bytes;
  tutti_type said; /* what the bytes are, as ranks compare it */
} tt_mpi_part;

typedef struct tt_mpi_blocks {
  const tt_mpi_side *side;
  int64_t count;
  const int *slot; /* tutti's block b is the program's block slot[b]; NULL: b */
  int64_t own;     /* this rank's block; -1: has none */
  bool listed;
  bool dense;         /* tutti may use the program's memory */
  tt_mpi_shape shape; /* of the type, where there is one */
  int error;          /* MPI's class of what is wrong, and */
  int64_t wrong;      /* the count that is */
} tt_mpi_blocks;

/* Finds out where they lie; fills in part as if all were dense. lists: 2 * count numbers, where listed. False:
 * something is wrong. */
bool tt_mpi_blocks_measure(tt_mpi_blocks *blocks, int64_t *lists, tt_mpi_part *part);
/* The part lies in the stage instead, block after block. */
void tt_mpi_blocks_stage(const tt_mpi_blocks *blocks, tt_mpi_stage *stage, int which, tt_mpi_part *part);
/* Moves of all blocks, or of block `only` where it is not -1. */
void tt_mpi_blocks_add(const tt_mpi_blocks *blocks, const tt_mpi_part *part, int64_t only, tt_mpi_moves *moves);

#endif
