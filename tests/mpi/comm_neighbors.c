/* tests/mpi/comm_neighbors.c - neighborhood calls on grids and graphs give the same as MPI's own (PMPI_).
 *
 * Every block of the result is set to a value of its own first, so that what must be left as it is (borders of grids)
 * is seen too. */
#include "comm_check.h"

#include <string.h>

enum { WIDEST = 64, LENGTH = 3 };

static int world_rank, world_size;

/* Neighbors as the program's buffers have them. */
static void count_neighbors(MPI_Comm comm, int *in_count, int *out_count) {
  int topology, dimensions, weighted, rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    MPI_Cartdim_get(comm, &dimensions);
    *in_count = *out_count = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, rank, in_count);
    *out_count = *in_count;
  } else {
    MPI_Dist_graph_neighbors_count(comm, in_count, out_count, &weighted);
  }
}

/* ---- one call of each kind, by tutti (0) and by MPI (1) ---- */

typedef struct buffers {
  int in[WIDEST * LENGTH], out[2][WIDEST * LENGTH];
  int counts[WIDEST], offsets[WIDEST];
  MPI_Aint bytes[WIDEST];
  MPI_Datatype types[WIDEST];
} buffers;

static void fill(buffers *data, MPI_Comm comm) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  for (int n = 0; n < WIDEST * LENGTH; n++) {
    data->in[n] = rank * 1000 + n;
    data->out[0][n] = data->out[1][n] = -n - 1;
  }
  for (int n = 0; n < WIDEST; n++) {
    data->counts[n] = LENGTH;
    data->offsets[n] = n * LENGTH;
    data->bytes[n] = n * LENGTH * (MPI_Aint)sizeof(int);
    data->types[n] = MPI_INT;
  }
}

static void compare(const buffers *data, const char *topology, const char *call) {
  char what[100];
  snprintf(what, sizeof what, "%s on %s", call, topology);
  for (int n = 0; n < WIDEST * LENGTH; n++)
    check(data->out[0][n] == data->out[1][n], what, data->out[0][n]);
}

/* even: everywhere as many sources as destinations. Elsewhere MPICH 4.0 reads types beyond the end of their array, and
 * the same call without types says what is right. */
static void check_blocking(MPI_Comm comm, const char *topology, bool even) {
  buffers data, *d = &data;
  fill(d, comm);
  MPI_Neighbor_allgather(d->in, LENGTH, MPI_INT, d->out[0], LENGTH, MPI_INT, comm);
  PMPI_Neighbor_allgather(d->in, LENGTH, MPI_INT, d->out[1], LENGTH, MPI_INT, comm);
  compare(d, topology, "allgather");
  fill(d, comm);
  MPI_Neighbor_allgatherv(d->in, LENGTH, MPI_INT, d->out[0], d->counts, d->offsets, MPI_INT, comm);
  PMPI_Neighbor_allgatherv(d->in, LENGTH, MPI_INT, d->out[1], d->counts, d->offsets, MPI_INT, comm);
  compare(d, topology, "allgatherv");
  fill(d, comm);
  MPI_Neighbor_alltoall(d->in, LENGTH, MPI_INT, d->out[0], LENGTH, MPI_INT, comm);
  PMPI_Neighbor_alltoall(d->in, LENGTH, MPI_INT, d->out[1], LENGTH, MPI_INT, comm);
  compare(d, topology, "alltoall");
  fill(d, comm);
  MPI_Neighbor_alltoallv(d->in, d->counts, d->offsets, MPI_INT, d->out[0], d->counts, d->offsets, MPI_INT, comm);
  PMPI_Neighbor_alltoallv(d->in, d->counts, d->offsets, MPI_INT, d->out[1], d->counts, d->offsets, MPI_INT, comm);
  compare(d, topology, "alltoallv");
  fill(d, comm);
  MPI_Neighbor_alltoallw(d->in, d->counts, d->bytes, d->types, d->out[0], d->counts, d->bytes, d->types, comm);
  if (even)
    PMPI_Neighbor_alltoallw(d->in, d->counts, d->bytes, d->types, d->out[1], d->counts, d->bytes, d->types, comm);
  else
    PMPI_Neighbor_alltoallv(d->in, d->counts, d->offsets, MPI_INT, d->out[1], d->counts, d->offsets, MPI_INT, comm);
  compare(d, topology, "alltoallw");
}

