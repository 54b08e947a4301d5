/* bindings/mpi/neighbors.c - the topology of an MPI communicator as a graph of tutti.
 *
 * All ranks get everyone's edges, once, when the communicator is made; then each makes the graph by itself. A border of
 * a Cartesian grid (MPI_PROC_NULL) has a block in the program's buffers, but no edge. */
#include "neighbors.h"

#include "error.h"
#include "lock.h"

#include <stdlib.h>
#include <string.h>

/* Of which communicator, and what is made. */
typedef struct making {
  MPI_Comm mpi;
  int rank, size, topology;
  tutti_comm *comm;
  tt_mpi_neighbors *made;
} making;

/* This rank's neighbors in MPI's order. */
typedef struct neighbors {
  int in_count, out_count;
  int *sources, *destinations; /* one piece of memory, sources first */
} neighbors;

/* ---- as MPI has them ---- */

static bool allocate(neighbors *own, int in_count, int out_count) {
  own->in_count = in_count;
  own->out_count = out_count;
  own->sources = malloc(((size_t)in_count + (size_t)out_count + 1) * sizeof *own->sources);
  own->destinations = own->sources ? own->sources + in_count : NULL;
  return own->sources != NULL;
}

/* What Open MPI 4.1 makes of a part of a grid by MPI_Comm_create_group says that it is one, but is not whole. */
static bool is_whole(const making *comm, int dimensions) {
  int *lengths = calloc(3 * (size_t)dimensions + 1, sizeof *lengths);
  if (!lengths)
    tt_mpi_out_of_memory();
  PMPI_Cart_get(comm->mpi, dimensions, lengths, lengths + dimensions, lengths + 2 * dimensions);
  int64_t all = 1;
  for (int d = 0; d < dimensions; d++)
    all *= lengths[d];
  free(lengths);
  return all == comm->size;
}

/* In each dimension the one below, the one above. */
static bool ask_grid(const making *comm, neighbors *own) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm->mpi, &dimensions);
  if (!is_whole(comm, dimensions))
    dimensions = 0;
  if (!allocate(own, 2 * dimensions, 2 * dimensions))
    return false;
  for (int d = 0; d < dimensions; d++)
    PMPI_Cart_shift(comm->mpi, d, 1, &own->sources[2 * d], &own->sources[2 * d + 1]);
  memcpy(own->destinations, own->sources, 2 * (size_t)dimensions * sizeof *own->sources);
  return true;
}

static bool ask_graph(const making *comm, neighbors *own) {
  int count = 0;
  PMPI_Graph_neighbors_count(comm->mpi, comm->rank, &count);
  if (!allocate(own, count, count))
    return false;
  PMPI_Graph_neighbors(comm->mpi, comm->rank, count, own->sources);
  memcpy(own->destinations, own->sources, (size_t)count * sizeof *own->sources);
  return true;
}

static bool ask_distributed(const making *comm, neighbors *own) {
  int in_count = 0, out_count = 0, weighted = 0;
  PMPI_Dist_graph_neighbors_count(comm->mpi, &in_count, &out_count, &weighted);
  int *weights = malloc(((size_t)in_count + (size_t)out_count + 1) * sizeof *weights);
  bool fits = weights && allocate(own, in_count, out_count);
  if (fits)
    PMPI_Dist_graph_neighbors(comm->mpi, in_count, own->sources, weights, out_count, own->destinations,
                              weights + in_count);
  free(weights);
  return fits;
}

static bool ask(const making *comm, neighbors *own) {
  return comm->topology == MPI_CART    ? ask_grid(comm, own)
         : comm->topology == MPI_GRAPH ? ask_graph(comm, own)
                                       : ask_distributed(comm, own);
}

/* ---- without borders ---- */

static int keep_edges(int *ranks, int count, int *slot) {
  int kept = 0;
  for (int n = 0; n < count; n++)
    if (ranks[n] != MPI_PROC_NULL) {
      slot[kept] = n;
      ranks[kept++] = ranks[n];
    }
  return kept;
}

/* Returns how many borders there were. */
static int drop_borders(const making *comm, neighbors *own) {
  int *slot = malloc(((size_t)own->in_count + (size_t)own->out_count + 1) * sizeof *slot);
  if (!slot)
    tt_mpi_out_of_memory();
  comm->made->in_slot = slot;
  comm->made->in_count = keep_edges(own->sources, own->in_count, slot);
  comm->made->out_slot = slot + comm->made->in_count;
  comm->made->out_count = keep_edges(own->destinations, own->out_count, slot + comm->made->in_count);
  return own->in_count + own->out_count - comm->made->in_count - comm->made->out_count;
}

/* Where no rank has a border. */
static void drop_slots(const making *comm) {
  free((void *)comm->made->in_slot);
  comm->made->in_slot = comm->made->out_slot = NULL;
}

/* ---- of all ranks ---- */

