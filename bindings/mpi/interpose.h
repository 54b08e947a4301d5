/* bindings/mpi/interpose.h - the MPI interposer as its own files see it.
 *
 *     MPI_Allreduce(...)   wrappers (generated from a table): fills in a tt_mpi_call
 *       -> serve.c         types.c, ops.c, stage.c: what tutti is given instead of MPI's types, operators and layouts
 *       -> tutti_...       blocking; or a request, which request.c makes an MPI_Request of
 *       -> PMPI_Allreduce  where tutti does not serve the call: decided from what is equal on all ranks
 *
 * Compiled once against each MPI's <mpi.h>; of tutti it uses the public headers only. Handles are compared and stored,
 * never looked into. */
#ifndef TT_MPI_INTERPOSE_H
#define TT_MPI_INTERPOSE_H

#include <tutti/tutti.h>

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- calls ---- */

/* name in MPI, in tutti. The order of statistics and of everything else. */
#define TT_MPI_COLLECTIVES(ROW)                                                                                        \
  ROW(ALLREDUCE, "allreduce")                                                                                          \
  ROW(REDUCE, "reduce")                                                                                                \
  ROW(REDUCE_SCATTER, "reduce_scatter")                                                                                \
  ROW(REDUCE_SCATTER_BLOCK, "reduce_scatter_block")                                                                    \
  ROW(SCAN, "scan")                                                                                                    \
  ROW(EXSCAN, "exscan")                                                                                                \
  ROW(BCAST, "bcast")                                                                                                  \
  ROW(GATHER, "gather")                                                                                                \
  ROW(GATHERV, "gatherv")                                                                                              \
  ROW(SCATTER, "scatter")                                                                                              \
  ROW(SCATTERV, "scatterv")                                                                                            \
  ROW(ALLGATHER, "allgather")                                                                                          \
  ROW(ALLGATHERV, "allgatherv")                                                                                        \
  ROW(ALLTOALL, "alltoall")                                                                                            \
  ROW(ALLTOALLV, "alltoallv")                                                                                          \
  ROW(ALLTOALLW, "alltoallw")                                                                                          \
  ROW(BARRIER, "barrier")                                                                                              \
  ROW(NEIGHBOR_ALLGATHER, "neighbor_allgather")                                                                        \
  ROW(NEIGHBOR_ALLGATHERV, "neighbor_allgatherv")                                                                      \
  ROW(NEIGHBOR_ALLTOALL, "neighbor_alltoall")                                                                          \
  ROW(NEIGHBOR_ALLTOALLV, "neighbor_alltoallv")                                                                        \
  ROW(NEIGHBOR_ALLTOALLW, "neighbor_alltoallw")

typedef enum tt_mpi_collective {
#define TT_MPI_ENUMERATOR(NAME, text) TT_MPI_##NAME,
  TT_MPI_COLLECTIVES(TT_MPI_ENUMERATOR)
#undef TT_MPI_ENUMERATOR
      TT_MPI_COLLECTIVE_COUNT
} tt_mpi_collective;

/* An argument that is an array of int, or of MPI_Count or MPI_Aint (wide). */
typedef struct tt_mpi_list {
  const void *value; /* NULL: not an argument of this call */
  bool wide;
} tt_mpi_list;

static inline int64_t tt_mpi_at(tt_mpi_list list, int64_t n) {
  return list.wide ? ((const int64_t *)list.value)[n] : ((const int *)list.value)[n];
}

/* What a call sends, or what it receives, as the program passed it. */
typedef struct tt_mpi_side {
  const void *buffer;        /* may be MPI_IN_PLACE or MPI_BOTTOM */
  int64_t count;             /* of one block; calls with lists do not use it */
  tt_mpi_list counts;        /* of blocks */
  tt_mpi_list offsets;       /* in extents of the type; in bytes with `types` */
  MPI_Datatype type;         /* calls with one type */
  const MPI_Datatype *types; /* ...w */
} tt_mpi_side;

