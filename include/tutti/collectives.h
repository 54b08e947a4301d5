/* tutti/collectives.h - the blocking collectives. tutti/requests.h has their non-blocking and persistent forms.
 *
 * p is tutti_comm_size. Every rank passes the same count, type, op and root. The call borrows buffers and arrays.
 *
 * In place: each function says where `in` and `out` may be the same memory; the result then replaces the input there.
 * Any other overlap is TUTTI_ERR_ARGUMENT.
 * A buffer "of the root" is neither read nor written on other ranks and may be NULL there. A buffer of no elements may
 * be NULL too. Buffers may begin at any byte; aligned elements are combined faster.
 *
 * ...v: blocks of different lengths. counts[r] is the length of rank r's block, in elements. offsets[r] is where that
 * block begins, in elements from the beginning of the buffer. Offsets may be negative and may leave gaps; a gap keeps
 * its content. With offsets == NULL, blocks lie one after the other. Blocks of one `out` must not overlap. Blocks of
 * `in` may lie between those of `out`.
 * Each function says which ranks pass the length of a block. Where only the sender and the receiver of a block pass it
 * and they differ, the receiver gets TUTTI_ERR_MISMATCH, at the latest when all ranks have come to the call, and then
 * all ranks get it; the text names both ranks and the difference. A block that is sent to a rank which expects nothing
 * at all may stay unnoticed until tutti_comm_destroy. */
#ifndef TUTTI_COLLECTIVES_H
#define TUTTI_COLLECTIVES_H

#include <tutti/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reductions ----
 *
 * An operator that does not commute combines operands in rank order. If tutti_comm_set_params or TUTTI_PARAMS ask for
 * parameters that do not keep rank order, the call returns TUTTI_ERR_PLAN. */

/* out[i] = in[i] of rank 0 (op) ... (op) in[i] of rank p-1, on every rank. in, out: count elements. In place: in ==
 * out. */
TUTTI_API tutti_status tutti_allreduce(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                       tutti_comm *comm);
/* As tutti_allreduce, with the result on the root only. in: count elements; out: count elements, of the root. In place:
 * in == out on the root. */
TUTTI_API tutti_status tutti_reduce(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                    int64_t root, tutti_comm *comm);
/* Combines `in` of all ranks; out = part `rank` of the result. in: p * count elements; out: count. In place: out == in
 * + rank * count. */
TUTTI_API tutti_status tutti_reduce_scatter(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                            tutti_comm *comm);
/* As tutti_reduce_scatter, with parts of counts[0], counts[1], ... elements, one after the other in `in`. counts: p,
 * equal on all ranks. In place: out == in + counts[0] + ... + counts[rank-1]. */
TUTTI_API tutti_status tutti_reduce_scatterv(const void *in, void *out, const int64_t *counts, tutti_type type,
                                             tutti_op op, tutti_comm *comm);
/* out[i] = in[i] of rank 0 (op) ... (op) in[i] of this rank. in, out: count elements. In place: in == out. */
TUTTI_API tutti_status tutti_scan(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                  tutti_comm *comm);
/* out[i] = in[i] of rank 0 (op) ... (op) in[i] of rank - 1. Rank 0's out keeps its content. in, out: count elements. In
 * place: in == out. */
TUTTI_API tutti_status tutti_exscan(const void *in, void *out, int64_t count, tutti_type type, tutti_op op,
                                    tutti_comm *comm);

/* ---- from one rank, to one rank ---- */

/* out = the root's in, on every rank. in: count elements, of the root; out: count. In place: in == out on the root. */
TUTTI_API tutti_status tutti_broadcast(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                       tutti_comm *comm);
/* out = in of rank 0, in of rank 1, ..., on the root. in: count elements; out: p * count, of the root. In place: in ==
 * out + root * count on the root. */
TUTTI_API tutti_status tutti_gather(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                    tutti_comm *comm);
/* Brings the in_count elements of each rank r to out + offsets[r] on the root. out, counts, offsets: of the root;
 * counts[r] equals rank r's in_count. In place: in == out + offsets[root] on the root. */
TUTTI_API tutti_status tutti_gatherv(const void *in, int64_t in_count, void *out, const int64_t *counts,
                                     const int64_t *offsets, tutti_type type, int64_t root, tutti_comm *comm);
/* out = part `rank` of the root's in, on every rank. in: p * count elements, of the root; out: count. In place: out ==
 * in + root * count on the root. */
TUTTI_API tutti_status tutti_scatter(const void *in, void *out, int64_t count, tutti_type type, int64_t root,
                                     tutti_comm *comm);
