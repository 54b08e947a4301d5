/* tests/mpi/conform/blocks.c - what each collective does, block by block, from MPI's definitions; see call.h. */
#include "call.h"

/* name, in, out, only the root has in, out, reduces, lists of counts, of types, in place */
const collective_row collective_rows[COLLECTIVE_COUNT] = {
    [ALLREDUCE] = {"allreduce", UNIT_ONE, UNIT_ONE, 0, 0, 1, 0, 0, IN_PLACE_SAME},
    [REDUCE] = {"reduce", UNIT_ONE, UNIT_ONE, 0, 1, 1, 0, 0, IN_PLACE_SAME},
    [REDUCE_SCATTER] = {"reduce_scatter", UNIT_RANKS, UNIT_ONE, 0, 0, 1, 1, 0, IN_PLACE_HEAD},
    [REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", UNIT_RANKS, UNIT_ONE, 0, 0, 1, 0, 0, IN_PLACE_HEAD},
    [SCAN] = {"scan", UNIT_ONE, UNIT_ONE, 0, 0, 1, 0, 0, IN_PLACE_SAME},
    [EXSCAN] = {"exscan", UNIT_ONE, UNIT_ONE, 0, 0, 1, 0, 0, IN_PLACE_SAME},
    [BCAST] = {"bcast", UNIT_ONE, UNIT_ONE, 1, 0, 0, 0, 0, IN_PLACE_SAME},
    [GATHER] = {"gather", UNIT_ONE, UNIT_RANKS, 0, 1, 0, 0, 0, IN_PLACE_OWN},
    [GATHERV] = {"gatherv", UNIT_ONE, UNIT_RANKS, 0, 1, 0, 1, 0, IN_PLACE_OWN},
    [SCATTER] = {"scatter", UNIT_RANKS, UNIT_ONE, 1, 0, 0, 0, 0, IN_PLACE_KEPT},
    [SCATTERV] = {"scatterv", UNIT_RANKS, UNIT_ONE, 1, 0, 0, 1, 0, IN_PLACE_KEPT},
    [ALLGATHER] = {"allgather", UNIT_ONE, UNIT_RANKS, 0, 0, 0, 0, 0, IN_PLACE_OWN},
    [ALLGATHERV] = {"allgatherv", UNIT_ONE, UNIT_RANKS, 0, 0, 0, 1, 0, IN_PLACE_OWN},
    [ALLTOALL] = {"alltoall", UNIT_RANKS, UNIT_RANKS, 0, 0, 0, 0, 0, IN_PLACE_SAME},
    [ALLTOALLV] = {"alltoallv", UNIT_RANKS, UNIT_RANKS, 0, 0, 0, 1, 0, IN_PLACE_SAME},
    [ALLTOALLW] = {"alltoallw", UNIT_RANKS, UNIT_RANKS, 0, 0, 0, 1, 1, IN_PLACE_SAME},
    [BARRIER] = {"barrier", UNIT_NONE, UNIT_NONE, 0, 0, 0, 0, 0, IN_PLACE_NEVER},
    [NEIGHBOR_ALLGATHER] = {"neighbor_allgather", UNIT_ONE, UNIT_SOURCES, 0, 0, 0, 0, 0, IN_PLACE_NEVER},
    [NEIGHBOR_ALLGATHERV] = {"neighbor_allgatherv", UNIT_ONE, UNIT_SOURCES, 0, 0, 0, 1, 0, IN_PLACE_NEVER},
    [NEIGHBOR_ALLTOALL] = {"neighbor_alltoall", UNIT_TARGETS, UNIT_SOURCES, 0, 0, 0, 0, 0, IN_PLACE_NEVER},
    [NEIGHBOR_ALLTOALLV] = {"neighbor_alltoallv", UNIT_TARGETS, UNIT_SOURCES, 0, 0, 0, 1, 0, IN_PLACE_NEVER},
    [NEIGHBOR_ALLTOALLW] = {"neighbor_alltoallw", UNIT_TARGETS, UNIT_SOURCES, 0, 0, 0, 1, 1, IN_PLACE_NEVER},
};

int block_count(const test_case *of, bool in) {
  const collective_row *row = &collective_rows[of->collective];
  if ((in ? row->in_root : row->out_root) && of->comm->rank != of->root)
    return 0;
  switch (in ? row->in : row->out) {
  case UNIT_ONE:
    return 1;
  case UNIT_RANKS:
    return of->comm->size;
  case UNIT_SOURCES:
    return of->comm->sources.count;
  case UNIT_TARGETS:
    return of->comm->targets.count;
  default:
    return 0;
  }
}

/* Units of block `index` of that rank's inputs. All-to-all in place needs as many one way as the other. */
static int64_t count_of(const test_case *of, int rank, int64_t index) {
  uint64_t low = (uint64_t)rank, high = (uint64_t)index;
  if (!collective_rows[of->collective].lists)
    return of->count;
  if (of->in_place && high < low) {
    low = (uint64_t)index;
    high = (uint64_t)rank;
  }
  return of->count * (int64_t)(mixed(of->number, low * 64 + high) % 4) / 2;
}

static block copy_of(const test_case *of, int rank, int64_t index) {
  return (block){CONTENT_COPY, rank, rank, index, count_of(of, rank, index), LAYOUT_PLAIN};
}

static block joined_of(const test_case *of, int first, int last, int64_t index) {
  return (block){
      last < first ? CONTENT_KEPT : CONTENT_JOINED, first, last, index, count_of(of, 0, index), LAYOUT_PLAIN};
}

static block edge_of(const test_case *of, int rank, int64_t index) {
  if (rank == MPI_PROC_NULL)
    return (block){CONTENT_KEPT, 0, 0, 0, of->count, LAYOUT_PLAIN};
  return copy_of(of, rank, index);
}

static block in_block(const test_case *of, int k) {
  const collective_row *row = &collective_rows[of->collective];
  if (row->reduces || row->in_root) /* counts do not depend on the rank */
    return (block){CONTENT_COPY, of->comm->rank, of->comm->rank, k, count_of(of, 0, k), LAYOUT_PLAIN};
  return copy_of(of, of->comm->rank, k);
}

static block out_block(const test_case *of, int k) {
  int rank = of->comm->rank, last = of->comm->size - 1;
  const edges *sources = &of->comm->sources;
  switch (of->collective) {
  case SCAN:
    return joined_of(of, 0, rank, 0);
  case EXSCAN:
    return joined_of(of, 0, rank - 1, 0);
  case REDUCE_SCATTER:
  case REDUCE_SCATTER_BLOCK:
    return joined_of(of, 0, last, rank);
  case BCAST:
    return (block){CONTENT_COPY, of->root, of->root, 0, of->count, LAYOUT_PLAIN};
  case SCATTER:
  case SCATTERV:
    return (block){CONTENT_COPY, of->root, of->root, rank, count_of(of, 0, rank), LAYOUT_PLAIN};
  case GATHER:
  case GATHERV:
  case ALLGATHER:
  case ALLGATHERV:
    return copy_of(of, k, 0);
  case ALLTOALL:
  case ALLTOALLV:
  case ALLTOALLW:
    return copy_of(of, k, rank);
  case NEIGHBOR_ALLGATHER:
  case NEIGHBOR_ALLGATHERV:
    return edge_of(of, sources->rank[k], 0);
  case NEIGHBOR_ALLTOALL:
  case NEIGHBOR_ALLTOALLV:
  case NEIGHBOR_ALLTOALLW:
    return edge_of(of, sources->rank[k], sources->index[k]);
  default:
    return joined_of(of, 0, last, 0);
  }
}

block block_of(const test_case *of, bool in, int k) {
  const collective_row *row = &collective_rows[of->collective];
  block made = in ? in_block(of, k) : out_block(of, k);
  bool as_sent = in || (of->collective == BCAST && of->comm->rank == of->root);
  made.kind = as_sent ? of->in_layout : of->out_layout;
  if (row->types) { /* each block another one, of this rank's own choice */
    uint64_t own = mixed(of->number, (uint64_t)(2 * (64 * of->comm->rank + k) + in));
    bool both = of->in_place && in; /* what is sent lies where what comes will */
    made.kind = both ? block_of(of, false, k).kind : (layout_kind)(own % LAYOUT_COUNT);
  }
  return made;
}
