/* tutti/comm.h - communicators, which are groups of ranks, and graphs over them. */
#ifndef TUTTI_COMM_H
#define TUTTI_COMM_H

#include <tutti/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_comm tutti_comm;
typedef struct tutti_graph tutti_graph;

/* A communicator of all ranks. Collective; like tutti_comm_split bounded by the time that creation may take. */
TUTTI_API tutti_status tutti_comm_create(tutti_context *context, tutti_comm **comm);
/* New communicators of the ranks with equal color >= 0, ordered by (key, rank). color < 0: *part = NULL. Collective.
 * Cheap: what a communicator needs beside its ranks comes with its first call. Where one rank has no memory for its
 * part it gets TUTTI_ERR_MEMORY, here or at the first call, and the others at their first call on theirs. */
TUTTI_API tutti_status tutti_comm_split(tutti_comm *comm, int64_t color, int64_t key, tutti_comm **part);
/* The same for ranks[0 .. count-1] of the context (equal on all of them, each once, this rank among them) where they
 * have agreed on a number by other means: no communication, each of them calls it when it likes. number: 1 .. 2^32 - 1,
 * never used by another communicator of any of these ranks. Whoever takes the largest that tutti_comm_next_number has
 * said to any of them is safe. Errors: TUTTI_ERR_ARGUMENT, TUTTI_ERR_MEMORY, on this rank only. */
TUTTI_API tutti_status tutti_comm_create_group(tutti_context *context, int64_t number, int64_t count,
                                               const int64_t *ranks, tutti_comm **comm);
/* Greater than the number of every communicator that this rank has made. -1 where context is NULL. */
TUTTI_API int64_t tutti_comm_next_number(const tutti_context *context);
/* Frees it. Its graphs must have been destroyed. Not collective, never blocks. Accepts NULL. Requests that are not
 * complete end with TUTTI_ERR_ABORTED, here and on the others. A mismatch that no call has told this rank is logged,
 * and in tutti_last_error. In a fork of the process that has joined the job it does nothing, like tutti_free. */
TUTTI_API void tutti_comm_destroy(tutti_comm *comm);
/* Breaks it on all ranks: outstanding and later calls return TUTTI_ERR_ABORTED, with this rank's reason in the text. */
TUTTI_API void tutti_comm_abort(tutti_comm *comm, const char *reason);

/* This rank does not make the communicator's next call, which others do. Never blocks. Ranks that have not come through
 * that call get TUTTI_ERR_REFUSED in it, with this rank and its reason in the text, and all later calls work on all
 * ranks, but for these, which are TUTTI_ERR_REFUSED too: calls that some rank was through with before it heard of the
 * refusal, on those that were not; reductions and compositions in place that were under way, on all. Between machines
 * a rank in that call waits until those that are through with it have come to a later call, or wait in any, or have
 * destroyed it. Where the context's transport has no shared cells the communicator is broken,
 * as by tutti_comm_abort. */
TUTTI_API void tutti_comm_refuse(tutti_comm *comm, const char *reason);
/* -1 where comm is NULL. */
TUTTI_API int64_t tutti_comm_rank(const tutti_comm *comm);
TUTTI_API int64_t tutti_comm_size(const tutti_comm *comm);
/* Parameters (docs/plan.md) for every later call of one collective ("allreduce", ...), instead of the profile's choice;
 * NULL text returns to the profile. Persistent requests keep what they were made with. Every rank must set the same.
 * Errors: TUTTI_ERR_PLAN with what is wrong in the text. */
TUTTI_API tutti_status tutti_comm_set_params(tutti_comm *comm, const char *collective, const char *text);

/* The parameters with which the last call on comm was started, as text (docs/plan.md); "" before the first. Equal
 * pointers are equal texts; valid until parameters are set or comm is destroyed. */
TUTTI_API const char *tutti_comm_last_params(const tutti_comm *comm);
/* The media by which this rank sent in the last call on comm that is complete (docs/plan.md), such as "cell" or
 * "lent+slot"; "" where it sent nothing, and before the first. A text of static storage; equal pointers are equal
 * texts. */
TUTTI_API const char *tutti_comm_last_media(const tutti_comm *comm);

/* ---- graphs: who is whose neighbor in the tutti_neighbor_... collectives ---- */

/* Edges come from `sources` (in_count ranks of comm) and go to `destinations` (out_count ranks). A rank may be its own
 * neighbor, and one more than once: the n-th edge from i to j in i's destinations is the n-th one in j's sources.
 * Collective; the arrays are not kept. TUTTI_ERR_ARGUMENT on all ranks where a rank is none of comm's or an edge has
 * only one end; the text names rank and edge. */
TUTTI_API tutti_status tutti_graph_create(tutti_comm *comm, int64_t in_count, const int64_t *sources, int64_t out_count,
                                          const int64_t *destinations, tutti_graph **graph);
/* The same where each rank knows all edges by other means: no communication, each rank calls it when it likes, in the
 * order of the communicator's other graphs. in_counts[r], out_counts[r]: of rank r. edges: rank 0's sources, then its
 * destinations, then rank 1's, ... All of it is equal on all ranks, and so are errors but TUTTI_ERR_MEMORY. */
TUTTI_API tutti_status tutti_graph_create_known(tutti_comm *comm, const int64_t *in_counts, const int64_t *out_counts,
                                                const int64_t *edges, tutti_graph **graph);
/* Its requests must have completed, persistent ones must have been destroyed. Not collective. Accepts NULL. */
TUTTI_API void tutti_graph_destroy(tutti_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
