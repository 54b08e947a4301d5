/* bindings/mpi/serve.c - a collective of the program's is done by tutti, or left to MPI.
 *
 * To leave a call to MPI is decided from what all ranks of it know (communicator, operator, type), or because an
 * argument is wrong: that is an error on this rank, and the others, which wait for it, are told.
 * The fast path is meant to stay short: a call with predefined types allocates nothing and calls nothing of MPI. */
#include "serve.h"

#include "error.h"
#include "lock.h"
#include "request.h"
#include "serve_move.h"
#include "serve_reduce.h"
#include "settings.h"
#include "state.h"
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* ---- whether ---- */

/* With nobody to communicate with MPI's own copy is the fastest. (Not for requests: MPICH 4.0 misplaces data of
 * non-blocking calls of one rank, and waits for ever for persistent ones that are inactive.) */
static const char *why_not(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_form form) {
  const tt_mpi_row *row = &tt_mpi_rows[call->collective];
  if (!comm)
    return tt_mpi.off ? tt_mpi.off : "no communicator";
  if (!comm->comm)
    return comm->why;
  if (comm->size == 1 && form == TT_MPI_BLOCK)
    return tt_mpi_one_rank;
  if (!(tt_mpi.only >> call->collective & 1))
    return "not in TUTTI_MPI_ONLY";
  if (row->graph && !comm->neighbors.graph)
    return comm->neighbors.why_not ? comm->neighbors.why_not : "no topology";
  if (row->graph && comm->neighbors.repeats && row->in.unit != TT_MPI_ONE)
    return "a rank that is a neighbor twice";
  if (comm->faster.some && form == TT_MPI_BLOCK)
    return tt_mpi_faster_why(&comm->faster, call, comm->rank, comm->size);
  return NULL;
}

static tt_mpi_verdict prepare(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_args *args,
                              tt_mpi_stage *stage) {
  args->error = 0;
  args->why = NULL;
  if (tt_mpi_rows[call->collective].rooted && (call->root < 0 || call->root >= comm->size)) {
    args->error = MPI_ERR_ROOT;
    snprintf(args->text, sizeof args->text, "root is %d", call->root);
    return TT_MPI_WRONG;
  }
  args->comm = comm->comm;
  args->graph = comm->neighbors.graph;
  args->root = call->root;
  if (tt_mpi_rows[call->collective].reduces)
    return tt_mpi_prepare_reduction(call, comm, args, stage);
  if (call->collective != TT_MPI_BARRIER)
    return tt_mpi_prepare_move(call, comm, args, stage);
  args->in.bytes = args->out.bytes = 0;
  return TT_MPI_SERVED;
}

/* ---- errors ---- */

/* The other ranks would wait for this one. What is only made here, to be started later, has no place in the order of
 * calls: the communicator ends. */
static void tell_others(const tt_mpi_comm *comm, tt_mpi_form form, const char *why) {
  tt_mpi_lock();
  if (form == TT_MPI_INIT)
    tutti_comm_abort(comm->comm, why);
  else
    tutti_comm_refuse(comm->comm, why);
  tt_mpi_unlock();
}

static int fail(const tt_mpi_comm *comm, tt_mpi_form form, tutti_status status, const char *text) {
  char kept[1024];
  snprintf(kept, sizeof kept, "%s", text); /* tutti's next call ends its text */
  if (status == TUTTI_ERR_ARGUMENT)
    tell_others(comm, form, kept);
  return tt_mpi_fail(comm->mpi, comm->rank, status, kept);
}

static int fail_wrong(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_form form, const tt_mpi_args *args) {
  char text[256];
  snprintf(text, sizeof text, "%s: %s", tt_mpi_collective_name(call->collective), args->text);
  tell_others(comm, form, text);
  return args->error ? tt_mpi_fail_class(comm->mpi, comm->rank, args->error, text)
                     : tt_mpi_fail(comm->mpi, comm->rank, TUTTI_ERR_ARGUMENT, text);
}

static int fail_fork(const tt_mpi_call *call, const tt_mpi_comm *comm) {
  char text[256];
  snprintf(text, sizeof text, "%s: this process (%d) is a fork of rank %d, and only that rank can call it",
           tt_mpi_collective_name(call->collective), getpid(), (int)tutti_context_rank(tt_mpi.context));
  return tt_mpi_fail(comm->mpi, comm->rank, TUTTI_ERR_UNSUPPORTED, text);
}

/* ---- what is not served ---- */

/* A fork's call, which MPI would take for that of its parent. */
static bool is_of_fork(const tt_mpi_comm *comm) { return tt_mpi.forked && comm && comm->size != 1; }

/* False: it is MPI's. */
static bool refuse_fork(const tt_mpi_call *call, const tt_mpi_comm *comm, const char *why, int *result) {
  bool refused = is_of_fork(comm);
  if (refused)
    *result = fail_fork(call, comm);
  else
    tt_mpi_count_passed(call->collective, why);
  return refused;
}

static bool leave(const tt_mpi_call *call, const tt_mpi_comm *comm, tt_mpi_form form, const tt_mpi_args *args,
                  tt_mpi_verdict verdict, int *result) {
  if (verdict == TT_MPI_PASSED)
    return refuse_fork(call, comm, args->why, result);
  *result = fail_wrong(call, comm, form, args);
  return true;
}

/* ---- started calls ---- */

static int64_t bytes_of(const tt_mpi_args *args) {
  return args->in.bytes > args->out.bytes ? args->in.bytes : args->out.bytes;
}

