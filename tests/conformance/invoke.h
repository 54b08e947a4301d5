/* tests/conformance/invoke.h - the public function of a call, in its three forms. */
#ifndef TEST_CONFORMANCE_INVOKE_H
#define TEST_CONFORMANCE_INVOKE_H

#include "conformance/definition.h"

/* What a rank passes. */
typedef struct call_arguments {
  const void *in;
  void *out;
  int64_t count, in_count, out_count;
  const int64_t *in_counts, *in_offsets, *out_counts, *out_offsets; /* offsets: bytes where there are types */
  const tutti_type *in_types, *out_types;
  tutti_type type;
  tutti_op op;
  int64_t root;
  tutti_comm *comm;
  tutti_graph *graph;
} call_arguments;

#define CALL_FORMS(name, ...)                                                                                          \
  return mode == CALL_BLOCK   ? tutti_##name(__VA_ARGS__)                                                              \
         : mode == CALL_START ? tutti_##name##_start(__VA_ARGS__, request)                                             \
                              : tutti_##name##_init(__VA_ARGS__, request)

static inline tutti_status call_invoke(tt_collective collective, call_mode mode, const call_arguments *a,
                                       tutti_request **request) {
  switch (collective) {
  case TT_ALLREDUCE:
    CALL_FORMS(allreduce, a->in, a->out, a->count, a->type, a->op, a->comm);
  case TT_BROADCAST:
    CALL_FORMS(broadcast, a->in, a->out, a->count, a->type, a->root, a->comm);
  case TT_ALLGATHER:
    CALL_FORMS(allgather, a->in, a->out, a->count, a->type, a->comm);
  case TT_REDUCE_SCATTER:
    CALL_FORMS(reduce_scatter, a->in, a->out, a->count, a->type, a->op, a->comm);
  case TT_REDUCE:
    CALL_FORMS(reduce, a->in, a->out, a->count, a->type, a->op, a->root, a->comm);
  case TT_GATHER:
    CALL_FORMS(gather, a->in, a->out, a->count, a->type, a->root, a->comm);
  case TT_SCATTER:
    CALL_FORMS(scatter, a->in, a->out, a->count, a->type, a->root, a->comm);
  case TT_ALL_TO_ALL:
    CALL_FORMS(all_to_all, a->in, a->out, a->count, a->type, a->comm);
  case TT_SCAN:
    CALL_FORMS(scan, a->in, a->out, a->count, a->type, a->op, a->comm);
  case TT_EXSCAN:
    CALL_FORMS(exscan, a->in, a->out, a->count, a->type, a->op, a->comm);
  case TT_ALLGATHERV:
    CALL_FORMS(allgatherv, a->in, a->out, a->out_counts, a->out_offsets, a->type, a->comm);
  case TT_REDUCE_SCATTERV:
    CALL_FORMS(reduce_scatterv, a->in, a->out, a->in_counts, a->type, a->op, a->comm);
  case TT_GATHERV:
    CALL_FORMS(gatherv, a->in, a->in_count, a->out, a->out_counts, a->out_offsets, a->type, a->root, a->comm);
  case TT_SCATTERV:
    CALL_FORMS(scatterv, a->in, a->in_counts, a->in_offsets, a->out, a->out_count, a->type, a->root, a->comm);
  case TT_ALL_TO_ALLV:
    CALL_FORMS(all_to_allv, a->in, a->in_counts, a->in_offsets, a->out, a->out_counts, a->out_offsets, a->type,
               a->comm);
  case TT_ALL_TO_ALLW:
    CALL_FORMS(all_to_allw, a->in, a->in_counts, a->in_offsets, a->in_types, a->out, a->out_counts, a->out_offsets,
               a->out_types, a->comm);
  case TT_NEIGHBOR_ALLGATHER:
    CALL_FORMS(neighbor_allgather, a->in, a->out, a->count, a->type, a->graph);
  case TT_NEIGHBOR_ALLGATHERV:
    CALL_FORMS(neighbor_allgatherv, a->in, a->in_count, a->out, a->out_counts, a->out_offsets, a->type, a->graph);
  case TT_NEIGHBOR_ALL_TO_ALL:
    CALL_FORMS(neighbor_all_to_all, a->in, a->out, a->count, a->type, a->graph);
  case TT_NEIGHBOR_ALL_TO_ALLV:
    CALL_FORMS(neighbor_all_to_allv, a->in, a->in_counts, a->in_offsets, a->out, a->out_counts, a->out_offsets, a->type,
               a->graph);
  case TT_NEIGHBOR_ALL_TO_ALLW:
    CALL_FORMS(neighbor_all_to_allw, a->in, a->in_counts, a->in_offsets, a->in_types, a->out, a->out_counts,
               a->out_offsets, a->out_types, a->graph);
  default:
    CALL_FORMS(barrier, a->comm);
  }
}

#endif
