/* bindings/mpi/serve_row.c - the table of collectives: what each one's sides are, and tutti's functions for it. */
#include "serve_row.h"

/* run_NAME: tutti_NAME in its three forms, of arguments that are made from `a`. */
#define FORMS(name, ...)                                                                                               \
  static tutti_status run_##name(const tt_mpi_args *a, tt_mpi_form form, tutti_request **request) {                    \
    switch (form) {                                                                                                    \
    case TT_MPI_BLOCK:                                                                                                 \
      return tutti_##name(__VA_ARGS__);                                                                                \
    case TT_MPI_START:                                                                                                 \
      return tutti_##name##_start(__VA_ARGS__, request);                                                               \
    default:                                                                                                           \
      return tutti_##name##_init(__VA_ARGS__, request);                                                                \
    }                                                                                                                  \
  }

FORMS(allreduce, a->in.base, a->out.base, a->count, a->type, a->op, a->comm)
FORMS(reduce, a->in.base, a->out.base, a->count, a->type, a->op, a->root, a->comm)
FORMS(reduce_scatter, a->in.base, a->out.base, a->count, a->type, a->op, a->comm)
FORMS(reduce_scatterv, a->in.base, a->out.base, a->in.counts, a->type, a->op, a->comm)
FORMS(scan, a->in.base, a->out.base, a->count, a->type, a->op, a->comm)
FORMS(exscan, a->in.base, a->out.base, a->count, a->type, a->op, a->comm)
FORMS(broadcast, a->in.base, a->out.base, a->count, a->type, a->root, a->comm)
FORMS(gather, a->in.base, a->out.base, a->count, a->type, a->root, a->comm)
FORMS(gatherv, a->in.base, a->in.bytes, a->out.base, a->out.counts, a->out.offsets, a->type, a->root, a->comm)
FORMS(scatter, a->in.base, a->out.base, a->count, a->type, a->root, a->comm)
FORMS(scatterv, a->in.base, a->in.counts, a->in.offsets, a->out.base, a->out.bytes, a->type, a->root, a->comm)
FORMS(allgather, a->in.base, a->out.base, a->count, a->type, a->comm)
FORMS(allgatherv, a->in.base, a->out.base, a->out.counts, a->out.offsets, a->type, a->comm)
FORMS(all_to_all, a->in.base, a->out.base, a->count, a->type, a->comm)
FORMS(all_to_allv, a->in.base, a->in.counts, a->in.offsets, a->out.base, a->out.counts, a->out.offsets, a->type,
      a->comm)
FORMS(barrier, a->comm)
FORMS(neighbor_allgatherv, a->in.base, a->in.bytes, a->out.base, a->out.counts, a->out.offsets, a->type, a->graph)
FORMS(neighbor_all_to_allv, a->in.base, a->in.counts, a->in.offsets, a->out.base, a->out.counts, a->out.offsets,
      a->type, a->graph)

#define NOTHING {.unit = TT_MPI_NOTHING}
#define ONE {.unit = TT_MPI_ONE}
#define ONE_OR_IN_PLACE {.unit = TT_MPI_ONE, .in_place = true}
#define ONE_AT_ROOT {.unit = TT_MPI_ONE, .of_root = true}
#define RANKS {.unit = TT_MPI_RANKS}
#define RANKS_OR_IN_PLACE {.unit = TT_MPI_RANKS, .in_place = true}
#define RANKS_AT_ROOT {.unit = TT_MPI_RANKS, .of_root = true}
#define LISTED {.unit = TT_MPI_RANKS, .listed = true}
#define LISTED_OR_IN_PLACE {.unit = TT_MPI_RANKS, .listed = true, .in_place = true}
#define LISTED_AT_ROOT {.unit = TT_MPI_RANKS, .listed = true, .of_root = true}
#define SOURCES {.unit = TT_MPI_SOURCES, .listed = true}
#define DESTINATIONS {.unit = TT_MPI_DESTINATIONS, .listed = true}

/* Neighbors always go with lists: some ranks may have slots in their buffers without an edge, and all must call the
 * same function of tutti. */
const tt_mpi_row tt_mpi_rows[TT_MPI_COLLECTIVE_COUNT] = {
    [TT_MPI_ALLREDUCE] = {ONE_OR_IN_PLACE, ONE, .reduces = true, .run = run_allreduce},
    [TT_MPI_REDUCE] = {ONE_OR_IN_PLACE, ONE_AT_ROOT, .reduces = true, .rooted = true, .run = run_reduce},
    [TT_MPI_REDUCE_SCATTER] = {LISTED_OR_IN_PLACE, ONE, .reduces = true, .run = run_reduce_scatterv},
    [TT_MPI_REDUCE_SCATTER_BLOCK] = {RANKS_OR_IN_PLACE, ONE, .reduces = true, .run = run_reduce_scatter},
    [TT_MPI_SCAN] = {ONE_OR_IN_PLACE, ONE, .reduces = true, .run = run_scan},
    [TT_MPI_EXSCAN] = {ONE_OR_IN_PLACE, ONE, .reduces = true, .run = run_exscan},
    [TT_MPI_BCAST] = {NOTHING, ONE, .rooted = true, .run = run_broadcast},
    [TT_MPI_GATHER] = {ONE_OR_IN_PLACE, RANKS_AT_ROOT, .rooted = true, .run = run_gather},
    [TT_MPI_GATHERV] = {ONE_OR_IN_PLACE, LISTED_AT_ROOT, .rooted = true, .run = run_gatherv},
    [TT_MPI_SCATTER] = {RANKS_AT_ROOT, ONE_OR_IN_PLACE, .rooted = true, .run = run_scatter},
    [TT_MPI_SCATTERV] = {LISTED_AT_ROOT, ONE_OR_IN_PLACE, .rooted = true, .run = run_scatterv},
    [TT_MPI_ALLGATHER] = {ONE_OR_IN_PLACE, RANKS, .run = run_allgather},
    [TT_MPI_ALLGATHERV] = {ONE_OR_IN_PLACE, LISTED, .run = run_allgatherv},
    [TT_MPI_ALLTOALL] = {RANKS_OR_IN_PLACE, RANKS, .run = run_all_to_all},
    [TT_MPI_ALLTOALLV] = {LISTED_OR_IN_PLACE, LISTED, .run = run_all_to_allv},
    [TT_MPI_ALLTOALLW] = {LISTED_OR_IN_PLACE, LISTED, .run = run_all_to_allv},
    [TT_MPI_BARRIER] = {NOTHING, NOTHING, .run = run_barrier},
    [TT_MPI_NEIGHBOR_ALLGATHER] = {ONE, SOURCES, .graph = true, .run = run_neighbor_allgatherv},
    [TT_MPI_NEIGHBOR_ALLGATHERV] = {ONE, SOURCES, .graph = true, .run = run_neighbor_allgatherv},
    [TT_MPI_NEIGHBOR_ALLTOALL] = {DESTINATIONS, SOURCES, .graph = true, .run = run_neighbor_all_to_allv},
    [TT_MPI_NEIGHBOR_ALLTOALLV] = {DESTINATIONS, SOURCES, .graph = true, .run = run_neighbor_all_to_allv},
    [TT_MPI_NEIGHBOR_ALLTOALLW] = {DESTINATIONS, SOURCES, .graph = true, .run = run_neighbor_all_to_allv},
};
