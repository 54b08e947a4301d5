/* bindings/mpi/work.h - a call that has been prepared, and is started once or again and again. */
#ifndef TT_MPI_WORK_H
#define TT_MPI_WORK_H

#include "call.h"
#include "comm.h"
#include "stage.h"

/* A call that serve.c has prepared: tutti's request, and memory for what is packed. */
typedef struct tt_mpi_work {
  tutti_request *request;
  tt_mpi_comm *comm;
  tt_mpi_collective collective;
  int64_t bytes; /* for tt_mpi_count_served */
  bool persistent;
  void (*pack)(struct tt_mpi_work *work);   /* before each start; NULL: nothing to do */
  void (*unpack)(struct tt_mpi_work *work); /* after each completion; NULL: nothing to do */
  void *stage;                              /* a tt_mpi_stage */
  tutti_status status;                      /* of the call, when it is complete */
  char *text;                               /* of the error; NULL: none */
  int64_t began_ns;                         /* for the statistics */
  const char *params, *authority, *media;   /* the same: what ran, when it is complete */
  /* ---- queue.c ---- */
  MPI_Request mpi;
  int tag;
  bool running;
  _Atomic bool over; /* tutti's request is complete, and has told its status */
  bool detached;     /* by MPI_Request_free while it ran */
  struct tt_mpi_work *next, *chain;
} tt_mpi_work;

/* The work keeps the stage, and for its life the types and operator. */
tt_mpi_work *tt_mpi_work_create(tt_mpi_comm *comm, tt_mpi_collective collective, const tt_mpi_stage *stage);
/* The text of its error. */
void tt_mpi_work_set_text(tt_mpi_work *work, const char *text);
/* For the statistics, when it is complete. */
void tt_mpi_work_count(const tt_mpi_work *work);
/* With tutti's request and the stage; accepts NULL. Called without tt_mpi_lock. */
void tt_mpi_work_destroy(tt_mpi_work *work);

#endif
