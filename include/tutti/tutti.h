/* tutti/tutti.h - collectives for C programs.
 *
 * A *context* is this process's part of a job. A *communicator* is an ordered group of its ranks. Every rank of a
 * communicator calls the same collectives on it in the same order; ranks that differ get an error that says who called
 * what.
 *
 * Sizes are counts of elements, 64-bit. Buffers are borrowed until the call (or its request) is complete. `in == out`
 * positions that the field calls in place are stated at each function. A count of 0 is legal.
 *
 * Threads: one thread at a time in the calls on one context. Errors: each function returns a tutti_status and
 * tutti_last_error() has the text. Outputs are written only on success. After TUTTI_ERR_MISMATCH, _PEER, _TIMEOUT,
 * _ABORTED, and after _MEMORY or _SYSTEM in a collective (others wait for this rank), the communicator is broken: each
 * later call on it returns the same error, tutti_comm_destroy still works. After _ARGUMENT and _PLAN it is as before.
 */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <tutti/boot.h>
#include <tutti/status.h>
#include <tutti/transport.h>
#include <tutti/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_VERSION "0.1.0"

typedef struct tutti_context tutti_context;
typedef struct tutti_comm tutti_comm;
typedef struct tutti_request tutti_request;

/* ---- context -------------------------------------------------------------------------------------------------------
 */

typedef struct tutti_context_options {
  size_t size;                          /* set by tutti_context_options_init */
  const tutti_boot *boot;               /* NULL: what `tutti run` put in the environment, or a job of one rank */
  const tutti_transport_ops *transport; /* NULL: shared memory */
  const void *transport_config;         /* given to transport->open */
  int64_t timeout_ns;                   /* for creation; 0: TUTTI_CREATE_TIMEOUT */
} tutti_context_options;

TUTTI_API void tutti_context_options_init(tutti_context_options *options);

/* Joins the job. Collective, blocking, bounded by the timeout; names who is missing. options may be NULL. */
TUTTI_API tutti_status tutti_context_create(const tutti_context_options *options, tutti_context **context);
/* Leaves the job. Its communicators must have been destroyed. Accepts NULL. Never blocks for others. */
TUTTI_API void tutti_context_destroy(tutti_context *context);
/* -1 where context is NULL. */
TUTTI_API int64_t tutti_context_rank(const tutti_context *context);
TUTTI_API int64_t tutti_context_size(const tutti_context *context);

/* Memory that peers on this machine can read without a copy; any buffer works in every call, this one may be faster.
 * 64-byte aligned; to be freed before the context is destroyed. */
TUTTI_API tutti_status tutti_alloc(tutti_context *context, size_t bytes, void **memory);
TUTTI_API void tutti_free(tutti_context *context, void *memory);

/* ---- communicator --------------------------------------------------------------------------------------------------
 */

/* A communicator of all ranks. Collective; like tutti_comm_split bounded by the time that creation may take. */
TUTTI_API tutti_status tutti_comm_create(tutti_context *context, tutti_comm **comm);
/* New communicators of the ranks with equal color >= 0, ordered by (key, rank). color < 0: *part = NULL. Collective. */
TUTTI_API tutti_status tutti_comm_split(tutti_comm *comm, int64_t color, int64_t key, tutti_comm **part);
/* Frees it. Outstanding requests on it must have completed. Not collective, never blocks. Accepts NULL. A mismatch that
 * no call has told this rank is logged, and in tutti_last_error. */
TUTTI_API void tutti_comm_destroy(tutti_comm *comm);
/* Breaks it on all ranks: outstanding and later calls return TUTTI_ERR_ABORTED, with this rank's reason in the text. */
TUTTI_API void tutti_comm_abort(tutti_comm *comm, const char *reason);
/* -1 where comm is NULL. */
TUTTI_API int64_t tutti_comm_rank(const tutti_comm *comm);
TUTTI_API int64_t tutti_comm_size(const tutti_comm *comm);
/* Parameters (docs/plan.md) for every later call of one collective ("allreduce", ...), instead of the profile's choice;
 * NULL text returns to the profile. Persistent requests keep what they were made with. Every rank must set the same.
 * Errors: TUTTI_ERR_PLAN with what is wrong in the text. */
TUTTI_API tutti_status tutti_comm_set_params(tutti_comm *comm, const char *collective, const char *text);

/* ---- collectives: p = tutti_comm_size
 * ---------------------------------------------------------------------------------- */

/* out[i] = in[i] of rank 0 (+) ... (+) in[i] of rank p-1, on every rank. in, out: count elements. In place: in == out.
 */
TUTTI_API tutti_status tutti_allreduce(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                       tutti_comm *comm);
/* out = root's in. in: count elements, read on root only (may be NULL elsewhere). In place: in == out on root. */
TUTTI_API tutti_status tutti_broadcast(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                       tutti_comm *comm);
/* out = in of rank 0, in of rank 1, ... in: count, out: p * count elements. In place: in == out + rank * count. */
TUTTI_API tutti_status tutti_allgather(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm);
/* out = part `rank` of the sum of all in. in: p * count, out: count elements. In place: out == in + rank * count. */
TUTTI_API tutti_status tutti_reduce_scatter(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                            tutti_comm *comm);
/* Returns after every rank has called it. */
TUTTI_API tutti_status tutti_barrier(tutti_comm *comm);

/* ---- non-blocking: the same, complete after tutti_wait or tutti_test
 * ------------------------------------------------------ */

TUTTI_API tutti_status tutti_allreduce_start(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                             tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_broadcast_start(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                             tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_allgather_start(const void *in, void *out, int64_t count, tutti_type type,
                                             tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_reduce_scatter_start(const void *in, void *out, int64_t count, tutti_type type,
                                                  tutti_op op, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_barrier_start(tutti_comm *comm, tutti_request **request);

/* ---- persistent: made once, started many times with tutti_request_start
 * ---------------------------------------------------- */

TUTTI_API tutti_status tutti_allreduce_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                            tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_broadcast_init(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                            tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_allgather_init(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm,
                                            tutti_request **request);
TUTTI_API tutti_status tutti_reduce_scatter_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                                 tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_barrier_init(tutti_comm *comm, tutti_request **request);
/* Starts a persistent request that is not running: not started yet, or waited for since. Each start counts as one call
 * on its communicator. */
TUTTI_API tutti_status tutti_request_start(tutti_request *request);

/* *done = whether it is complete. Moves every outstanding request of the context on. A completed non-blocking request
 * is freed and *request set to NULL; a persistent one stays. A NULL *request, and one not started, are complete. */
TUTTI_API tutti_status tutti_test(tutti_request **request, int *done);
/* The same, and blocks until complete. */
TUTTI_API tutti_status tutti_wait(tutti_request **request);
/* Frees a persistent request that is not running. Accepts NULL. */
TUTTI_API void tutti_request_destroy(tutti_request *request);

#ifdef __cplusplus
}
#endif
#endif
