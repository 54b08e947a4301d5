/* api/collective.c - the public calls: one path for blocking, non-blocking and persistent.
 *
 * The fast path is meant to stay short: a blocking call that was made before is one look into the communicator's table,
 * one record for the others, and the executor. */
#include "call/call.h"

#include <stdio.h>

enum mode { BLOCK, START, INIT };

/* Names the function as the headers do. */
static __attribute__((noinline, cold)) tutti_status refuse_fork(const tutti_comm *comm, tt_collective collective,
                                                                enum mode mode) {
  static const char *const forms[] = {[BLOCK] = "", [START] = "_start", [INIT] = "_init"};
  char name[64];
  snprintf(name, sizeof name, "tutti_%s%s", tt_compose_info(collective).name, forms[mode]);
  for (char *c = name; *c; c++)
    *c = *c == '-' ? '_' : *c;
  return tt_fork_refuse(comm->context, name);
}

static tutti_status enter(tutti_comm *comm, tt_call call, enum mode mode, tutti_request **request) {
  if (comm && tt_context_is_copy(comm->context))
    return refuse_fork(comm, call.collective, mode);
  TT_HOLD(comm ? comm->context : NULL);
  if (mode == BLOCK && comm && comm->agree.broken == TUTTI_OK && !tt_agree_poisoned(comm) && !comm->queue.head) {
    tt_bound *before = call.lists ? tt_listed_recall(comm, &call) : tt_comm_recall(comm, &call);
    if (before)
      return tt_operation_run(comm, &call, before);
  }
  tt_places places;
  tutti_status status = tt_call_check(comm, &call, &places);
  if (status != TUTTI_OK)
    return status;
  if (mode == BLOCK)
    return tt_call_run(comm, &call, &places);
  if (!request)
    return tt_call_fail(tt_compose_info(call.collective).name, "request is NULL");
  return tt_request_post(comm, &call, &places, mode == INIT, request);
}

/* ---- calls from arguments ---- */

static inline tt_call plain(tt_collective collective, const void *in, void *out, int64_t count, tutti_type type,
                            tutti_op op, int64_t root) {
  return (tt_call){.in = in,
                   .out = out,
                   .count = count,
                   .root = root,
                   .collective = collective,
                   .type = (int32_t)type,
                   .op = (int32_t)op};
}

static inline tt_call moved(tt_collective collective, const void *in, void *out, int64_t count, tutti_type type) {
  return plain(collective, in, out, count, type, TUTTI_SUM, 0);
}

static inline tt_call listed(tt_call call, const tt_lists *lists) {
  call.lists = lists;
  return call;
}

static inline tutti_comm *comm_of(const tutti_graph *graph) { return graph ? graph->comm : NULL; }

static inline tt_call barrier(tutti_comm *comm) {
  return moved(TT_BARRIER, comm ? &comm->calls.token[0] : NULL, comm ? &comm->calls.token[1] : NULL, 1, TUTTI_INT32);
}

/* ---- public: each in its three forms ---- */

/* tutti_NAME, tutti_NAME_start and tutti_NAME_init of the parameters that follow. `call` is made of them, for `on`. */
#define FORMS(name, on, call, ...)                                                                                     \
  tutti_status tutti_##name(__VA_ARGS__) { return enter(on, call, BLOCK, NULL); }                                      \
  tutti_status tutti_##name##_start(__VA_ARGS__, tutti_request **request) { return enter(on, call, START, request); }  \
  tutti_status tutti_##name##_init(__VA_ARGS__, tutti_request **request) { return enter(on, call, INIT, request); }

FORMS(allreduce, comm, plain(TT_ALLREDUCE, in, out, count, type, op, 0), const void *in, void *out, int64_t count,
      tutti_type type, tutti_op op, tutti_comm *comm)

FORMS(reduce, comm, plain(TT_REDUCE, in, out, count, type, op, root), const void *in, void *out, int64_t count,
      tutti_type type, tutti_op op, int64_t root, tutti_comm *comm)

FORMS(reduce_scatter, comm, plain(TT_REDUCE_SCATTER, in, out, count, type, op, 0), const void *in, void *out,
      int64_t count, tutti_type type, tutti_op op, tutti_comm *comm)

FORMS(reduce_scatterv, comm,
      listed(plain(TT_REDUCE_SCATTERV, in, out, 0, type, op, 0), &(tt_lists){.side = {{.count = counts}}}),
      const void *in, void *out, const int64_t *counts, tutti_type type, tutti_op op, tutti_comm *comm)

FORMS(scan, comm, plain(TT_SCAN, in, out, count, type, op, 0), const void *in, void *out, int64_t count,
      tutti_type type, tutti_op op, tutti_comm *comm)

FORMS(exscan, comm, plain(TT_EXSCAN, in, out, count, type, op, 0), const void *in, void *out, int64_t count,
      tutti_type type, tutti_op op, tutti_comm *comm)

FORMS(broadcast, comm, plain(TT_BROADCAST, in, out, count, type, TUTTI_SUM, root), const void *in, void *out,
      int64_t count, tutti_type type, int64_t root, tutti_comm *comm)