/* A collective call as the program made it: nothing has been checked. Reductions use out.count (out.counts) and
 * out.type; bcast has its buffer in `out` on all ranks, and nothing in `in`. */
typedef struct tt_mpi_call {
  tt_mpi_collective collective;
  tt_mpi_side in, out;
  MPI_Op op;
  int root;
  MPI_Comm comm;
} tt_mpi_call;

/* ---- serve.c: called by the wrappers ---- */

/* True: tutti has done the call (or failed at it) and *result is what the MPI function returns. False: the caller calls
 * PMPI_ between tt_mpi_pass_begin and tt_mpi_pass_end. */
bool tt_mpi_serve(const tt_mpi_call *call, int *result);
bool tt_mpi_serve_start(const tt_mpi_call *call, MPI_Request *request, int *result);
bool tt_mpi_serve_init(const tt_mpi_call *call, MPI_Request *request, int *result); /* persistent */
/* Why calls of one rank alone pass through: the statistics set them apart. */
extern const char *const tt_mpi_one_rank;

/* ---- comm.c ---- */

/* What is kept with an MPI communicator, found by its handle, freed when MPI and all works have done with it. */
typedef struct tt_mpi_comm {
  uintptr_t key;    /* comm.c's: the handle, in the table. First */
  tutti_comm *comm; /* NULL: its calls pass through */
  const char *why;  /* they do: a text of static storage, for the statistics */
  MPI_Comm mpi;     /* MPI_COMM_NULL: the program has freed it, while works on it go on */
  int rank, size;
  int topology;                  /* tt_mpi_topology */
  tutti_graph *graph;            /* neighbors; NULL: neighborhood calls pass through */
  const char *why_not;           /* they do, else NULL */
  int in_count, out_count;       /* edges of the graph; of blocks in MPI's buffers there may be more (MPI_PROC_NULL) */
  const int *in_slot, *out_slot; /* the block in MPI's buffers of each edge. NULL on all ranks: block n is edge n's */
  bool repeats; /* somewhere a rank is a neighbor twice. MPIs differ in which of several blocks becomes which, between
                   their own functions even: what is not an allgather passes through */
  /* ---- comm.c ---- */
  int64_t children, children_known, child; /* made of it; that have a number; the next one's */
  int64_t uses;                            /* MPI's and those of works */
  struct tt_mpi_comm *next;
  /* ---- request.c ---- */
  struct tt_mpi_work *first, *last; /* that run and are not persistent, in the order of their starts */
  struct tt_mpi_comm *busy;         /* another communicator that has some */
} tt_mpi_comm;

/* What is kept with that handle; NULL: MPI_COMM_NULL, or before MPI_Init or after MPI_Finalize, or TUTTI_MPI=off. One
 * comparison for the communicator that was used last. Never NULL for others: what tutti does not know passes through.
 */
tt_mpi_comm *tt_mpi_comm_of(MPI_Comm comm);
/* A work keeps its communicator: programs free communicators whose calls are not complete. Any thread. */
tt_mpi_comm *tt_mpi_comm_keep(tt_mpi_comm *comm);
void tt_mpi_comm_release(tt_mpi_comm *comm); /* accepts NULL */
/* After MPI has made a communicator: collective over it, all its ranks are in the call that made it, and over the
 * parent, unless that is MPI_COMM_NULL. comm: MPI_COMM_NULL where this rank is none of its. topology: of which kind it
 * is where MPI says that it has one; MPI_UNDEFINED: the one that MPI says. Without tt_mpi_lock. */
void tt_mpi_comm_made(MPI_Comm parent, MPI_Comm comm, int topology);
/* MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH, or MPI_UNDEFINED. Open MPI 5.0 says of a graph that was made over a grid, and of
 * its copies, that it is a grid, and reads wrong memory when it is asked for the grid's dimensions. */
