/* tutti/comm.h - communicators (ordered groups of ranks), and graphs over them. */
#ifndef TUTTI_COMM_H
#define TUTTI_COMM_H

#include <tutti/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tutti_comm tutti_comm;
typedef struct tutti_graph tutti_graph;

/* Makes a communicator of all ranks. Collective, blocking; it fails after the time limit of the context's creation. */
TUTTI_API tutti_status tutti_comm_create(tutti_context *context, tutti_comm **comm);
/* Makes a communicator of the ranks with equal color >= 0, ordered by (key, rank). color < 0: *part = NULL. Collective,
 * blocking, with the same time limit. It is cheap: the first call on a communicator sets up what else it needs. A rank
 * that has no memory for its part gets TUTTI_ERR_MEMORY here or at its first call; the other ranks get it at their
 * first call on the new communicator. */
TUTTI_API tutti_status tutti_comm_split(tutti_comm *comm, int64_t color, int64_t key, tutti_comm **part);
/* Numbers of communicators from here on are the program's own: tutti_comm_create and tutti_comm_split never take one,
 * so that a program may derive them from what its ranks know. */
enum { TUTTI_OWN_NUMBERS = 1 << 28 };

/* Makes a communicator of ranks[0 .. count-1] of the context without communication: these ranks have agreed on a number
 * by other means, and each may call it at any time. ranks: equal on all of them, each rank once, this rank among them.
 * number: 1 .. 2^32 - 1, used by no other communicator of any of these ranks, and by none that was destroyed; the
 * largest result of tutti_comm_next_number on these ranks is safe. Errors: TUTTI_ERR_ARGUMENT, TUTTI_ERR_MEMORY, on
 * this rank only. */
TUTTI_API tutti_status tutti_comm_create_group(tutti_context *context, int64_t number, int64_t count,
                                               const int64_t *ranks, tutti_comm **comm);
/* A number greater than that of every communicator that this rank has made below TUTTI_OWN_NUMBERS; -1 if context is
 * NULL. */
TUTTI_API int64_t tutti_comm_next_number(const tutti_context *context);
/* Frees the communicator; its graphs must have been destroyed before. Local, accepts NULL. Incomplete requests end with
 * TUTTI_ERR_ABORTED, here and on the other ranks; telling those of other machines may take 0.3 s. If no call has
 * reported a mismatch to this rank yet, the mismatch is logged and tutti_last_error returns it. In a fork of the
 * process that joined the job it does nothing, like tutti_free. */
TUTTI_API void tutti_comm_destroy(tutti_comm *comm);
/* Breaks the communicator on all ranks: outstanding and later calls return TUTTI_ERR_ABORTED with this rank's reason in
 * the text. */
TUTTI_API void tutti_comm_abort(tutti_comm *comm, const char *reason);

/* Skips the communicator's next call on this rank, though other ranks make it. Never blocks. Ranks that have not
 * completed that call get TUTTI_ERR_REFUSED from it, with this rank and its reason in the text. Later calls work on all
 * ranks, except for these, which return TUTTI_ERR_REFUSED too:
 *   - a call that some ranks completed before they heard of the refusal: on the ranks that had not completed it;
 *   - a reduction or a composition in place that was under way: on all ranks.
 * Between machines, a rank in the skipped call waits until every rank that has completed it makes a later call on the
 * communicator, waits in any call, or destroys the communicator. Where the context's transport has no shared cells, the
 * communicator is broken as by tutti_comm_abort. */
TUTTI_API void tutti_comm_refuse(tutti_comm *comm, const char *reason);
/* This rank, 0 .. size-1, and the number of ranks; -1 if comm is NULL. */
TUTTI_API int64_t tutti_comm_rank(const tutti_comm *comm);
TUTTI_API int64_t tutti_comm_size(const tutti_comm *comm);
/* Sets the parameters (docs/plan.md) of every later call of one collective ("allreduce", ...), instead of the profile's
 * choice. text == NULL returns to the profile. Persistent requests keep the parameters they were made with. Every rank
 * must set the same text. Local. TUTTI_ERR_PLAN: the text says what is wrong. */
TUTTI_API tutti_status tutti_comm_set_params(tutti_comm *comm, const char *collective, const char *text);

/* The parameters of the last call that started on comm, or after tutti_wait and tutti_test have completed a request of
 * it, those of that one; as text (docs/plan.md); "" before the first call. Equal pointers are equal texts. Valid until
 * parameters are set or comm is destroyed. */