static tt_mpi_work *create_work(const tt_mpi_call *call, tt_mpi_comm *comm, const tt_mpi_args *args,
                                const tt_mpi_stage *stage, tt_mpi_form form) {
  tt_mpi_work *work = tt_mpi_work_create(comm, call->collective, stage);
  work->bytes = bytes_of(args);
  work->persistent = form == TT_MPI_INIT;
  work->began_ns = tt_mpi.statistics ? tt_mpi_clock_ns() : 0;
  return work;
}

/* NULL: it failed, *result is what MPI returns. */
static tt_mpi_work *start(const tt_mpi_call *call, tt_mpi_comm *comm, const tt_mpi_args *args,
                          const tt_mpi_stage *stage, tt_mpi_form form, int *result) {
  tt_mpi_work *work = create_work(call, comm, args, stage, form);
  if (form == TT_MPI_START && work->pack)
    work->pack(work);
  tt_mpi_lock();
  tutti_status status = tt_mpi_rows[call->collective].run(args, form, &work->request);
  tt_mpi_unlock();
  if (status == TUTTI_OK)
    return work;
  *result = fail(comm, form, status, tutti_last_error());
  tt_mpi_work_destroy(work);
  return NULL;
}

static bool serve_request(const tt_mpi_call *call, tt_mpi_form form, MPI_Request *request, int *result) {
  tt_mpi_args args;
  tt_mpi_comm *comm = tt_mpi_comm_of(call->comm);
  const char *why = why_not(call, comm, form);
  if (why)
    return refuse_fork(call, comm, why, result);
  tt_mpi_stage stage = {.applied = NULL};
  tt_mpi_verdict verdict = prepare(call, comm, &args, &stage);
  if (verdict == TT_MPI_SERVED) {
    tt_mpi_work *work = start(call, comm, &args, &stage, form, result);
    if (work)
      *result = tt_mpi_request_make_take(work, request);
    return true;
  }
  tt_mpi_stage_finish(&stage);
  return leave(call, comm, form, &args, verdict, result);
}

bool tt_mpi_serve_start(const tt_mpi_call *call, MPI_Request *request, int *result) {
  return serve_request(call, TT_MPI_START, request, result);
}

bool tt_mpi_serve_init(const tt_mpi_call *call, MPI_Request *request, int *result) {
  return serve_request(call, TT_MPI_INIT, request, result);
}

bool tt_mpi_serve_leaves(tt_mpi_collective collective, MPI_Comm comm) {
  const tt_mpi_call call = {.collective = collective, .comm = comm};
  const tt_mpi_comm *kept = tt_mpi_comm_of(comm);
  const char *why = why_not(&call, kept, TT_MPI_START);
  bool leaves = why && !is_of_fork(kept);
  if (leaves)
    tt_mpi_count_passed(collective, why);
  return leaves;
}

/* ---- blocking calls ---- */

static tutti_status run_staged(const tt_mpi_call *call, const tt_mpi_args *args, tt_mpi_stage *stage) {
  tt_mpi_stage_pack(stage);
  tutti_status status = tt_mpi_rows[call->collective].run(args, TT_MPI_BLOCK, NULL);
  if (status == TUTTI_OK)
    tt_mpi_stage_unpack(stage);
  tt_mpi_stage_finish(stage);
  return status;
}

static int run_alone(const tt_mpi_call *call, const tt_mpi_comm *comm, const tt_mpi_args *args, tt_mpi_stage *stage) {
  int64_t began_ns = tt_mpi.statistics ? tt_mpi_clock_ns() : 0;
  tutti_status status =
      stage->used ? run_staged(call, args, stage) : tt_mpi_rows[call->collective].run(args, TT_MPI_BLOCK, NULL);
  if (status != TUTTI_OK)
    return fail(comm, TT_MPI_BLOCK, status, tutti_last_error());
  if (tt_mpi.statistics)
    tt_mpi_count_served(call->collective, bytes_of(args), tt_mpi_clock_ns() - began_ns,
                        tutti_comm_last_params(comm->comm), tutti_comm_last_authority(comm->comm),
                        tutti_comm_last_media(comm->comm));
  return MPI_SUCCESS;
}

/* Others are outstanding, which must move on. */
static int run_among_others(const tt_mpi_call *call, tt_mpi_comm *comm, const tt_mpi_args *args,
                            const tt_mpi_stage *stage) {
  int result = MPI_SUCCESS;
  tt_mpi_work *work = start(call, comm, args, stage, TT_MPI_START, &result);
  if (!work)
    return result;
  tt_mpi_request_finish(work);
  if (work->status != TUTTI_OK)
    result = fail(comm, TT_MPI_START, work->status, work->text);
  else
    tt_mpi_work_count(work);
  tt_mpi_work_destroy(work);
  return result;
}

bool tt_mpi_serve(const tt_mpi_call *call, int *result) {
  tt_mpi_args args;
  tt_mpi_comm *comm = tt_mpi_comm_of(call->comm);
  const char *why = why_not(call, comm, TT_MPI_BLOCK);
  if (why) /* before anything is prepared: what MPI is to do costs next to nothing */
    return refuse_fork(call, comm, why, result);
  tt_mpi_stage stage = {.words = &comm->words}; /* a communicator has one blocking call at a time */
  tt_mpi_verdict verdict = prepare(call, comm, &args, &stage);
  if (verdict == TT_MPI_SERVED) {
    *result = tt_mpi_alone() ? run_alone(call, comm, &args, &stage) : run_among_others(call, comm, &args, &stage);
    return true;
  }
  tt_mpi_stage_finish(&stage);
  return leave(call, comm, TT_MPI_BLOCK, &args, verdict, result);
}
