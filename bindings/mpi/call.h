/* bindings/mpi/call.h - a collective call as the program made it. */
#ifndef TT_MPI_CALL_H
#define TT_MPI_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* name in MPI, in tutti. The order of statistics and of everything else. */
#define TT_MPI_COLLECTIVES(ROW)                                                                                        \
  ROW(ALLREDUCE, "allreduce")                                                                                          \
  ROW(REDUCE, "reduce")                                                                                                \
  ROW(REDUCE_SCATTER, "reduce_scatter")                                                                                \
  ROW(REDUCE_SCATTER_BLOCK, "reduce_scatter_block")                                                                    \
  ROW(SCAN, "scan")                                                                                                    \
  ROW(EXSCAN, "exscan")                                                                                                \
  ROW(BCAST, "bcast")                                                                                                  \
  ROW(GATHER, "gather")                                                                                                \
  ROW(GATHERV, "gatherv")                                                                                              \
  ROW(SCATTER, "scatter")                                                                                              \
  ROW(SCATTERV, "scatterv")                                                                                            \
  ROW(ALLGATHER, "allgather")                                                                                          \
  ROW(ALLGATHERV, "allgatherv")                                                                                        \
  ROW(ALLTOALL, "alltoall")                                                                                            \
  ROW(ALLTOALLV, "alltoallv")                                                                                          \
  ROW(ALLTOALLW, "alltoallw")                                                                                          \
  ROW(BARRIER, "barrier")                                                                                              \
  ROW(NEIGHBOR_ALLGATHER, "neighbor_allgather")                                                                        \
  ROW(NEIGHBOR_ALLGATHERV, "neighbor_allgatherv")                                                                      \
  ROW(NEIGHBOR_ALLTOALL, "neighbor_alltoall")                                                                          \
  ROW(NEIGHBOR_ALLTOALLV, "neighbor_alltoallv")                                                                        \
  ROW(NEIGHBOR_ALLTOALLW, "neighbor_alltoallw")

typedef enum tt_mpi_collective {
#define TT_MPI_ENUMERATOR(NAME, text) TT_MPI_##NAME,
  TT_MPI_COLLECTIVES(TT_MPI_ENUMERATOR)
#undef TT_MPI_ENUMERATOR
      TT_MPI_COLLECTIVE_COUNT
} tt_mpi_collective;

/* An argument that is an array of int, or of MPI_Count or MPI_Aint (wide). */
typedef struct tt_mpi_list {
  const void *value; /* NULL: not an argument of this call */
  bool wide;
} tt_mpi_list;

static inline int64_t tt_mpi_at(tt_mpi_list list, int64_t n) {
  return list.wide ? ((const int64_t *)list.value)[n] : ((const int *)list.value)[n];
}

/* So many bytes behind `from`, which may be MPI_BOTTOM, or the bytes an absolute address: no sum of pointers in C. */
static inline char *tt_mpi_behind(const void *from, int64_t bytes) {
  return (char *)((uintptr_t)from + (uintptr_t)bytes);
}

/* What a call sends, or what it receives, as the program passed it. */
typedef struct tt_mpi_side {
  const void *buffer;        /* may be MPI_IN_PLACE or MPI_BOTTOM */
  int64_t count;             /* of one block; calls with lists do not use it */
  tt_mpi_list counts;        /* of blocks */
  tt_mpi_list offsets;       /* in extents of the type; in bytes with `types` */
  MPI_Datatype type;         /* calls with one type */
  const MPI_Datatype *types; /* ...w */
} tt_mpi_side;

/* A collective call as the program made it: nothing has been checked. Reductions use out.count (out.counts) and
 * out.type; bcast has its buffer in `out` on all ranks, and nothing in `in`. */
typedef struct tt_mpi_call {
  tt_mpi_collective collective;
  tt_mpi_side in, out;
  MPI_Op op;
  int root;
  MPI_Comm comm;
} tt_mpi_call;

#endif
