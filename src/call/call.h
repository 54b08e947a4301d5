/* call/call.h - a collective call, from its arguments to its end.
 *
 * Plain calls are a count. Those whose blocks differ (v, w) or that go over a graph hang lists on it, so that the plain
 * ones stay small. What `in` and `out` of each collective hold is a row of the table in compose/compose.c; checks, in
 * place positions and block tables all read it from there. */
#ifndef TT_CALL_CALL_H
#define TT_CALL_CALL_H

#include "agree/agree.h"
#include "bind/bind.h"
#include "compose/compose.h"
#include "exec/exec.h"
#include "job/job.h"
#include "lower/lower.h"
#include "verify/verify.h"
#include "wait/wait.h"

/* What the user said of the blocks of `in`, or of `out`. */
typedef struct tt_list {
  const int64_t *count;   /* of each block */
  const int64_t *offset;  /* of each block; NULL: one after the other */
  const tutti_type *type; /* of each block, and offsets are bytes; NULL: all have the call's */
  int64_t own;            /* where the side is one block: its count */
} tt_list;

typedef struct tt_lists {
  tt_list side[2]; /* TT_IN, TT_OUT */
  tutti_graph *graph;
} tt_lists;

typedef struct tt_call {
  const void *in;
  void *out;
  int64_t count;
  int64_t root;
  const tt_lists *lists; /* NULL: a plain call; borrowed */
  tt_collective collective;
  int32_t type, op; /* tutti_type, tutti_op; unchecked at first, as all else. TUTTI_BYTE where blocks have types */
  bool in_place;    /* on this rank: changes nothing that another rank sees */
  bool later;       /* only bound now, for a request that will be started */
} tt_call;

/* Whether this rank has that side. */
bool tt_call_has(const tutti_comm *comm, const tt_call *call, tt_buffer side);
/* In place, `in` is copied before anything is written. */
bool tt_call_copies(const tt_call *call);

/* Which bytes of the buffers a call uses, from their beginnings. */
typedef struct tt_places {
  bool reads, writes;      /* this rank's `in`, `out` */
  int64_t begin[2];        /* of the first element, of TT_IN and TT_OUT */
  int64_t end[2];          /* behind the last one; begin: there is none */
  int64_t in_own, out_own; /* in place: in + in_own == out + out_own */
} tt_places;

/* How `in` and `out` lie to each other. */
typedef enum tt_meeting { TT_APART, TT_IN_PLACE, TT_OVERLAPPING } tt_meeting;
tt_meeting tt_call_meeting(const tt_call *call, const tt_places *places);

/* Whether all arguments are in order; names the first that is not. Sets places, and call->in_place where buffers meet
 * at the in place position. comm may be NULL, and whatever a user may pass. */
tutti_status tt_call_check(tutti_comm *comm, tt_call *call, tt_places *places);

/* Records an argument's error of a function, whose name is written as in headers: tutti_all_to_allv for "all-to-allv".
 */
tutti_status tt_call_fail(const char *name, const char *format, ...) TT_PRINTF(2, 3);

/* Whether the operator, one of tutti's or of the user's, combines elements of that type, which is one. name: of the
 * function, for the error. */
tutti_status tt_call_check_op(const tutti_comm *comm, const char *name, int32_t type, int32_t op);

typedef struct tt_block {
  int64_t count, offset; /* in elements of the call's type */
  int64_t bytes, at;     /* the same in bytes */
} tt_block;

typedef struct tt_block_walk { /* {0}: before the first block */
  int64_t next;
  int64_t packed; /* elements of the call's type in the blocks so far */
} tt_block_walk;

int64_t tt_call_block_count(const tutti_comm *comm, const tt_call *call, tt_buffer side);
/* The next block of a side that this rank has. The error names the argument that is wrong; none after tt_call_check. */
tutti_status tt_call_next(const tutti_comm *comm, const tt_call *call, tt_buffer side, tt_block_walk *walk,
                          tt_block *block);

