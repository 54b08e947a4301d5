/* tutti/collectives.h - the collectives, blocking. p is tutti_comm_size; tutti/requests.h has the other two forms.
 *
 * Every rank passes the same count, type, op and root. "In place" says where `in` and `out` may meet; then the result
 * replaces the input there. Any other overlap is TUTTI_ERR_ARGUMENT. A buffer that is "of the root" is neither looked
 * at nor written on other ranks and may be NULL there; so may one of no elements. Buffers may begin at any byte; where
 * elements are aligned, combining them is faster.
 *
 * ...v: blocks of different lengths. counts[r] is the length of rank r's block, in elements, and offsets[r] where it
 * begins, in elements from the beginning of the buffer; offsets may be negative, leave gaps, which keep what they hold,
 * and be NULL: blocks lie one after the other. Blocks of one `out` must not overlap. Arrays are borrowed like buffers.
 * Buffers overlap when the ranges from the first to the last element of their blocks do.
 * Who passes the length of a block is said at each function; where only the rank that has it and the rank that gets it
 * do, and they differ, the rank that gets it has TUTTI_ERR_MISMATCH, at the latest when all ranks have come to the
 * call, and then all ranks; the text names both and the difference. What is sent where nothing at all is expected may
 * be noticed as late as tutti_comm_destroy. */
#ifndef TUTTI_COLLECTIVES_H
#define TUTTI_COLLECTIVES_H

#include <tutti/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reductions ----
 *
 * Operators that do not commute combine operands in rank order; TUTTI_ERR_PLAN where tutti_comm_set_params or
 * TUTTI_PARAMS ask for what does not keep it. */

/* out[i] = in[i] of rank 0 (+) ... (+) in[i] of rank p-1, on every rank. in, out: count elements. In place: in == out.
 */
TUTTI_API tutti_status tutti_allreduce(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                       tutti_comm *comm);
/* The same, on the root only: out is of the root. In place: in == out on the root. */
TUTTI_API tutti_status tutti_reduce(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                    int64_t root, tutti_comm *comm);
/* out = part `rank` of the sum of all in. in: p * count, out: count elements. In place: out == in + rank * count. */
TUTTI_API tutti_status tutti_reduce_scatter(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                            tutti_comm *comm);
/* The same with parts of counts[0], counts[1], ... elements, one after the other in `in`; counts are equal on all
 * ranks. In place: out == in + counts[0] + ... + counts[rank-1]. */
TUTTI_API tutti_status tutti_reduce_scatterv(const void *in, void *out, const int64_t *counts, tutti_type type,
                                             tutti_op op, tutti_comm *comm);
/* out[i] = in[i] of rank 0 (+) ... (+) in[i] of this rank. in, out: count elements. In place: in == out. */
TUTTI_API tutti_status tutti_scan(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                  tutti_comm *comm);
/* out[i] = in[i] of rank 0 (+) ... (+) in[i] of rank - 1. Rank 0's out is left as it is. In place: in == out. */
TUTTI_API tutti_status tutti_exscan(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                    tutti_comm *comm);

/* ---- from one rank, to one rank ---- */

/* out = root's in. in: count elements, of the root. In place: in == out on the root. */
TUTTI_API tutti_status tutti_broadcast(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                       tutti_comm *comm);
/* out = in of rank 0, in of rank 1, ... in: count elements; out: p * count, of the root. In place: in == out + root *
 * count on the root. */
TUTTI_API tutti_status tutti_gather(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                    tutti_comm *comm);
/* in_count elements of rank r to out + offsets[r]. out, counts, offsets: of the root; counts[r] is rank r's in_count.
 * In place: in == out + offsets[root] on the root. */
TUTTI_API tutti_status tutti_gatherv(const void *in, int64_t in_count, void *out, const int64_t *counts,
                                     const int64_t *offsets, tutti_type type, int64_t root, tutti_comm *comm);
/* out = part `rank` of the root's in. in: p * count elements, of the root; out: count. In place: out == in + root *
 * count on the root. */