/* What each rank says first. */
typedef struct head {
  int in_count, out_count, borders;
} head;

typedef struct edges { /* of all ranks */
  head *of;
  int64_t *in_counts, *out_counts;
  int64_t *list; /* rank by rank, sources and destinations */
} edges;

static void *take(int64_t count, size_t size) {
  void *memory = calloc((size_t)count + 1, size);
  if (!memory)
    tt_mpi_out_of_memory();
  return memory;
}

static void gather_heads(const making *comm, int borders, edges *all) {
  const head mine = {comm->made->in_count, comm->made->out_count, borders};
  all->of = take(comm->size, sizeof *all->of);
  all->in_counts = take(comm->size, sizeof(int64_t));
  all->out_counts = take(comm->size, sizeof(int64_t));
  PMPI_Allgather(&mine, 3, MPI_INT, all->of, 3, MPI_INT, comm->mpi);
  for (int r = 0; r < comm->size; r++) {
    all->in_counts[r] = all->of[r].in_count;
    all->out_counts[r] = all->of[r].out_count;
  }
}

static void gather_lists(const making *comm, const neighbors *own, edges *all) {
  int *counts = take(2 * (int64_t)comm->size, sizeof *counts), *offsets = counts + comm->size, total = 0;
  int64_t *mine = take(comm->made->in_count + comm->made->out_count, sizeof *mine);
  for (int n = 0; n < comm->made->in_count; n++)
    mine[n] = own->sources[n];
  for (int n = 0; n < comm->made->out_count; n++)
    mine[comm->made->in_count + n] = own->destinations[n];
  for (int r = 0; r < comm->size; r++) {
    offsets[r] = total;
    counts[r] = all->of[r].in_count + all->of[r].out_count;
    total += counts[r];
  }
  all->list = take(total, sizeof *all->list);
  PMPI_Allgatherv(mine, counts[comm->rank], MPI_INT64_T, all->list, counts, offsets, MPI_INT64_T, comm->mpi);
  free(mine);
  free(counts);
}

static bool any_border(const making *comm, const edges *all) {
  for (int r = 0; r < comm->size; r++)
    if (all->of[r].borders > 0)
      return true;
  return false;
}

/* What Open MPI 4.1 makes of a part of a graph by MPI_Comm_create_group has that graph's edges, to ranks that it lacks.
 */
static bool names_strangers(const making *comm, const edges *all) {
  const int64_t *list = all->list;
  for (int r = 0; r < comm->size; list += all->of[r].in_count + all->of[r].out_count, r++)
    for (int n = 0; n < all->of[r].in_count + all->of[r].out_count; n++)
      if (list[n] < 0 || list[n] >= comm->size)
        return true;
  return false;
}

/* Somebody is twice among a rank's sources. */
static bool any_repeat(const making *comm, const edges *all) {
  int *seen_by = take(comm->size, sizeof *seen_by);
  const int64_t *list = all->list;
  bool found = false;
  for (int r = 0; r < comm->size; list += all->of[r].in_count + all->of[r].out_count, r++)
    for (int n = 0; n < all->of[r].in_count; n++) {
      found |= seen_by[list[n]] == r + 1;
      seen_by[list[n]] = r + 1;
    }
  free(seen_by);
  return found;
}

static void make_graph(const making *comm, const edges *all) {
  if (names_strangers(comm, all)) {
    comm->made->why_not = "edges to ranks that the communicator does not have";
    return;
  }
  comm->made->repeats = any_repeat(comm, all);
  tt_mpi_lock();
  tutti_status status =
      tutti_graph_create_known(comm->comm, all->in_counts, all->out_counts, all->list, &comm->made->graph);
  tt_mpi_unlock();
  if (status != TUTTI_OK && status != TUTTI_ERR_ARGUMENT) /* on this rank alone */
    tt_mpi_give_up(tutti_last_error());
  comm->made->why_not = status == TUTTI_OK ? NULL : "edges that only one of their ranks knows";
}

void tt_mpi_neighbors_make(MPI_Comm mpi, int topology, tutti_comm *comm, tt_mpi_neighbors *made) {
  making of = {.mpi = mpi, .topology = topology, .comm = comm, .made = made};
  neighbors own;
  edges all;
  PMPI_Comm_rank(mpi, &of.rank);
  PMPI_Comm_size(mpi, &of.size);
  if (!ask(&of, &own))
    tt_mpi_out_of_memory();
  gather_heads(&of, drop_borders(&of, &own), &all);
  gather_lists(&of, &own, &all);
  if (!any_border(&of, &all))
    drop_slots(&of);
  make_graph(&of, &all);
  free(own.sources);
  free(all.of);
  free(all.in_counts);
  free(all.out_counts);
  free(all.list);
}

void tt_mpi_neighbors_finish(tt_mpi_neighbors *of) {
  tutti_graph_destroy(of->graph);
  free((void *)of->in_slot);
}