/* A plan as one communicator runs it. Calls with other counts, types and operators share it. */
struct tt_entry {
  tt_entry_key key;
  tt_compiled *compiled; /* the team's, or where there is a graph the entry's; NULL: of a user's composition */
  const tt_composition *composition; /* the same */
  tt_plan *plan;                     /* compiled's; the entry's where that is NULL */
  tt_bound_plan **by_class;          /* the plan bound for each class, when first needed; as the plan, whose they are */
  tt_bound_plan *own[TT_CLASS_COUNT];
  const char *runs;                      /* the parameters; the communicator's */
  uint64_t hash;                         /* of the text that was chosen */
  uint32_t epoch;                        /* of the communicator, when the executors were made */
  bool wide, single_copy;                /* as in tt_compiled */
  tt_executor *executor[TT_CLASS_COUNT]; /* by class; made at the first call that needs it */
  int64_t channels;                      /* as in tt_compiled */
  tt_entry *next;
};

/* A call's plan and all else that repeating it needs; found by what the call is. */
struct tt_bound {
  tt_record said;   /* what the call is, as ranks tell each other; number 0 */
  int64_t count;    /* as the user says */
  int32_t type, op; /* the same */
  bool in_place;
  tt_class blocks; /* of its bound plan */
  bool copies;     /* `in` has to be copied before anything is written */
  tt_places places;
  tt_entry *entry;
  tt_decision decision;
  tt_run run;        /* buffers and call number are set at each start */
  tt_listed *listed; /* in a communicator's table: what a call with lists has besides; NULL: it has none */
};

/* Memory of block tables. */
typedef struct tt_words {
  int64_t *word;
  int64_t count;
} tt_words;

typedef struct tt_operation {
  tt_bound *bound;
  tt_executor *executor; /* its own, once it has started */
  uint64_t number;       /* of the call on its communicator */
  uint64_t key;          /* of this call and all before it */
  uint64_t made;         /* as of the communicator, when it was called */
  bool again;            /* it had begun in an epoch that is over */
  bool copied;           /* its input, where `out` replaces that */
} tt_operation;

typedef enum tt_request_state {
  TT_REQUEST_IDLE,
  TT_REQUEST_QUEUED,
  TT_REQUEST_RUNNING,
  TT_REQUEST_DONE
} tt_request_state;

struct tutti_request {
  tutti_comm *comm;
  tutti_comm *side; /* of a persistent one: its side communicator; NULL: none */
  tt_call call;
  tt_bound bound; /* its own, since others may take the communicator's place */
  tt_words words; /* of its block table */
  tt_operation operation;
  tt_request_state state;
  bool persistent;
  tutti_status status;
  void (*notify)(void *user); /* when it is done; NULL: nobody asked */
  void *notify_user;
  char *refused; /* done, with TUTTI_ERR_REFUSED: its text; NULL: no memory */
  struct {
    const char *params; /* NULL: nothing so far */
    tt_decision decision;
    tt_media media; /* when it is done */
  } ran;
  tt_waiter waiter;            /* of tutti_test */
  struct tutti_request *next;  /* in the communicator's queue, or its pool */
  struct tutti_request *other; /* of the same communicator */
  bool pooled;
};

#define TT_BOUNDS 64 /* at most */

/* ---- tally.c: for measurements and tests, no part of the public interface ---- */

/* From now on it is counted what blocking calls on it send, and foreseen, until one is refused. shared: their buffers
 * are of tutti_alloc. */
tutti_status tt_comm_tally(tutti_comm *comm, bool shared);
/* Since tt_comm_tally, by medium; the counts lie between the two that are foreseen. */
void tt_comm_tallied(const tutti_comm *comm, tt_sent *sent, tt_sent_range *foreseen);
/* Adds the time of calls on it to `spent`, borrowed, from now on; NULL: no longer. For measurements: it is no part of
 * the public interface. Nothing may be outstanding on it. */
tutti_status tt_comm_watch(tutti_comm *comm, tt_spent *spent);
/* Before a run starts. */
tutti_status tt_tally_foresee(tutti_comm *comm, const tt_bound *bound);