TUTTI_API tutti_status tutti_scatter(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                     tutti_comm *comm);
/* counts[r] elements at in + offsets[r] to rank r. in, counts, offsets: of the root; counts[r] is rank r's out_count.
 * In place: out == in + offsets[root] on the root. */
TUTTI_API tutti_status tutti_scatterv(const void *in, const int64_t *counts, const int64_t *offsets, void *out,
                                      int64_t out_count, tutti_type type, int64_t root, tutti_comm *comm);

/* ---- from all ranks to all ranks ---- */

/* out = in of rank 0, in of rank 1, ... in: count, out: p * count elements. In place: in == out + rank * count. */
TUTTI_API tutti_status tutti_allgather(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm);
/* counts[r] elements of rank r to out + offsets[r]. in: counts[rank] elements. counts are equal on all ranks; offsets
 * need not be. In place: in == out + offsets[rank]. */
TUTTI_API tutti_status tutti_allgatherv(const void *in, void *out, const int64_t *counts, const int64_t *offsets,
                                        tutti_type type, tutti_comm *comm);
/* Part r of in to rank r, which has it as part `rank` of out. in, out: p * count elements. In place: in == out; then
 * `in` is copied first, as in the two that follow. */
TUTTI_API tutti_status tutti_all_to_all(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm);
/* in_counts[r] elements at in + in_offsets[r] to rank r, which passes as many as out_counts[rank] and gets them at out
 * + out_offsets[rank]. Counts that are 0 cost next to nothing. In place: in == out. */
TUTTI_API tutti_status tutti_all_to_allv(const void *in, const int64_t *in_counts, const int64_t *in_offsets, void *out,
                                         const int64_t *out_counts, const int64_t *out_offsets, tutti_type type,
                                         tutti_comm *comm);
/* The same with a type for each block and offsets in bytes. Both ends must have the same number of bytes, not the same
 * type. */
TUTTI_API tutti_status tutti_all_to_allw(const void *in, const int64_t *in_counts, const int64_t *in_bytes_offsets,
                                         const tutti_type *in_types, void *out, const int64_t *out_counts,
                                         const int64_t *out_bytes_offsets, const tutti_type *out_types,
                                         tutti_comm *comm);
/* Returns after every rank has called it. */
TUTTI_API tutti_status tutti_barrier(tutti_comm *comm);

/* ---- along the edges of a graph: blocks of `in` for its destinations, of `out` from its sources, in their order ----
 *
 * They count as calls on the graph's communicator. Buffers must not overlap. */

/* in: count elements, to all destinations; out: in_count (the graph's) * count. */
TUTTI_API tutti_status tutti_neighbor_allgather(const void *in, void *out, int64_t count, tutti_type type,
                                                tutti_graph *graph);
/* in: in_count elements, to all destinations; counts, offsets: of the blocks from each source. */
TUTTI_API tutti_status tutti_neighbor_allgatherv(const void *in, int64_t in_count, void *out, const int64_t *counts,
                                                 const int64_t *offsets, tutti_type type, tutti_graph *graph);
/* in: count elements for each destination; out: count from each source. */
TUTTI_API tutti_status tutti_neighbor_all_to_all(const void *in, void *out, int64_t count, tutti_type type,
                                                 tutti_graph *graph);
/* in_...: of the blocks to each destination; out_...: from each source; else as tutti_all_to_allv. */
TUTTI_API tutti_status tutti_neighbor_all_to_allv(const void *in, const int64_t *in_counts, const int64_t *in_offsets,
                                                  void *out, const int64_t *out_counts, const int64_t *out_offsets,
                                                  tutti_type type, tutti_graph *graph);
/* The same with types and offsets as in tutti_all_to_allw. */
TUTTI_API tutti_status tutti_neighbor_all_to_allw(const void *in, const int64_t *in_counts,
                                                  const int64_t *in_bytes_offsets, const tutti_type *in_types,
                                                  void *out, const int64_t *out_counts,
                                                  const int64_t *out_bytes_offsets, const tutti_type *out_types,
                                                  tutti_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
