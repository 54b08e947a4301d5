/* tutti/requests.h - the non-blocking and persistent collectives. Arguments are those of tutti/collectives.h.
 *
 *     tutti_NAME_start    starts the call; tutti_wait or tutti_test complete it
 *     tutti_NAME_init     makes a persistent request, which tutti_request_start starts any number of times
 *
 * Calls on one communicator run in the order in which they were started; all ranks start them in the same order. tutti
 * borrows buffers and arrays until the call is complete. Those of a persistent request it borrows until the request is
 * destroyed, and the arrays must not change.
 *
 * All ranks of a communicator make its persistent requests in the same order among its other calls. Each rank then
 * starts them in any order, among any other calls, as long as all ranks start each request the same number of times.
 * Making a request does not communicate. A request that fails with TUTTI_ERR_ARGUMENT was not made; a failed start
 * breaks the communicator.
 *
 * A communicator may make any number of persistent requests. But each rank must destroy a request before 2^26 others
 * are made after it (15,000 if the communicator's number is 2^16 or more; numbers from 2^30 on count from there);
 * otherwise making that one breaks the communicator with TUTTI_ERR_UNSUPPORTED on all ranks. */
#ifndef TUTTI_REQUESTS_H
#define TUTTI_REQUESTS_H

#include <tutti/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_request tutti_request;

/* Starts a persistent request that is not running: it was never started, or it has completed since. */
TUTTI_API tutti_status tutti_request_start(tutti_request *request);
/* Sets *done to 1 if the request is complete, else to 0, and advances every outstanding request of the context. Frees a
 * complete non-blocking request and sets *request to NULL; a persistent request stays. A NULL *request and a persistent
 * request that was not started count as complete. */
TUTTI_API tutti_status tutti_test(tutti_request **request, int *done);
/* As tutti_test, but blocks until the request is complete. */
TUTTI_API tutti_status tutti_wait(tutti_request **request);
/* As tutti_wait, with a time limit of its own instead of TUTTI_TIMEOUT, in nanoseconds, > 0. */
TUTTI_API tutti_status tutti_wait_for(tutti_request **request, int64_t timeout_ns);
/* Has tutti call `done` once, when the request is complete; at once if it is. The thread that moves it on calls it,
 * from within a function of tutti: it must not call tutti. A request has one such function; it is gone once it was
 * called. */
TUTTI_API tutti_status tutti_request_notify(tutti_request *request, void (*done)(void *user), void *user);
/* Frees a persistent request that is not running, with everything it holds on this rank. Other ranks may still start
 * theirs. Accepts NULL. */
TUTTI_API void tutti_request_destroy(tutti_request *request);

/* ---- non-blocking ---- */

