/* bindings/mpi/stage.h - memory for what does not lie as tutti wants it, and the moves there and back. */
#ifndef TT_MPI_STAGE_H
#define TT_MPI_STAGE_H

#include "ops.h"

typedef enum tt_mpi_way {
  TT_MPI_AS_BYTES,  /* one piece */
  TT_MPI_AS_PACKED, /* elements lie packed in the stage */
  TT_MPI_AS_CELLS   /* elements lie in the stage as they do in the program, an extent each */
} tt_mpi_way;

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

/* Memory for lists, which is used again. */
typedef struct tt_mpi_words {
  int64_t *word;
  int64_t count;
} tt_mpi_words;

typedef struct tt_mpi_stage {
  tt_mpi_moves pack, unpack;
  tt_mpi_words *words;     /* for the lists of a blocking call; NULL: memory of the stage's own */
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
int64_t *tt_mpi_stage_lists(tt_mpi_stage *stage, int64_t count);
void tt_mpi_stage_add(tt_mpi_moves *moves, tt_mpi_move move);
void tt_mpi_stage_pack(const tt_mpi_stage *stage);
void tt_mpi_stage_unpack(const tt_mpi_stage *stage);
/* Keeps types and operator alive until it is finished. */
void tt_mpi_stage_hold(tt_mpi_stage *stage);
void tt_mpi_stage_finish(tt_mpi_stage *stage);

#endif
