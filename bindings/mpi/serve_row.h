/* bindings/mpi/serve_row.h - the table of collectives: what each one's sides are, and tutti's functions for it.
 *
 *     tt_mpi_call -> tt_mpi_args   what tutti is given: bases, counts and offsets, in bytes where data is only moved
 *                    tt_mpi_stage  memory that this needs: lists, packed data and how it is moved there and back */
#ifndef TT_MPI_SERVE_ROW_H
#define TT_MPI_SERVE_ROW_H

#include "lists.h"

typedef struct tt_mpi_args {
  tt_mpi_part in, out;
  int64_t count; /* of a block, where all are alike, in elements of `type` */
  int64_t root;
  tutti_type type;
  tutti_op op;
  tutti_comm *comm;
  tutti_graph *graph;
  const char *why; /* the call passes through */
  int error;       /* it is wrong: MPI's class of it; 0: an error of tutti's */
  char text[200];
} tt_mpi_args;

/* WRONG: an argument is, on this rank alone for all that it knows. An MPI would say so; but what it overlooks, it would
 * wait for others for. */
typedef enum tt_mpi_verdict { TT_MPI_SERVED, TT_MPI_PASSED, TT_MPI_WRONG } tt_mpi_verdict;

typedef enum tt_mpi_unit { TT_MPI_NOTHING, TT_MPI_ONE, TT_MPI_RANKS, TT_MPI_SOURCES, TT_MPI_DESTINATIONS } tt_mpi_unit;

typedef enum tt_mpi_form { TT_MPI_BLOCK, TT_MPI_START, TT_MPI_INIT } tt_mpi_form;

/* A side of a collective: blocks of what, and where. */
typedef struct tt_mpi_row_side {
  tt_mpi_unit unit;
  bool listed;   /* tutti is given counts and offsets */
  bool of_root;  /* others have none */
  bool in_place; /* MPI_IN_PLACE may stand for its buffer */
} tt_mpi_row_side;

typedef struct tt_mpi_row {
  tt_mpi_row_side in, out;
  bool reduces, rooted, graph;
  tutti_status (*run)(const tt_mpi_args *args, tt_mpi_form form, tutti_request **request);
} tt_mpi_row;

extern const tt_mpi_row tt_mpi_rows[TT_MPI_COLLECTIVE_COUNT];

#endif
