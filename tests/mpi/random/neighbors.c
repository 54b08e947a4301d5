/* tests/mpi/random/neighbors.c - collectives between neighbors, in grids and in a graph of random edges. */
#include "random.h"

#define NEIGHBORHOODS 3

static MPI_Comm neighborhoods[NEIGHBORHOODS];

/* This rank's: MPI_PROC_NULL where a grid ends. */
typedef struct neighbors {
  int in_count, out_count, in[MOST_BLOCKS], out[MOST_BLOCKS];
  bool grid;
} neighbors;

/* ---- topologies ---- */

static MPI_Comm make_graph(void) {
  int in[MOST_BLOCKS] = {0}, out[MOST_BLOCKS] = {0}, in_count = 0, out_count = 0;
  MPI_Comm made;
  for (int i = 0; i < size; i++)
    for (int j = 0; j < size; j++) {
      bool edge = pick(&common, 2);
      if (edge && i == rank)
        out[out_count++] = j;
      if (edge && j == rank)
        in[in_count++] = i;
    }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_count, in, MPI_UNWEIGHTED, out_count, out, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &made);
  return made;
}

void make_neighborhoods(void) {
  int sizes[2] = {0, 0};
  MPI_Dims_create(size, 2, sizes);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, (int[]){0, 0}, 0, &neighborhoods[0]);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &neighborhoods[1]);
  neighborhoods[2] = make_graph();
}

static neighbors ask(void) {
  neighbors found = {.grid = false};
  int topology, weights[2][MOST_BLOCKS];
  MPI_Topo_test(comm, &topology);
  found.grid = topology == MPI_CART;
  if (found.grid) {
    int dimensions;
    MPI_Cartdim_get(comm, &dimensions);
    found.in_count = found.out_count = 2 * dimensions;
    for (int d = 0; d < dimensions; d++)
      MPI_Cart_shift(comm, d, 1, &found.in[2 * d], &found.in[2 * d + 1]);
    memcpy(found.out, found.in, sizeof found.out);
  } else {
    MPI_Dist_graph_neighbors_count(comm, &found.in_count, &found.out_count, &topology);
    MPI_Dist_graph_neighbors(comm, found.in_count, found.in, weights[0], found.out_count, found.out, weights[1]);
  }
  return found;
}

/* ---- trials ---- */

typedef enum collective { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, COLLECTIVES } collective;

typedef struct side {
  layout layout;
  blocks blocks;
  MPI_Aint bytes[MOST_BLOCKS];
  buffer buffer;
} side;

static side make_side(const element *of, int unit, int count, int neighbor_count) {
  side made = {.layout = make_layout(of, unit, &own), .buffer = make_buffer(of, &own)};
  for (int n = 0; n < neighbor_count; n++)
    made.blocks.count[n] = count;
  place_blocks(&made.blocks, neighbor_count, &made.layout, &own);
  for (int n = 0; n < neighbor_count; n++)
    made.bytes[n] = made.blocks.at[n] * made.layout.extent;
  return made;
}

static void end_side(side *of, const char *what) {
  compare(what, &of->buffer);
  free_buffer(&of->buffer);
  free_layout(&of->layout);
}

/* From MPI_BOTTOM: by types, or by displacements that are addresses. */
static void see(const view *as, side *s, MPI_Aint bytes[], MPI_Datatype types[]) {
  MPI_Aint address = 0;
  bool by_type = as->made && pick(&own, 2);
  if (as->made && !by_type)
    MPI_Get_address(s->buffer.mine, &address);
  for (int n = 0; n < MOST_BLOCKS; n++) {
    bytes[n] = s->bytes[n] + address;
    types[n] = by_type ? as->type : s->layout.type;
  }
}

static void call_alltoallw(side *in, side *out, const view *from, const view *to) {
  MPI_Aint in_bytes[MOST_BLOCKS], out_bytes[MOST_BLOCKS];
  MPI_Datatype in_types[MOST_BLOCKS], out_types[MOST_BLOCKS];
  see(from, in, in_bytes, in_types);
  see(to, out, out_bytes, out_types);
  CALL(Neighbor_alltoallw, Ineighbor_alltoallw, from->at, in->blocks.count, in_bytes, in_types, to->at,
       out->blocks.count, out_bytes, out_types, comm);
}

static void call(collective which, side *in, side *out, int count) {
  view from_view = make_view(in->buffer.mine, in->layout.type, &own);
  view to_view = make_view(out->buffer.mine, out->layout.type, &own);
  const void *from = from_view.at;
  void *to = to_view.at;
  const blocks *sent = &in->blocks, *received = &out->blocks;
  MPI_Datatype in_type = from_view.type, out_type = to_view.type;
  switch (which) {
  case ALLGATHER:
    CALL(Neighbor_allgather, Ineighbor_allgather, from, count, in_type, to, count, out_type, comm);
    break;
  case ALLGATHERV:
    CALL(Neighbor_allgatherv, Ineighbor_allgatherv, from, count, in_type, to, received->count, received->at, out_type,
         comm);
    break;
  case ALLTOALL:
    CALL(Neighbor_alltoall, Ineighbor_alltoall, from, count, in_type, to, count, out_type, comm);
    break;
  case ALLTOALLV:
    CALL(Neighbor_alltoallv, Ineighbor_alltoallv, from, sent->count, sent->at, in_type, to, received->count,
         received->at, out_type, comm);
    break;
  default:
    call_alltoallw(in, out, &from_view, &to_view);
  }
  free_view(&from_view);
  free_view(&to_view);
}

static void mean(collective which, const neighbors *of, side *in, side *out, int count) {
  bool alike = which == ALLGATHER || which == ALLTOALL, gathers = which == ALLGATHER || which == ALLGATHERV;
  for (int n = 0; n < of->in_count; n++) {
    int64_t at = alike ? n * count * out->layout.extent : out->bytes[n];
    receive_from(of->in[n], out->buffer.theirs + at, count, out->layout.type);
  }
  for (int n = 0; n < of->out_count; n++) {
    int64_t at = gathers ? 0 : alike ? n * count * in->layout.extent : in->bytes[n];
    send_to(of->out[n], in->buffer.theirs + at, count, in->layout.type);
  }
  end_messages();
}

void try_neighbors(void) {
  comm = neighborhoods[pick(&common, NEIGHBORHOODS)];
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  neighbors of = ask();
  collective which = (collective)pick(&common, COLLECTIVES);
  const element *element = &elements[pick(&common, element_count)];
  int unit = 1 + pick(&common, 4), count = pick(&common, 12);
  side in = make_side(element, unit, count, of.out_count), out = make_side(element, unit, count, of.in_count);
  call(which, &in, &out, count);
  mean(which, &of, &in, &out, count);
  if (of.grid && size < 3 && which >= ALLTOALL) /* a neighbor twice: MPIs differ in which block is which */
    forget(&out.buffer, -(out.buffer.theirs - out.buffer.memory[1]));
  end_side(&in, "in");
  end_side(&out, "out");
}
