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
/* Frees it. Outstanding requests on it must have completed, its graphs must have been destroyed. Not collective, never
 * blocks. Accepts NULL. A mismatch that no call has told this rank is logged, and in tutti_last_error. */
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

/* ---- graphs: who is whose neighbor in the tutti_neighbor_... collectives ---- */

/* Edges come from `sources` (in_count ranks of comm) and go to `destinations` (out_count ranks). A rank may be its own
 * neighbor, and one more than once: the n-th edge from i to j in i's destinations is the n-th one in j's sources.
 * Collective; the arrays are not kept. TUTTI_ERR_ARGUMENT on all ranks where a rank is none of comm's or an edge has
 * only one end; the text names rank and edge. */
TUTTI_API tutti_status tutti_graph_create(tutti_comm *comm, int64_t in_count, const int64_t *sources, int64_t out_count,
                                          const int64_t *destinations, tutti_graph **graph);
/* Its requests must have completed, persistent ones must have been destroyed. Not collective. Accepts NULL. */
TUTTI_API void tutti_graph_destroy(tutti_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