/* ---- side.c ---- */
/* Gives a persistent request, which is bound, a side communicator and its executor there. */
tutti_status tt_side_make(tutti_request *request);
/* The persistent request goes: what its calls may still have to say of others' errors, the communicator says. */
void tt_side_end(tutti_comm *side);
void tt_side_close(tutti_comm *side); /* accepts NULL */
/* The first of the 2^16 ids of a communicator's request, counted from 1. number: the communicator's. */
uint64_t tt_side_base(uint64_t number, uint64_t init);
uint64_t tt_side_places(uint64_t number); /* so many requests later its ids are used again */

/* ---- exchange.c ---- */
/* What the making of communicators and graphs needs of a collective: it does not depend on the user's parameters and
 * waits no longer than creation may take. count: elements. */
tutti_status tt_comm_exchange(tutti_comm *comm, const int64_t *mine, int64_t *all, int64_t count);
tutti_status tt_comm_exchangev(tutti_comm *comm, const int64_t *mine, int64_t *all, const int64_t *counts);

/* ---- entry.c ---- */
/* What a choice for a call may depend on. bytes: of the whole vector. */
tt_region tt_comm_region(const tutti_comm *comm, tt_collective collective, int64_t bytes);
/* The plan for a call of that key, from those that there are or made now, and who has decided about it. bytes: of the
 * whole vector. */
tutti_status tt_entry_find(tutti_comm *comm, const tt_entry_key *key, int64_t bytes, tt_entry **entry,
                           tt_decision *decision);
/* Hash of the parameters that a call runs with, also where they make no plan. */
uint64_t tt_entry_hash(const tutti_comm *comm, const tt_entry_key *key, int64_t bytes);
void tt_entry_forget(tutti_comm *comm, const tutti_graph *graph); /* frees those of the graph; NULL: all */
void tt_entry_destroy(tt_entry *entry);
/* The text of parameters, kept as long as the communicator: equal texts are one. NULL: no memory. */
const char *tt_comm_keep_text(tutti_comm *comm, const char *text);
void tt_comm_free_texts(tutti_comm *comm);

/* ---- recall.c: a communicator's table of blocking calls that were made before ---- */
/* The call if it was made before and its buffers are in order now; NULL: it must be checked and bound. */
tt_bound *tt_recall(tutti_comm *comm, const tt_call *call);
/* The call with its plan, from the table or made now. */
tutti_status tt_recall_bind(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_bound **bound);
/* A blocking call, checked: bound and run behind all that was posted before. */
tutti_status tt_call_run(tutti_comm *comm, const tt_call *call, const tt_places *places);
/* Calls of the collective are to choose their parameters anew. */
void tt_recall_forget(tutti_comm *comm, tt_collective collective);
void tt_recall_forget_op(tutti_comm *comm, int32_t op);
void tt_recall_forget_graph(tutti_comm *comm, const tutti_graph *graph);
void tt_recall_finish(tutti_comm *comm); /* there is no table any more */

/* ---- bound.c ---- */
/* A call with its plan, into the caller's. words: get the block table of a call with lists, and must live as long as
 * the binding; NULL where it has none. */
tutti_status tt_bound_make(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_words *words,
                           tt_bound *bound);
/* The executor of a binding whose entry and block table are there: bound->blocks says which class. Persistent
 * requests have their own (side.c). */
tutti_status tt_bound_make_executor(tutti_comm *comm, tt_bound *bound);
tt_bind_facts tt_bound_facts(const tutti_comm *comm, tt_class class, bool wide);
/* prove.c: all ranks' plans, and what runs of them in each class, before their first use. */
tutti_status tt_prove(const tutti_comm *comm, const tt_meaning *meaning, const tt_lowering *lowering, bool wide);
/* Steps of a binding. What the call is; then tt_entry_find, run.blocks, the key, an executor. */
tt_bound tt_bound_begin(const tutti_comm *comm, const tt_call *call, const tt_places *places);
tt_entry_key tt_bound_entry_key(const tutti_comm *comm, const tt_call *call);
/* The rest of what it says, once its parameters are known by their hash. */
void tt_bound_say(const tutti_comm *comm, tt_bound *bound, uint64_t params);
/* What went wrong on this rank while it bound the call; the others wait for it. */
tutti_status tt_bound_fail(tutti_comm *comm, const tt_call *call, tt_bound *bound, tutti_status status);

