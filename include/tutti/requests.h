/* tutti/requests.h - the collectives without blocking. Arguments are those of tutti/collectives.h.
 *
 *     tutti_NAME_start    starts it; complete after tutti_wait or tutti_test
 *     tutti_NAME_init     makes a persistent request, which is started many times with tutti_request_start
 *
 * Calls of one communicator run in the order in which they were started, which is the same on all ranks. Buffers and
 * arrays are borrowed until the call is complete; those of a persistent request until it is destroyed, and its arrays
 * must not change.
 *
 * Persistent requests of one communicator are made in the same order on all ranks, with its other calls. That order
 * ends there: each rank starts them when it likes, in any order, among any other calls, as long as all ranks start each
 * of them the same number of times. They are made without communication. One that fails with TUTTI_ERR_ARGUMENT was not
 * made; an error of a start breaks the communicator.
 *
 * A communicator may make any number of them. But a request must be destroyed, on each rank, before 2^26 others are
 * made after it (16,000, if the communicator's number is 2^17 or more): else the making of that one is an error on all.
 */
#ifndef TUTTI_REQUESTS_H
#define TUTTI_REQUESTS_H

#include <tutti/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_request tutti_request;

/* Starts a persistent request that is not running: not started yet, or waited for since. */
TUTTI_API tutti_status tutti_request_start(tutti_request *request);
/* *done = whether it is complete. Moves every outstanding request of the context on. A completed non-blocking request
 * is freed and *request set to NULL; a persistent one stays. A NULL *request, and one not started, are complete. */
TUTTI_API tutti_status tutti_test(tutti_request **request, int *done);
/* The same, and blocks until complete. */
TUTTI_API tutti_status tutti_wait(tutti_request **request);
/* Frees a persistent request that is not running, with all that it has on this rank; others may still start theirs.
 * Accepts NULL. */
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
