/* api/collective.c - the public calls: arguments checked, then one path for blocking, non-blocking and persistent.
 *
 * The fast path is meant to stay short: a blocking call that was made before is one look into the communicator's table,
 * one record for the others, and the executor. */
#include "api/api.h"

#include <inttypes.h>

/* ---- arguments ---- */

static tutti_status bad_call(const tt_call *call, const char *argument, int64_t value) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_%s: %s is %" PRId64, tt_compose_info(call->collective).name, argument,
                 value);
}

static int64_t blocks_per_buffer(const tutti_comm *comm, const tt_call *call) {
  return call->collective == TT_ALLGATHER || call->collective == TT_REDUCE_SCATTER ? comm->size : 1;
}

static tutti_status check_sizes(const tutti_comm *comm, const tt_call *call) {
  if (call->count < 0)
    return bad_call(call, "count", call->count);
  if (call->type < 0 || call->type >= TUTTI_TYPE_COUNT)
    return bad_call(call, "type", call->type);
  if (call->op < 0 || call->op >= TUTTI_OP_COUNT)
    return bad_call(call, "op", call->op);
  int64_t size = (int64_t)tutti_type_size((tutti_type)call->type), blocks = blocks_per_buffer(comm, call);
  return call->count <= INT64_MAX / size / blocks / 2 ? TUTTI_OK : bad_call(call, "count", call->count);
}

static tutti_status check_buffers(const tutti_comm *comm, const tt_call *call) {
  bool reads = call->collective != TT_BROADCAST || call->root == comm->rank;
  if (call->count > 0 && reads && !call->in)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_%s: in is NULL and count is %" PRId64,
                   tt_compose_info(call->collective).name, call->count);
  if (call->count > 0 && !call->out)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_%s: out is NULL and count is %" PRId64,
                   tt_compose_info(call->collective).name, call->count);
  return TUTTI_OK;
}

static bool overlap(const char *a, int64_t a_bytes, const char *b, int64_t b_bytes) {
  return a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
}

/* Recognises the in place positions; any other overlap is an error. */
static tutti_status check_overlap(const tutti_comm *comm, tt_call *call) {
  int64_t bytes = call->count * (int64_t)tutti_type_size((tutti_type)call->type), own = comm->rank * bytes;
  int64_t in_bytes = call->collective == TT_REDUCE_SCATTER ? comm->size * bytes : bytes;
  int64_t out_bytes = call->collective == TT_ALLGATHER ? comm->size * bytes : bytes;
  const char *in = call->in, *out = call->out;
  const char *place = call->collective == TT_ALLGATHER        ? out + own
                      : call->collective == TT_REDUCE_SCATTER ? in + own
                                                              : in;
  const char *meets = call->collective == TT_ALLGATHER ? in : out;
  bool reads = call->collective != TT_BROADCAST || call->root == comm->rank;
  call->in_place = reads && in && bytes > 0 && place == meets;
  if (reads && !call->in_place && overlap(in, in_bytes, out, out_bytes))
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_%s: in %p and out %p overlap, and not at the in place position",
                   tt_compose_info(call->collective).name, call->in, call->out);
  return TUTTI_OK;
}

static tutti_status check(tutti_comm *comm, tt_call *call) {
  if (!comm)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_%s: comm is NULL", tt_compose_info(call->collective).name);
  if (comm->broken != TUTTI_OK || tt_agree_poisoned(comm))
    return tt_agree_verdict(comm);
  if (call->root < 0 || call->root >= comm->size)
    return bad_call(call, "root", call->root);
  tutti_status status = check_sizes(comm, call);
  if (status == TUTTI_OK)
    status = check_buffers(comm, call);
  return status == TUTTI_OK ? check_overlap(comm, call) : status;
}

/* ---- the one path ---- */

enum mode { BLOCK, START, INIT };

static tutti_status run(tutti_comm *comm, const tt_call *call, tt_bound *bound) {
  tt_operation operation = {.bound = bound};
  tt_operation_number(comm, bound->key, &operation);
  tutti_status status = tt_operation_start(comm, call, &operation);
  if (status != TUTTI_OK)
    return status;
  if (bound->direct) { /* mostly it is done at once */
    bool done = false, moved = false;
    status = tt_operation_step(comm, &operation, &done, &moved);
    if (status != TUTTI_OK || done)
      return status;
  }
  return tt_operation_finish(comm, &operation);
}