int tt_mpi_topology(MPI_Comm comm);
/* Whether tutti has joined together with all its ranks. */
bool tt_mpi_comm_is_known(MPI_Comm comm);
/* It passes through, for that reason: a text of static storage. */
void tt_mpi_comm_refuse(MPI_Comm comm, const char *why);
/* The same for MPI_Comm_idup: after it, with the parent; and when its request, by the value that it had, is complete.
 * tt_mpi.idups says whether there are any. */
void tt_mpi_comm_idup_posted(MPI_Comm parent, MPI_Comm made, MPI_Request request); /* both MPIs have it at once */
void tt_mpi_comm_idup_done(MPI_Request request);
/* After MPI was asked for the status of several requests. */
void tt_mpi_request_asked(int count, const MPI_Request *requests);
/* For state.c: makes those of MPI_COMM_WORLD and MPI_COMM_SELF, if the program has them; destroys all that are left. */
void tt_mpi_comm_begin(void);
void tt_mpi_comm_end(void);

/* ---- neighbors.c ---- */

/* The graph of a communicator with a topology; collective like tt_mpi_comm_made. */
void tt_mpi_neighbors_make(tt_mpi_comm *comm);

/* ---- state.c ---- */

typedef struct tt_mpi_state {
  tutti_context *context;      /* NULL: nothing is served */
  const char *off;             /* why; a text of static storage */
  bool threads;                /* the program may call MPI from several threads at once: see tt_mpi_lock */
  bool nodes;                  /* the job has ranks on several machines */
  bool tcp;                    /* tutti's transport is to reach them, instead of messages of MPI */
  uint64_t only;               /* bits of tt_mpi_collective: TUTTI_MPI_ONLY */
  bool statistics;             /* TUTTI_STATS */
  MPI_Comm self;               /* private: requests complete through it (request.c) */
  MPI_Comm world;              /* private: all ranks that have joined, for transport.c and boot. MPI_COMM_NULL: none */
  bool session;                /* they have by a session (session.c), not by MPI_Init */
  bool ended;                  /* tutti has left, and does not join again */
  MPI_Group world_group;       /* to tell job ranks */
  _Atomic int64_t idups;       /* MPI_Comm_idup that are not complete */
  _Atomic int64_t outstanding; /* blocking MPI calls must move something on: tutti requests that run, failed ones that
                                  the program has not been told of, and idups */
} tt_mpi_state;

extern tt_mpi_state tt_mpi;

/* Whether MPI_Reduce_local may be called: Open MPI's looks into MPI_COMM_SELF, which sessions alone do not make. */
static inline bool tt_mpi_reduces_locally(void) {
#ifdef OPEN_MPI
  return !tt_mpi.session;
#else
  return true;
#endif
}

/* Wrap MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Query_thread: after and before the PMPI_ calls. over: the ranks
 * that begin together. */
void tt_mpi_begin(MPI_Comm over, int required, int provided);
void tt_mpi_end(void);
/* ---- session.c: after MPI_Comm_create_from_group ---- */
void tt_mpi_session_comm_made(MPI_Comm comm);

/* The thread level to ask MPI for: more than the program's where the job spans machines, as transport.c needs. */
int tt_mpi_thread_level(int required);

/* ---- transport.c, boot in state.c ---- */

/* tutti over point-to-point messages of a private communicator; config: MPI_Comm *. */
const tutti_transport_ops *tt_mpi_transport(void);

/* ---- stage.c: data that does not lie as tutti wants it is packed first and unpacked afterwards ---- */

typedef struct tt_mpi_work tt_mpi_work;