TUTTI_API tutti_status tutti_allreduce_start(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                             tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_reduce_start(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                          int64_t root, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_reduce_scatter_start(const void *in, void *out, int64_t count, tutti_type type,
                                                  tutti_op op, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_reduce_scatterv_start(const void *in, void *out, const int64_t *counts, tutti_type type,
                                                   tutti_op op, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_scan_start(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                        tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_exscan_start(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                          tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_broadcast_start(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                             tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_gather_start(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                          tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_gatherv_start(const void *in, int64_t in_count, void *out, const int64_t *counts,
                                           const int64_t *offsets, tutti_type type, int64_t root, tutti_comm *comm,
                                           tutti_request **request);
TUTTI_API tutti_status tutti_scatter_start(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                           tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_scatterv_start(const void *in, const int64_t *counts, const int64_t *offsets, void *out,
                                            int64_t out_count, tutti_type type, int64_t root, tutti_comm *comm,
                                            tutti_request **request);
TUTTI_API tutti_status tutti_allgather_start(const void *in, void *out, int64_t count, tutti_type type,
                                             tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_allgatherv_start(const void *in, void *out, const int64_t *counts, const int64_t *offsets,
                                              tutti_type type, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_all_to_all_start(const void *in, void *out, int64_t count, tutti_type type,
                                              tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_all_to_allv_start(const void *in, const int64_t *in_counts, const int64_t *in_offsets,
                                               void *out, const int64_t *out_counts, const int64_t *out_offsets,
                                               tutti_type type, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_all_to_allw_start(const void *in, const int64_t *in_counts,
                                               const int64_t *in_bytes_offsets, const tutti_type *in_types, void *out,
                                               const int64_t *out_counts, const int64_t *out_bytes_offsets,
                                               const tutti_type *out_types, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_barrier_start(tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_allgather_start(const void *in, void *out, int64_t count, tutti_type type,
                                                      tutti_graph *graph, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_allgatherv_start(const void *in, int64_t in_count, void *out,
                                                       const int64_t *counts, const int64_t *offsets, tutti_type type,
                                                       tutti_graph *graph, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_all_to_all_start(const void *in, void *out, int64_t count, tutti_type type,
                                                       tutti_graph *graph, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_all_to_allv_start(const void *in, const int64_t *in_counts,
                                                        const int64_t *in_offsets, void *out, const int64_t *out_counts,
                                                        const int64_t *out_offsets, tutti_type type, tutti_graph *graph,
                                                        tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_all_to_allw_start(const void *in, const int64_t *in_counts,
                                                        const int64_t *in_bytes_offsets, const tutti_type *in_types,
                                                        void *out, const int64_t *out_counts,
                                                        const int64_t *out_bytes_offsets, const tutti_type *out_types,
                                                        tutti_graph *graph, tutti_request **request);

/* ---- persistent ---- */

TUTTI_API tutti_status tutti_allreduce_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                            tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_reduce_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                         int64_t root, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_reduce_scatter_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                                 tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_reduce_scatterv_init(const void *in, void *out, const int64_t *counts, tutti_type type,
                                                  tutti_op op, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_scan_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                       tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_exscan_init(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                         tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_broadcast_init(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                            tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_gather_init(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                         tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_gatherv_init(const void *in, int64_t in_count, void *out, const int64_t *counts,
                                          const int64_t *offsets, tutti_type type, int64_t root, tutti_comm *comm,
                                          tutti_request **request);
TUTTI_API tutti_status tutti_scatter_init(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                          tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_scatterv_init(const void *in, const int64_t *counts, const int64_t *offsets, void *out,
                                           int64_t out_count, tutti_type type, int64_t root, tutti_comm *comm,
                                           tutti_request **request);
TUTTI_API tutti_status tutti_allgather_init(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm,
                                            tutti_request **request);
TUTTI_API tutti_status tutti_allgatherv_init(const void *in, void *out, const int64_t *counts, const int64_t *offsets,
                                             tutti_type type, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_all_to_all_init(const void *in, void *out, int64_t count, tutti_type type,
                                             tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_all_to_allv_init(const void *in, const int64_t *in_counts, const int64_t *in_offsets,
                                              void *out, const int64_t *out_counts, const int64_t *out_offsets,
                                              tutti_type type, tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_all_to_allw_init(const void *in, const int64_t *in_counts, const int64_t *in_bytes_offsets,
                                              const tutti_type *in_types, void *out, const int64_t *out_counts,
                                              const int64_t *out_bytes_offsets, const tutti_type *out_types,
                                              tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_barrier_init(tutti_comm *comm, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_allgather_init(const void *in, void *out, int64_t count, tutti_type type,
                                                     tutti_graph *graph, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_allgatherv_init(const void *in, int64_t in_count, void *out,
                                                      const int64_t *counts, const int64_t *offsets, tutti_type type,
                                                      tutti_graph *graph, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_all_to_all_init(const void *in, void *out, int64_t count, tutti_type type,
                                                      tutti_graph *graph, tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_all_to_allv_init(const void *in, const int64_t *in_counts,
                                                       const int64_t *in_offsets, void *out, const int64_t *out_counts,
                                                       const int64_t *out_offsets, tutti_type type, tutti_graph *graph,
                                                       tutti_request **request);
TUTTI_API tutti_status tutti_neighbor_all_to_allw_init(const void *in, const int64_t *in_counts,
                                                       const int64_t *in_bytes_offsets, const tutti_type *in_types,
                                                       void *out, const int64_t *out_counts,
                                                       const int64_t *out_bytes_offsets, const tutti_type *out_types,
                                                       tutti_graph *graph, tutti_request **request);

#ifdef __cplusplus
}
#endif
#endif