static tutti_status enter(tutti_comm *comm, tt_call call, enum mode mode, tutti_request **request) {
  if (mode == BLOCK && comm && comm->broken == TUTTI_OK && !tt_agree_poisoned(comm) && !comm->queue_head) {
    tt_bound *before = tt_comm_recall(comm, &call);
    if (before)
      return run(comm, &call, before);
  }
  tutti_status status = check(comm, &call);
  if (status != TUTTI_OK)
    return status;
  if (mode != BLOCK && !request)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_%s: request is NULL", tt_compose_info(call.collective).name);
  if (mode != BLOCK)
    return tt_request_post(comm, &call, mode == INIT, request);
  tt_bound *bound;
  status = tt_request_drain(comm);
  if (status == TUTTI_OK)
    status = tt_comm_bind(comm, &call, &bound);
  return status == TUTTI_OK ? run(comm, &call, bound) : status;
}

static tt_call allreduce(const void *in, void *out, int64_t count, tutti_type type, tutti_op op) {
  return (tt_call){in, out, count, 0, TT_ALLREDUCE, (int32_t)type, (int32_t)op, false};
}

static tt_call broadcast(const void *in, void *out, int64_t count, tutti_type type, int64_t root) {
  return (tt_call){in, out, count, root, TT_BROADCAST, (int32_t)type, TUTTI_SUM, false};
}

static tt_call allgather(const void *in, void *out, int64_t count, tutti_type type) {
  return (tt_call){in, out, count, 0, TT_ALLGATHER, (int32_t)type, TUTTI_SUM, false};
}

static tt_call reduce_scatter(const void *in, void *out, int64_t count, tutti_type type, tutti_op op) {
  return (tt_call){in, out, count, 0, TT_REDUCE_SCATTER, (int32_t)type, (int32_t)op, false};
}

static tt_call barrier(tutti_comm *comm) {
  return (tt_call){
      comm ? &comm->token[0] : NULL, comm ? &comm->token[1] : NULL, 1, 0, TT_BARRIER, TUTTI_INT32, TUTTI_SUM, false};
}

/* ---- public ---- */

tutti_status tutti_allreduce(const void *in, void *out, int64_t count, tutti_type type, tutti_op op, tutti_comm *comm) {
  return enter(comm, allreduce(in, out, count, type, op), BLOCK, NULL);
}

tutti_status tutti_broadcast(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                             tutti_comm *comm) {
  return enter(comm, broadcast(in, out, count, type, root), BLOCK, NULL);
}

tutti_status tutti_allgather(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm) {
  return enter(comm, allgather(in, out, count, type), BLOCK, NULL);
}

tutti_status tutti_reduce_scatter(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                  tutti_comm *comm) {
  return enter(comm, reduce_scatter(in, out, count, type, op), BLOCK, NULL);
}

tutti_status tutti_barrier(tutti_comm *comm) { return enter(comm, barrier(comm), BLOCK, NULL); }

tutti_status tutti_allreduce_start(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                   tutti_comm *comm, tutti_request **request) {
  return enter(comm, allreduce(in, out, count, type, op), START, request);
}

tutti_status tutti_broadcast_start(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                   tutti_comm *comm, tutti_request **request) {
  return enter(comm, broadcast(in, out, count, type, root), START, request);
}

tutti_status tutti_allgather_start(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm,
                                   tutti_request **request) {
  return enter(comm, allgather(in, out, count, type), START, request);
}

tutti_status tutti_reduce_scatter_start(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                        tutti_comm *comm, tutti_request **request) {
  return enter(comm, reduce_scatter(in, out, count, type, op), START, request);
}

tutti_status tutti_barrier_start(tutti_comm *comm, tutti_request **request) {
  return enter(comm, barrier(comm), START, request);
}

tutti_status tutti_allreduce_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                  tutti_comm *comm, tutti_request **request) {
  return enter(comm, allreduce(in, out, count, type, op), INIT, request);
}

tutti_status tutti_broadcast_init(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                  tutti_comm *comm, tutti_request **request) {
  return enter(comm, broadcast(in, out, count, type, root), INIT, request);
}

tutti_status tutti_allgather_init(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm,
                                  tutti_request **request) {
  return enter(comm, allgather(in, out, count, type), INIT, request);
}

tutti_status tutti_reduce_scatter_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                       tutti_comm *comm, tutti_request **request) {
  return enter(comm, reduce_scatter(in, out, count, type, op), INIT, request);
}

tutti_status tutti_barrier_init(tutti_comm *comm, tutti_request **request) {
  return enter(comm, barrier(comm), INIT, request);
}