FORMS(gather, comm, plain(TT_GATHER, in, out, count, type, TUTTI_SUM, root), const void *in, void *out, int64_t count,
      tutti_type type, int64_t root, tutti_comm *comm)

FORMS(gatherv, comm,
      listed(plain(TT_GATHERV, in, out, 0, type, TUTTI_SUM, root),
             &(tt_lists){.side = {{.own = in_count}, {.count = counts, .offset = offsets}}}),
      const void *in, int64_t in_count, void *out, const int64_t *counts, const int64_t *offsets, tutti_type type,
      int64_t root, tutti_comm *comm)

FORMS(scatter, comm, plain(TT_SCATTER, in, out, count, type, TUTTI_SUM, root), const void *in, void *out, int64_t count,
      tutti_type type, int64_t root, tutti_comm *comm)

FORMS(scatterv, comm,
      listed(plain(TT_SCATTERV, in, out, 0, type, TUTTI_SUM, root),
             &(tt_lists){.side = {{.count = counts, .offset = offsets}, {.own = out_count}}}),
      const void *in, const int64_t *counts, const int64_t *offsets, void *out, int64_t out_count, tutti_type type,
      int64_t root, tutti_comm *comm)

FORMS(allgather, comm, moved(TT_ALLGATHER, in, out, count, type), const void *in, void *out, int64_t count,
      tutti_type type, tutti_comm *comm)

FORMS(allgatherv, comm,
      listed(moved(TT_ALLGATHERV, in, out, 0, type), &(tt_lists){.side = {{0}, {.count = counts, .offset = offsets}}}),
      const void *in, void *out, const int64_t *counts, const int64_t *offsets, tutti_type type, tutti_comm *comm)

FORMS(all_to_all, comm, moved(TT_ALL_TO_ALL, in, out, count, type), const void *in, void *out, int64_t count,
      tutti_type type, tutti_comm *comm)

FORMS(all_to_allv, comm,
      listed(moved(TT_ALL_TO_ALLV, in, out, 0, type),
             &(tt_lists){
                 .side = {{.count = in_counts, .offset = in_offsets}, {.count = out_counts, .offset = out_offsets}}}),
      const void *in, const int64_t *in_counts, const int64_t *in_offsets, void *out, const int64_t *out_counts,
      const int64_t *out_offsets, tutti_type type, tutti_comm *comm)

FORMS(all_to_allw, comm,
      listed(moved(TT_ALL_TO_ALLW, in, out, 0, TUTTI_BYTE),
             &(tt_lists){.side = {{.count = in_counts, .offset = in_bytes_offsets, .type = in_types},
                                  {.count = out_counts, .offset = out_bytes_offsets, .type = out_types}}}),
      const void *in, const int64_t *in_counts, const int64_t *in_bytes_offsets, const tutti_type *in_types, void *out,
      const int64_t *out_counts, const int64_t *out_bytes_offsets, const tutti_type *out_types, tutti_comm *comm)

FORMS(barrier, comm, barrier(comm), tutti_comm *comm)

/* ---- along a graph ---- */

FORMS(neighbor_allgather, comm_of(graph),
      listed(moved(TT_NEIGHBOR_ALLGATHER, in, out, count, type), &(tt_lists){.graph = graph}), const void *in,
      void *out, int64_t count, tutti_type type, tutti_graph *graph)

FORMS(neighbor_allgatherv, comm_of(graph),
      listed(moved(TT_NEIGHBOR_ALLGATHERV, in, out, 0, type),
             &(tt_lists){.side = {{.own = in_count}, {.count = counts, .offset = offsets}}, .graph = graph}),
      const void *in, int64_t in_count, void *out, const int64_t *counts, const int64_t *offsets, tutti_type type,
      tutti_graph *graph)

FORMS(neighbor_all_to_all, comm_of(graph),
      listed(moved(TT_NEIGHBOR_ALL_TO_ALL, in, out, count, type), &(tt_lists){.graph = graph}), const void *in,
      void *out, int64_t count, tutti_type type, tutti_graph *graph)

FORMS(neighbor_all_to_allv, comm_of(graph),
      listed(moved(TT_NEIGHBOR_ALL_TO_ALLV, in, out, 0, type),
             &(tt_lists){
                 .side = {{.count = in_counts, .offset = in_offsets}, {.count = out_counts, .offset = out_offsets}},
                 .graph = graph}),
      const void *in, const int64_t *in_counts, const int64_t *in_offsets, void *out, const int64_t *out_counts,
      const int64_t *out_offsets, tutti_type type, tutti_graph *graph)

FORMS(neighbor_all_to_allw, comm_of(graph),
      listed(moved(TT_NEIGHBOR_ALL_TO_ALLW, in, out, 0, TUTTI_BYTE),
             &(tt_lists){.side = {{.count = in_counts, .offset = in_bytes_offsets, .type = in_types},
                                  {.count = out_counts, .offset = out_bytes_offsets, .type = out_types}},
                         .graph = graph}),
      const void *in, const int64_t *in_counts, const int64_t *in_bytes_offsets, const tutti_type *in_types, void *out,
      const int64_t *out_counts, const int64_t *out_bytes_offsets, const tutti_type *out_types, tutti_graph *graph)