static void check_nonblocking(MPI_Comm comm, const char *topology) {
  buffers data, *d = &data;
  MPI_Request request[2];
  fill(d, comm);
  MPI_Ineighbor_alltoall(d->in, LENGTH, MPI_INT, d->out[0], LENGTH, MPI_INT, comm, &request[0]);
  PMPI_Ineighbor_alltoall(d->in, LENGTH, MPI_INT, d->out[1], LENGTH, MPI_INT, comm, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  compare(d, topology, "ialltoall");
  fill(d, comm);
  MPI_Ineighbor_allgatherv(d->in, LENGTH, MPI_INT, d->out[0], d->counts, d->offsets, MPI_INT, comm, &request[0]);
  PMPI_Ineighbor_allgatherv(d->in, LENGTH, MPI_INT, d->out[1], d->counts, d->offsets, MPI_INT, comm, &request[1]);
  MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  compare(d, topology, "iallgatherv");
}

static void check_neighbors(MPI_Comm comm, const char *topology, bool even) {
  int in_count, out_count;
  if (comm == MPI_COMM_NULL)
    return;
  count_neighbors(comm, &in_count, &out_count);
  if (in_count <= WIDEST && out_count <= WIDEST) {
    check_blocking(comm, topology, even);
    check_nonblocking(comm, topology);
  }
  check_calls(comm, topology);
}

/* ---- topologies ---- */

/* All numbers of dimensions and ways to be periodic; grids of one and two ranks are among them. */
static void test_grids(void) {
  for (int dimensions = 1; dimensions <= 3; dimensions++)
    for (int periodic = 0; periodic < 1 << dimensions; periodic++) {
      int size[3] = {0}, wraps[3];
      char topology[32];
      MPI_Comm grid, same;
      MPI_Dims_create(world_size, dimensions, size);
      for (int d = 0; d < dimensions; d++)
        wraps[d] = periodic >> d & 1;
      snprintf(topology, sizeof topology, "grid %dx%dx%d/%d", size[0], size[1], size[2], periodic);
      MPI_Cart_create(MPI_COMM_WORLD, dimensions, size, wraps, periodic % 2, &grid);
      check_neighbors(grid, topology, true);
      MPI_Comm_dup(grid, &same);
      MPI_Comm_free(&grid);
      check_neighbors(same, "dup of a grid", true);
      MPI_Comm_free(&same);
    }
}

/* Rank r has the r % 3 ranks after it as destinations; some have none. */
static void test_uneven(void) {
  int sources[2], destinations[2], in_count = 0, out_count = 0;
  for (int step = 1; step <= 2; step++) {
    int from = (world_rank + 2 * world_size - step) % world_size, to = (world_rank + step) % world_size;
    if (from % 3 >= step)
      sources[in_count++] = from;
    if (world_rank % 3 >= step)
      destinations[out_count++] = to;
  }
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_count, sources, MPI_UNWEIGHTED, out_count, destinations,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  check_neighbors(graph, "uneven graph", false);
  MPI_Comm_free(&graph);
}

/* Everyone with everyone, itself included. */
static void test_full(void) {
  int *index = malloc((size_t)world_size * sizeof *index);
  int *edges = malloc((size_t)world_size * (size_t)world_size * sizeof *edges);
  for (int r = 0; r < world_size; r++) {
    index[r] = world_size * (r + 1);
    for (int n = 0; n < world_size; n++)
      edges[r * world_size + n] = (r + n) % world_size;
  }
  MPI_Comm graph;
  MPI_Graph_create(MPI_COMM_WORLD, world_size, index, edges, 0, &graph);
  check_neighbors(graph, "full graph", true);
  MPI_Comm_free(&graph);
  free(index);
  free(edges);
}

/* Several edges to the same rank. */
static void test_repeats(void) {
  int last = (world_rank + world_size - 1) % world_size, next = (world_rank + 1) % world_size;
  MPI_Comm graph;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 3, (int[]){last, last, last}, MPI_UNWEIGHTED, 3,
                                 (int[]){next, next, next}, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  check_neighbors(graph, "graph with repeats", true);
  MPI_Comm_free(&graph);
}

static void test_idup(void) {
  int size[1] = {world_size}, wraps[1] = {1};
  MPI_Comm grid, same;
  MPI_Request request;
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, wraps, 0, &grid);
  MPI_Comm_idup(grid, &same, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_neighbors(same, "idup of a grid", true);
  MPI_Comm_free(&same);
  MPI_Comm_free(&grid);
}

/* Open MPI 5.0 takes it for a grid, so there is no call of its own to compare with; nor may one pass through. */
static void check_ring(MPI_Comm ring, const char *what) {
  int all = 0, last = -1;
  MPI_Neighbor_allgather(&world_rank, 1, MPI_INT, &last, 1, MPI_INT, ring);
  check(last == (world_rank + world_size - 1) % world_size, what, last);
  MPI_Allreduce(&(int){1}, &all, 1, MPI_INT, MPI_SUM, ring);
  check(all == world_size, what, all);
}

static void test_graph_over_grid(void) {
  int last = (world_rank + world_size - 1) % world_size, next = (world_rank + 1) % world_size;
  MPI_Comm grid, ring, same, later, part;
  MPI_Group all;
  MPI_Request request;
  if (world_size == 1)
    return;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &world_size, &(int){1}, 0, &grid);
  MPI_Dist_graph_create_adjacent(grid, 1, &last, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
  check_ring(ring, "graph over a grid");
  MPI_Comm_dup(ring, &same);
  check_ring(same, "dup of a graph over a grid");
  MPI_Comm_idup(same, &later, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_group(later, &all);
  MPI_Comm_create_group(later, all, 4, &part);
  check_calls(part, "group of a graph over a grid");
  MPI_Group_free(&all);
  MPI_Comm_free(&part);
  MPI_Comm_free(&later);
  MPI_Comm_free(&same);
  MPI_Comm_free(&ring);
  MPI_Comm_free(&grid);
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  test_grids();
  test_uneven();
  test_full();
  test_repeats();
  test_idup();
  test_graph_over_grid();
  return check_finish();
}
