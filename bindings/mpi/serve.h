/* bindings/mpi/serve.h - what serve.c, types.c, ops.c, lists.c and stage.c share: a call on its way to tutti.
 *
 *     tt_mpi_call -> tt_mpi_args   what tutti is given: bases, counts and offsets, in bytes where data is only moved
 *                    tt_mpi_stage  memory that this needs: lists, packed data and how it is moved there and back
 */
#ifndef TT_MPI_SERVE_H
#define TT_MPI_SERVE_H

#include "interpose.h"
#include "signature.h"

/* ---- types.c ---- */

typedef struct tt_mpi_shape {
  int64_t size;   /* bytes of data */
  int64_t extent; /* from one element to the next */
  int64_t bound;  /* the lower bound */
  int64_t lower;  /* where the first byte of data lies */
  bool within;    /* all data lies between the bounds, which are apart */
  bool whole;     /* the data of an element is one piece, in the order in which MPI sends it */
  bool dense;     /* so is that of several */
  tt_mpi_signature signature;
} tt_mpi_shape;

/* false: not committed or none at all. Predefined types cost one look-up; what is found out of others is kept with them
 * and freed with them. */
bool tt_mpi_shape_of(MPI_Datatype type, tt_mpi_shape *shape);

/* What tutti's operators ask of a type; bits. */
typedef enum tt_mpi_family {
  TT_MPI_INTEGER = 1,
  TT_MPI_FLOAT = 2,
  TT_MPI_COMPLEX = 4,
  TT_MPI_LOGICAL = 8,
  TT_MPI_BITS = 16,
  TT_MPI_PAIR = 32
} tt_mpi_family;

typedef struct tt_mpi_type {
  MPI_Datatype type;
  tt_mpi_shape shape;
  tutti_type element; /* TUTTI_TYPE_COUNT: tutti has none like it */
  int family;         /* 0: no operator of tutti's combines it as MPI does */
  tutti_type said;    /* of its bytes where they are moved; TUTTI_TYPE_COUNT: depends on the count */
  uint32_t taken;     /* ops.c: by which of MPI's operators; 0: not asked yet */
} tt_mpi_type;

/* ---- types_whole.c ---- */

/* What MPI says of it; `whole` where the range is as long as the data. `dense` is left false, the signature empty. */
bool tt_mpi_type_measure(MPI_Datatype type, tt_mpi_shape *shape);
/* Of one that was measured so: whether it really is. */
bool tt_mpi_type_is_whole(MPI_Datatype type);

/* ---- types.c ---- */

/* NULL: not predefined. */
const tt_mpi_type *tt_mpi_type_find(MPI_Datatype type);
/* Something that keeps a type alive which the program may free; MPI_DATATYPE_NULL for predefined ones. */
MPI_Datatype tt_mpi_type_hold(MPI_Datatype type);

/* ---- ops.c ---- */

typedef struct tt_mpi_applied tt_mpi_applied;

/* Whether this MPI combines elements of that predefined type with that operator of its own. */
bool tt_mpi_op_takes(MPI_Op op, MPI_Datatype type);

typedef struct tt_mpi_reduction {
  tutti_op op;
  tutti_type element;
  int64_t bytes;           /* of an element */
  int64_t lower;           /* where elements begin: not before the lower bound of the type */
  bool cells;              /* elements have gaps that must keep what they hold in the result */
  tt_mpi_applied *applied; /* by MPI_Reduce_local; NULL: by tutti */
} tt_mpi_reduction;

/* The operator and element type with which tutti does a reduction of MPI's type and op. False: it cannot, *why says why
 * (static storage): equal on all ranks; NULL: MPI does not take them. Operators of the program's own are applied by
 * MPI_Reduce_local, which knows how to call them, in C and Fortran. */
bool tt_mpi_reduction_find(MPI_Op op, MPI_Datatype type, tt_mpi_reduction *reduction, const char **why);
/* Between these the operator stays, even if the program frees it. What keeps its type: tt_mpi_type_hold. */
MPI_Datatype tt_mpi_applied_hold(tt_mpi_applied *applied);
void tt_mpi_applied_release(tt_mpi_applied *applied); /* accepts NULL */
/* The type is no more. */
void tt_mpi_applied_forget(MPI_Datatype type);

/* ---- stage.c ---- */

typedef enum tt_mpi_way {
  TT_MPI_AS_BYTES,  /* one piece */
  TT_MPI_AS_PACKED, /* elements lie packed in the stage */
  TT_MPI_AS_CELLS   /* elements lie in the stage as they do in the program, an extent each */
} tt_mpi_way;

/* So many bytes behind `from`, which may be MPI_BOTTOM, or the bytes an absolute address: no sum of pointers in C. */
static inline char *tt_mpi_behind(const void *from, int64_t bytes) {
  return (char *)((uintptr_t)from + (uintptr_t)bytes);
}

/* Data of the program's that has a place in the stage. */
typedef struct tt_mpi_move {
  char *program; /* as MPI would be given it */
  char *staged;
  int64_t count; /* elements; bytes of TT_MPI_AS_BYTES */
  MPI_Datatype type;
  tt_mpi_way way;
} tt_mpi_move;

typedef struct tt_mpi_moves {
  tt_mpi_move *move;
  int64_t count, room;
} tt_mpi_moves;

typedef struct tt_mpi_stage {
  tt_mpi_moves pack, unpack;
  void *memory[3];         /* TT_MPI_STAGE_... */
  tt_mpi_applied *applied; /* what the call applies */
  bool used;               /* has memory: else there is nothing to do with it */
  bool holds;              /* types and operator are kept alive */
  MPI_Datatype *held;
  int64_t held_count;
} tt_mpi_stage;

enum { TT_MPI_STAGE_IN, TT_MPI_STAGE_OUT, TT_MPI_STAGE_LISTS };

/* Memory of the stage's own, 64-byte aligned. */
void *tt_mpi_stage_memory(tt_mpi_stage *stage, int which, int64_t bytes);
void tt_mpi_stage_add(tt_mpi_moves *moves, tt_mpi_move move);
void tt_mpi_stage_pack(const tt_mpi_stage *stage);
void tt_mpi_stage_unpack(const tt_mpi_stage *stage);
void tt_mpi_stage_finish(tt_mpi_stage *stage);
/* The work keeps the stage, and for its life the types and operator. */
tt_mpi_work *tt_mpi_work_create(tt_mpi_comm *comm, tt_mpi_collective collective, const tt_mpi_stage *stage);

/* ---- what tutti is given ---- */

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

/* ---- serve_row.c ---- */

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

/* ---- serve_reduce.c, serve_move.c: from a call to args and stage ---- */

tt_mpi_verdict tt_mpi_prepare_reduction(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_args *args,
                                        tt_mpi_stage *stage);
tt_mpi_verdict tt_mpi_prepare_move(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_args *args,
                                   tt_mpi_stage *stage);

/* ---- lists.c: blocks of the program's as tutti gets them ---- */

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
