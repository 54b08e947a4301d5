/* job/comm.h - a communicator: its ranks, and what is open for them. */
#ifndef TT_JOB_COMM_H
#define TT_JOB_COMM_H

#include "exec/exec.h"
#include "job/context.h"
#include "job/team.h"

/* What others keep here, each its own. */
typedef struct tt_board tt_board;
typedef union tt_record tt_record;
typedef struct tt_notes tt_notes;
typedef struct tt_stops tt_stops;
typedef struct tt_entry tt_entry;
typedef struct tt_bound tt_bound;
typedef struct tt_listed tt_listed;
typedef struct tt_tally tt_tally;
typedef struct tt_params_text tt_params_text;

/* Who has decided about a call, in short. */
typedef struct tt_decision {
  const char *source; /* of the choice; NULL: there was no call */
  tt_authority by;    /* TT_AUTHORITY_COUNT: it is a user's composition */
  bool passed_over;   /* what was chosen makes no plan: it runs as if nobody had decided */
} tt_decision;

/* A user's communicator; or a side communicator, which a persistent request has for itself (call/side.c): that one has
 * calls, streams, cells and records of its own, and borrows all else from the user's. */
struct tutti_comm {
  tutti_context *context;
  uint64_t id;
  int64_t rank, size;
  tt_team *team;           /* its ranks; what of it is needed often follows */
  const int64_t *job_rank; /* of each rank */
  const tt_topo *topo;
  const tutti_transport_ops *ops; /* the context's, or what joins the ranks of one machine */
  void *transport;
  const bool *far;          /* [size]: on another machine */
  bool apart;               /* some are */
  int64_t head;             /* the lowest rank on this machine */
  tt_stream_table *streams; /* NULL: not prepared yet */
  struct {
    tt_board *
        *board; /* [size]; of ranks on other machines what they have told, or NULL. NULL: no shared cells at all */
    tt_record **later;  /* [size]: of each rank [TT_RECORDS], of call n: [n % TT_RECORDS]; NULL as boards are, and until
                           the first call that needs them */
    tt_record **record; /* of a side communicator, [size]: one of each rank, of the last start; NULL where nothing is
                           known */
    uint64_t agreed;    /* up to that call no two ranks differ */
    tt_notes *notes;    /* NULL: nothing was told yet */
    tutti_status broken;
    char *broken_text; /* NULL where not broken, or where there was no memory for it */
  } agree;
  struct {
    tt_stops *stops;        /* NULL: nothing was refused so far, as far as is known */
    uint32_t epoch;         /* how often all ranks have begun anew */
    uint64_t over;          /* calls up to this one are, since it was refused or another one before */
    uint64_t first_history; /* of the epoch */
    bool settling;          /* waits for others to stop */
  } refused;
  struct {
    uint64_t yields; /* so far; neighbours are looked for now and then */
    bool crowded;    /* ranks share cores, as far as is known */
  } wait;
  struct {
    tt_entry *entries;
    tt_bound *bound;      /* those made before, by what they are: call/recall.c */
    uint64_t bound_count; /* a power of two, or 0 */
    tt_bound *creation;   /* the allgather by which communicators are made; NULL: none so far */
    bool creates;         /* the call under way makes a communicator or a graph */
    bool busy;            /* a blocking call waits */
    unsigned char *copy;  /* of an `in` that its `out` replaces */
    size_t copy_bytes;
    bool copy_gaps;       /* calls with long gaps have used it */
    uint64_t last_number; /* of the calls posted so far */
    uint64_t history;     /* hash of their keys: ranks that once called different things never agree again */
    uint64_t token[2];    /* the barrier's block, in and out */
    char *params[TT_COLLECTIVE_COUNT]; /* set by tutti_comm_set_params */
    tt_params_text *texts;
    const char *last_params;     /* of the call started last, or of a request that was told to be done since */
    tt_decision last_decision;   /* the same */
    _Atomic tt_media last_media; /* by which this rank sent in one that has ended; any thread may ask: relaxed */
    tt_tally *tally;             /* NULL: nobody wants to know */
  } calls;
  struct {
    uint64_t moves;  /* of requests so far */
    int64_t waiters; /* threads in tutti_wait for one of its requests */
    tutti_request *head, *tail, *pool;
    tutti_request *all; /* that were ever made, through `other` */
  } queue;
  struct {
    tutti_graph *list;
    uint64_t last; /* number of the one made last */
  } graphs;
  struct {
    uint64_t count;    /* of persistent requests that were made on it, */
    uint64_t keys;     /* and a hash of their keys, which goes into those of later calls */
    tutti_comm *sides; /* of those that there are */
  } persistent;
  struct {
    tutti_comm *main;          /* the user's; NULL: this is one, and the rest of this is unused */
    tutti_comm *next, *before; /* of `main` */
    uint64_t base;             /* the first of its ids of streams and cells */
    uint64_t init;             /* the number of its request: which of those made on `main` it is; from 1 */
    tutti_comm *next_running;
    bool is_listed; /* it is in the context's list of those that have something to move */
  } side;
  tutti_comm *next, *before; /* in the context's list */
};