TUTTI_API const char *tutti_comm_last_params(const tutti_comm *comm);
/* Who has decided that (docs/tuning.md): "tutti_comm_set_params", "TUTTI_PARAMS", "wisdom FILE:LINE", "learned
 * FILE:LINE", "model FILE:LINE", "profile FILE:LINE" (default.json is the shipped one) or "default"; for a user's
 * composition "tutti_composition". Where parameters of a file make no plan for the call: "default; no plan from wisdom
 * FILE:LINE". `tutti explain` says the same of a call before it is made. "" before the first call, and where there is
 * no memory. Equal pointers are equal texts, and valid until comm is destroyed. */
TUTTI_API const char *tutti_comm_last_authority(tutti_comm *comm);
/* The same of a call that is not made: *params and *authority are what tutti_comm_last_params and
 * tutti_comm_last_authority would say after it, and live as long. collective: "allreduce", ...; not a neighbor one,
 * which depends on its graph. bytes: of the whole vector, p blocks where each rank has one for each other rank, or gets
 * one of each; not used where ranks do not know each other's lengths, nor for a barrier. root: for collectives that
 * have one. commutes: 0 if the operator does not. Local; makes the plan, which the call then finds. TUTTI_ERR_PLAN: the
 * call would get it. */
TUTTI_API tutti_status tutti_comm_explain(tutti_comm *comm, const char *collective, int64_t bytes, int64_t root,
                                          int commutes, const char **params, const char **authority);
/* The media by which this rank sent in the last complete call on comm, or in that request (docs/plan.md), such as
 * "cell" or "lent+slot"; "" if it sent nothing, and before the first call. Static storage; equal pointers are equal
 * texts. */
TUTTI_API const char *tutti_comm_last_media(const tutti_comm *comm);

/* ---- calls that another library makes faster ---- */

/* Lengths of calls. Equal objects have equal bytes; all else of the content is tutti's. No bit set: no length. */
typedef struct tutti_lengths {
  uint64_t low, high;
} tutti_lengths;

/* The lengths at which another library, which the program can call instead, was measured to be faster than tutti for
 * one collective ("allreduce", ...) on communicators like comm (docs/tuning.md). library: its name and version, such as
 * "openmpi-4.1". Local; all ranks get the same. None if nothing was measured, or if the user asks for what only tutti
 * does: if rank 0 has TUTTI_PARAMS, TUTTI_PROFILE, TUTTI_VERIFY or TUTTI_TIMEOUT. */
TUTTI_API tutti_status tutti_comm_outside(tutti_comm *comm, const char *library, const char *collective,
                                          tutti_lengths *lengths);
/* 1 if calls with a vector of so many bytes are among them, else 0. The whole vector: p blocks where each rank has one
 * for each other rank, or gets one of each. A barrier has 8. Takes a few nanoseconds. */
TUTTI_API int tutti_lengths_have(const tutti_lengths *lengths, int64_t bytes);

/* ---- graphs: the neighbors of each rank in the tutti_neighbor_... collectives ---- */

/* Makes a graph of edges from `sources` (in_count ranks of comm) to this rank and from this rank to `destinations`
 * (out_count ranks). A rank may be its own neighbor, and may be a neighbor several times: the n-th edge from i to j in
 * i's destinations is the n-th one in j's sources. Collective; the arrays are borrowed during the call. All ranks get
 * TUTTI_ERR_ARGUMENT if a neighbor is not a rank of comm or an edge has only one end; the text names the rank and the
 * edge. */
TUTTI_API tutti_status tutti_graph_create(tutti_comm *comm, int64_t in_count, const int64_t *sources, int64_t out_count,
                                          const int64_t *destinations, tutti_graph **graph);
/* As tutti_graph_create, without communication: each rank knows all edges by other means. Each rank may call it at any
 * time, but all ranks make the graphs of a communicator in the same order. in_counts[r], out_counts[r]: of rank r.
 * edges: rank 0's sources, then its destinations, then rank 1's, ... All arguments are equal on all ranks, and so are
 * errors except TUTTI_ERR_MEMORY. */
TUTTI_API tutti_status tutti_graph_create_known(tutti_comm *comm, const int64_t *in_counts, const int64_t *out_counts,
                                                const int64_t *edges, tutti_graph **graph);
/* Frees the graph. Its requests must be complete, its persistent requests destroyed. Local, accepts NULL. */
TUTTI_API void tutti_graph_destroy(tutti_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
