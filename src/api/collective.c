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

static inline bool may_go_at_once(const tutti_comm *comm) {
  return comm->agree.broken == TUTTI_OK && !tt_agree_poisoned(comm) && !comm->queue.head;
}

static inline tutti_status make(tutti_comm *comm, tt_call *call, enum mode mode, tutti_request **request) {
  if (mode == BLOCK && comm && may_go_at_once(comm)) {
    tt_bound *before = tt_recall(comm, call);
    if (before)
      return tt_operation_run(comm, call, before);
  }
  tt_places places;
  tutti_status status = tt_call_check(comm, call, &places);
  if (status != TUTTI_OK)
    return status;
  if (mode == BLOCK)
    return tt_call_run(comm, call, &places);
  if (!request)
    return tt_call_fail(tt_compose_info(call->collective).name, "request is NULL");
  return tt_request_post(comm, call, &places, mode == INIT, request);
}

/* Where there is a thread that moves requests on. */
static __attribute__((noinline)) tutti_status hold_and_make(tutti_comm *comm, tt_call *call, enum mode mode,
                                                            tutti_request **request) {
  TT_HOLD(comm->context);
  return make(comm, call, mode, request);
}

/* Others have the context while this call waits: what they call may be what the other ranks make first. */
static __attribute__((noinline)) tutti_status hold_and_wait(tutti_comm *comm, tt_call *call) {
  tutti_request *made = NULL;
  TT_HOLD(comm->context);
  tt_progress_begin_wait(held);
  tutti_status status = make(comm, call, START, &made);
  if (status == TUTTI_OK)
    status = tt_request_finish(&made, 0, held);
  tt_progress_end_wait(held);
  return status;
}

static tutti_status enter(tutti_comm *comm, tt_call *call, enum mode mode, tutti_request **request) {
  if (comm && tt_context_is_copy(comm->context))
    return refuse_fork(comm, call->collective, mode);
  if (comm && comm->context->progress)
    return mode == BLOCK ? hold_and_wait(comm, call) : hold_and_make(comm, call, mode, request);
  return make(comm, call, mode, request);
}

/* ---- calls from arguments: each as a parameter, its name, and where it goes ---- */

#define DECLARE(name) DECLARE_##name
#define DECLARE_in const void *in
#define DECLARE_out void *out
#define DECLARE_count int64_t count
#define DECLARE_in_count int64_t in_count
#define DECLARE_out_count int64_t out_count
#define DECLARE_in_counts const int64_t *in_counts
#define DECLARE_out_counts const int64_t *out_counts
#define DECLARE_in_offsets const int64_t *in_offsets
#define DECLARE_out_offsets const int64_t *out_offsets
#define DECLARE_in_types const tutti_type *in_types
#define DECLARE_out_types const tutti_type *out_types
#define DECLARE_type tutti_type type
#define DECLARE_op tutti_op op
#define DECLARE_root int64_t root
#define DECLARE_comm tutti_comm *comm
#define DECLARE_graph tutti_graph *graph

#define NAME(name) name

#define PUT(name) PUT_##name
#define PUT_in call.in = in
#define PUT_out call.out = out
#define PUT_count call.count = count
#define PUT_in_count PUT_LIST(TT_IN, own, in_count)
#define PUT_out_count PUT_LIST(TT_OUT, own, out_count)
#define PUT_in_counts PUT_LIST(TT_IN, count, in_counts)
#define PUT_out_counts PUT_LIST(TT_OUT, count, out_counts)
#define PUT_in_offsets PUT_LIST(TT_IN, offset, in_offsets)
#define PUT_out_offsets PUT_LIST(TT_OUT, offset, out_offsets)
#define PUT_in_types PUT_LIST(TT_IN, type, in_types)
#define PUT_out_types PUT_LIST(TT_OUT, type, out_types)
#define PUT_type call.type = (int32_t)type
#define PUT_op call.op = (int32_t)op
#define PUT_root call.root = root
#define PUT_comm on = comm
#define PUT_graph call.lists = &lists, lists.graph = graph, on = graph ? graph->comm : NULL
#define PUT_LIST(buffer, member, value) call.lists = &lists, lists.side[buffer].member = value

/* What a barrier combines: a token of the communicator's own. */
static inline void take_token(tutti_comm *comm, tt_call *call) {
  call->in = comm ? &comm->calls.token[0] : NULL;
  call->out = comm ? &comm->calls.token[1] : NULL;
  call->count = 1;
  call->type = TUTTI_INT32;
}

/* ---- public: each in its three forms ---- */

#define TT_COLLECTIVE(id, function, name, kind, lengths, in_side, out_side, operands, arguments)                       \
  static inline tutti_status enter_##function(enum mode mode, tutti_request **request, arguments(DECLARE)) {           \
    tutti_comm *on;                                                                                                    \
    tt_lists lists = {.graph = NULL};                                                                                  \
    tt_call call = {.collective = TT_##id, .type = TUTTI_BYTE, .op = TUTTI_SUM};                                       \
    (void)lists;                                                                                                       \
    (void)(arguments(PUT));                                                                                            \
    if (TT_##id == TT_BARRIER)                                                                                         \
      take_token(on, &call);                                                                                           \
    return enter(on, &call, mode, request);                                                                            \
  }                                                                                                                    \
  tutti_status tutti_##function(arguments(DECLARE)) { return enter_##function(BLOCK, NULL, arguments(NAME)); }         \
  tutti_status tutti_##function##_start(arguments(DECLARE), tutti_request **request) {                                 \
    return enter_##function(START, request, arguments(NAME));                                                          \
  }                                                                                                                    \
  tutti_status tutti_##function##_init(arguments(DECLARE), tutti_request **request) {                                  \
    return enter_##function(INIT, request, arguments(NAME));                                                           \
  }

#include "compose/collectives.inc"