struct tutti_graph {
  tutti_comm *comm;
  uint64_t number;             /* on its communicator, from 1 */
  int64_t in_count, out_count; /* this rank's sources and destinations */
  int64_t *in_edge, *out_edge; /* the numbers of their edges, in the user's order */
  int64_t self_count;          /* edges from this rank to itself */
  int64_t *self_in, *self_out; /* where they are in in_edge and out_edge */
  int32_t *from, *to;          /* of all edges */
  tt_graph all;
  tt_arena arena;
  bool ended;           /* by the user; kept while calls on it may be told of */
  uint64_t last_number; /* ended: of the communicator's last call before */
  tutti_graph *next;    /* of its communicator */
};

/* The user's communicator: of a side communicator, the one that it belongs to. */
static inline tutti_comm *tt_comm_main(tutti_comm *comm) { return comm->side.main ? comm->side.main : comm; }
#define TT_SIDE_IDS ((uint64_t)1 << 16) /* of streams and cells */
/* Of a communicator's 2^32 ids: from here on persistent requests of others may have them, but for the last ones. */
#define TT_COMMON_IDS ((uint64_t)0x7ff8 << 16)
#define TT_LAST_IDS ((uint64_t)1 << 19)
/* The first of its ids of streams and cells. */
static inline uint64_t tt_comm_base(const tutti_comm *comm) {
  return comm->side.main ? comm->side.base : comm->id << 32;
}
/* A cell of so many bytes for each rank, shared by those of this machine; NULL for others. id: from tt_comm_base on. */
tutti_status tt_comm_open_cells(const tutti_comm *comm, uint32_t id, size_t bytes, void **cell);
/* Frees, too, what stands in `cell` for ranks of other machines: this rank's copies of what they say. */
void tt_comm_close_cells(const tutti_comm *comm, uint32_t id, void **cell);
/* Its stream table, which is empty. */
tutti_status tt_comm_open_streams(tutti_comm *comm);
/* TUTTI_ERR_MEMORY, with a text that says for what. */
tutti_status tt_comm_no_memory(const tutti_comm *comm);
/* Where its ranks are, and by which transport they reach each other. */
tutti_status tt_comm_place(tutti_comm *comm);
/* Which rank of it has that rank in the job; -1: none. */
int64_t tt_comm_rank_of(const tutti_comm *comm, int64_t job_rank);
#define TT_EPOCHS_APART 1024 /* two ranks, at most: ids of epochs twice as far apart are the same */
/* Streams and cells of that epoch, instead of those of an earlier one. */
tutti_status tt_comm_renew(tutti_comm *comm, uint32_t epoch);
void tt_comm_close_epoch(const tutti_comm *comm);
/* The communicator is destroyed: what other machines have sent for it is forgotten some communicators later, since more
 * may be on its way. */
void tt_comm_bury(tutti_comm *comm);
/* One with a number that was there before is made. */
void tt_comm_raise(tutti_context *context, uint64_t id);
/* Bytes of a slot, where the fullest machine has so many of the ranks; apart: there are several. */
size_t tt_comm_slot_bytes(int64_t ranks, bool apart);
/* Of those that persistent requests have; NULL: none. */
tutti_comm *tt_comm_side(const tutti_comm *comm, uint64_t init);

#endif