/* A call that serve.c has prepared: tutti's request, and memory for what is packed. */
struct tt_mpi_work {
  tutti_request *request;
  tt_mpi_comm *comm;
  tt_mpi_collective collective;
  int64_t bytes; /* for tt_mpi_count_served */
  bool persistent;
  void (*pack)(tt_mpi_work *work);   /* before each start; NULL: nothing to do */
  void (*unpack)(tt_mpi_work *work); /* after each completion; NULL: nothing to do */
  void *stage;                       /* serve.c's and stage.c's own */
  tutti_status status;               /* of the call, when it is complete */
  char *text;                        /* of the error; NULL: none */
  int64_t began_ns;                  /* for the statistics */
  const char *params, *media;        /* the same: what ran, when it is complete */
  /* ---- request.c ---- */
  MPI_Request mpi;
  int tag;
  bool running;
  bool over;     /* tutti's request is complete, and has told its status */
  bool detached; /* by MPI_Request_free while it ran */
  tt_mpi_work *next, *chain;
};

/* With tutti's request and the stage; accepts NULL. Called without tt_mpi_lock. */
void tt_mpi_work_destroy(tt_mpi_work *work);

/* ---- request.c, progress.c ---- */

/* `work` has been started (non-blocking) or is ready for MPI_Start (persistent); its MPI_Request. Keeps the work: what
 * is not persistent is unpacked, counted and destroyed when complete; persistent ones are destroyed by
 * MPI_Request_free. */
int tt_mpi_request_make_take(tt_mpi_work *work, MPI_Request *request);
/* A blocking call where others are outstanding, or where other threads call: waits until the started work is complete
 * (and unpacked, not destroyed), moving on everything else. */
void tt_mpi_request_finish(tt_mpi_work *work);
/* Before MPI_Finalize: waits for what still runs (MPI_Request_free), ends the helper thread, frees everything. */
void tt_mpi_request_end(void);
/* Moves on all outstanding works as far as they go, and completes the MPI_Requests of those that are done. Not
 * blocking. */
void tt_mpi_progress(void);
/* The context's `idle`: lets MPI move on while a call of tutti waits. */
void tt_mpi_idle(void *user);
/* Around each PMPI_ call that may block and that is not looped over its non-blocking form: a helper thread moves the
 * outstanding works on meanwhile. One load where there are none. */
void tt_mpi_pass_begin(void);
void tt_mpi_pass_end(void);

/* Around calls of tutti; does something only where tt_mpi.threads, or while a helper thread is at work. Not recursive.
 */
void tt_mpi_lock(void);
void tt_mpi_unlock(void);
/* A blocking call may go straight to tutti's blocking function: no other thread, nothing outstanding. */
static inline bool tt_mpi_alone(void) {
  return !tt_mpi.threads && __atomic_load_n((int64_t *)&tt_mpi.outstanding, __ATOMIC_RELAXED) == 0;
}

/* ---- error.c ---- */

/* Turns an error of tutti into one of MPI on that communicator: writes the whole text to stderr, calls the
 * communicator's error handler (which may not return) with an MPI error code whose string begins as the text does, and
 * returns the code. */
int tt_mpi_fail(const tt_mpi_comm *comm, tutti_status status, const char *text);
/* What an MPI would detect, as an error of that class of its own; says nothing where errors are returned. */
int tt_mpi_fail_class(const tt_mpi_comm *comm, int class, const char *text);
/* For memory that nobody can do without; other ranks would wait for this one. */
_Noreturn void tt_mpi_out_of_memory(void);

/* ---- stats.c ---- */

/* A served call: bytes that this rank contributes or gets, whichever is more. params: tutti_comm_last_params, or NULL
 * where nothing ran. Cheap; does nothing without TUTTI_STATS. */
void tt_mpi_count_served(tt_mpi_collective collective, int64_t bytes, int64_t ns, const char *params,
                         const char *media);
/* A call that passed through, and why (static storage). */
void tt_mpi_count_passed(tt_mpi_collective collective, const char *why);
/* At MPI_Finalize: gathers over all ranks by PMPI_, rank 0 prints. */
void tt_mpi_stats_print(void);
int64_t tt_mpi_clock_ns(void); /* 0 without TUTTI_STATS */

#endif