/* Brings counts[r] elements at in + offsets[r] on the root to out of each rank r. in, counts, offsets: of the root;
 * counts[r] equals rank r's out_count. In place: out == in + offsets[root] on the root. */
TUTTI_API tutti_status tutti_scatterv(const void *in, const int64_t *counts, const int64_t *offsets, void *out,
                                      int64_t out_count, tutti_type type, int64_t root, tutti_comm *comm);

/* ---- from all ranks to all ranks ---- */

/* out = in of rank 0, in of rank 1, ..., on every rank. in: count elements; out: p * count. In place: in == out + rank
 * * count. */
TUTTI_API tutti_status tutti_allgather(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm);
/* Brings the counts[r] elements of each rank r to out + offsets[r] on every rank. in: counts[rank] elements. counts: p,
 * equal on all ranks; offsets may differ between ranks. In place: in == out + offsets[rank]. */
TUTTI_API tutti_status tutti_allgatherv(const void *in, void *out, const int64_t *counts, const int64_t *offsets,
                                        tutti_type type, tutti_comm *comm);
/* Brings part r of `in` to rank r, as part `rank` of its out. in, out: p * count elements. In place: in == out; tutti
 * then copies `in` first, here and in the two functions below. */
TUTTI_API tutti_status tutti_all_to_all(const void *in, void *out, int64_t count, tutti_type type, tutti_comm *comm);
/* Brings in_counts[r] elements at in + in_offsets[r] to rank r, which gets them at its out + out_offsets[rank] and
 * passes the same number in its out_counts[rank]. A count of 0 costs next to nothing. In place: in == out. */
TUTTI_API tutti_status tutti_all_to_allv(const void *in, const int64_t *in_counts, const int64_t *in_offsets, void *out,
                                         const int64_t *out_counts, const int64_t *out_offsets, tutti_type type,
                                         tutti_comm *comm);
/* As tutti_all_to_allv, with a type for each block and offsets in bytes. Sender and receiver of a block must pass the
 * same number of bytes; their types may differ. */
TUTTI_API tutti_status tutti_all_to_allw(const void *in, const int64_t *in_counts, const int64_t *in_bytes_offsets,
                                         const tutti_type *in_types, void *out, const int64_t *out_counts,
                                         const int64_t *out_bytes_offsets, const tutti_type *out_types,
                                         tutti_comm *comm);
/* Returns when every rank has called it. */
TUTTI_API tutti_status tutti_barrier(tutti_comm *comm);

/* ---- along the edges of a graph ----
 *
 * Blocks of `in` go to this rank's destinations, blocks of `out` come from its sources, in the order given to
 * tutti_graph_create. These functions are calls on the graph's communicator. Buffers must not overlap. in_count and
 * out_count below are the graph's, unless they are arguments. */

/* in: count elements, which go to every destination; out: in_count * count. */
TUTTI_API tutti_status tutti_neighbor_allgather(const void *in, void *out, int64_t count, tutti_type type,
                                                tutti_graph *graph);
/* in: in_count elements (the argument), which go to every destination. counts, offsets: of the block from each
 * source. */
TUTTI_API tutti_status tutti_neighbor_allgatherv(const void *in, int64_t in_count, void *out, const int64_t *counts,
                                                 const int64_t *offsets, tutti_type type, tutti_graph *graph);
/* in: out_count * count elements, count for each destination; out: in_count * count, count from each source. */
TUTTI_API tutti_status tutti_neighbor_all_to_all(const void *in, void *out, int64_t count, tutti_type type,
                                                 tutti_graph *graph);
/* As tutti_all_to_allv. in_counts, in_offsets: of the block to each destination; out_counts, out_offsets: of the block
 * from each source. */
TUTTI_API tutti_status tutti_neighbor_all_to_allv(const void *in, const int64_t *in_counts, const int64_t *in_offsets,
                                                  void *out, const int64_t *out_counts, const int64_t *out_offsets,
                                                  tutti_type type, tutti_graph *graph);
/* As tutti_neighbor_all_to_allv, with types and offsets as in tutti_all_to_allw. */
TUTTI_API tutti_status tutti_neighbor_all_to_allw(const void *in, const int64_t *in_counts,
                                                  const int64_t *in_bytes_offsets, const tutti_type *in_types,
                                                  void *out, const int64_t *out_counts,
                                                  const int64_t *out_bytes_offsets, const tutti_type *out_types,
                                                  tutti_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
