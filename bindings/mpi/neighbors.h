/* bindings/mpi/neighbors.h - the topology of an MPI communicator as a graph of tutti. */
#ifndef TT_MPI_NEIGHBORS_H
#define TT_MPI_NEIGHBORS_H

#include <tutti/tutti.h>

#include <mpi.h>
#include <stdbool.h>

typedef struct tt_mpi_neighbors {
  tutti_graph *graph;            /* NULL: neighborhood calls pass through */
  const char *why_not;           /* they do, else NULL; a text of static storage */
  int in_count, out_count;       /* edges of the graph; of blocks in MPI's buffers there may be more (MPI_PROC_NULL) */
  const int *in_slot, *out_slot; /* the block in MPI's buffers of each edge. NULL on all ranks: block n is edge n's */
  bool repeats; /* somewhere a rank is a neighbor twice. MPIs differ in which of several blocks becomes which, between
                   their own functions even: what is not an allgather passes through */
} tt_mpi_neighbors;

/* Of that communicator with a topology (MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH), which is tutti's `comm`. Collective: all
 * its ranks are in the call that made it. */
void tt_mpi_neighbors_make(MPI_Comm mpi, int topology, tutti_comm *comm, tt_mpi_neighbors *made);
void tt_mpi_neighbors_finish(tt_mpi_neighbors *of); /* under tt_mpi_lock */

#endif