/* ---- table.c ---- */
/* Where the blocks of a call with lists lie: bound->run.blocks and lengths, for the plan in bound->entry. */
tutti_status tt_table_make(const tutti_comm *comm, const tt_call *call, tt_words *words, tt_bound *bound);

/* ---- operation.c ---- */
void tt_operation_drop_copy(tutti_comm *comm); /* of a call's input, kept for the next */
/* The key, of this call and all before it. */
void tt_operation_key(tutti_comm *comm, const tt_bound *bound, tt_operation *operation);
/* And the call's place in the communicator's order, which is the same on all ranks. */
void tt_operation_number(tutti_comm *comm, const tt_bound *bound, tt_operation *operation);
/* Whether it cannot begin again where it has begun: what it reads may be overwritten. */
bool tt_operation_spoils(const tt_operation *operation);
tutti_status tt_operation_start(tutti_comm *comm, const tt_call *call, tt_operation *operation);
tutti_status tt_operation_step(tutti_comm *comm, const tt_operation *operation, bool *done, bool *moved);
/* That communicator's last call, which is complete, has sent as this one. */
void tt_operation_note(tutti_comm *comm, const tt_operation *operation);
/* It is done: whether what this rank has read in place was right to the end. */
tutti_status tt_operation_end(tutti_comm *comm, const tt_operation *operation);
/* Blocks until done, with all that waiting brings. */
tutti_status tt_operation_finish(tutti_comm *comm, const tt_operation *operation);
/* All of it: the call starts, and has ended when this returns. */
tutti_status tt_operation_run(tutti_comm *comm, const tt_call *call, tt_bound *bound);

/* ---- queue.c ---- */
/* It is done: whoever asked for that is told. */
void tt_request_tell(tutti_request *request);
/* Those that are not complete end with an error, here and on the others. */
void tt_request_give_up(tutti_comm *comm);
/* Frees those that nobody holds; the others stay, without a communicator, until their holders let go. */
void tt_request_orphan(tutti_comm *comm);
/* An empty one of the communicator's pool, for the caller to fill in; NULL: no memory. tt_request_give_back
 * takes it again. */
tutti_request *tt_request_get(tutti_comm *comm);
tutti_status tt_request_post(tutti_comm *comm, const tt_call *call, const tt_places *places, bool persistent,
                             tutti_request **request);
/* In whose queue it stands. */
static inline tutti_comm *tt_request_home(const tutti_request *request) {
  return request->side ? request->side : request->comm;
}
/* Puts it at the end of that queue, and moves it as far as it goes. */
void tt_request_start(tutti_request *request);
/* It is of no use any more. */
void tt_request_give_back(tutti_request *request);
/* Moves all outstanding requests of the context. */
void tt_request_progress(tutti_context *context, bool *moved);
/* The same; where nothing moves it looks around for them: the progress thread's (tt_progress_move). */
void tt_request_tend(tutti_context *context, int64_t stopped_ns, bool *moved);
/* Whether some request of the communicator has moved since the waiter was last zero; then it is zero again. */
bool tt_request_has_moved(const tutti_comm *comm, tt_waiter *waiter);
/* Moves all; where the communicator's do not move, waits a little for the head of its queue. */
void tt_request_await(tutti_comm *comm, tt_waiter *waiter);
/* Waits for a request that has a communicator; its status (api/request.c). held: the hold of the context, which others
 * get meanwhile, within tt_progress_begin_wait; NULL: there are no others. */
tutti_status tt_request_finish(tutti_request **request, int64_t timeout_ns, tt_progress *held);
/* Blocks until nothing is outstanding on the communicator. */
tutti_status tt_request_drain(tutti_comm *comm);

#endif
