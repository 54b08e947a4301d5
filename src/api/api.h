/* api/api.h - contexts, communicators and operations as the files of this folder see them.
 *
 *     tutti_allreduce(...)      collective.c: a call; call.c: checked
 *       -> tt_comm_bind         bind.c:       its plan (entry.c: chosen and compiled once), block table and key
 *       -> tt_operation_start   operation.c:  a number, a record for the others, direct executor or instance
 *       -> tt_operation_step    ... until done; wait.c in between: spin, yield, sleep; agree.c: does everyone do the
 * same? */
#ifndef TT_API_API_H
#define TT_API_API_H

#include "api/call.h"
#include "api/others.h"
#include "api/progress.h"
#include "api/team.h"
#include "bind/bind.h"
#include "boot/boot.h"
#include "exec/exec.h"
#include "lower/lower.h"
#include "tune/tune.h"
#include "verify/verify.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <tutti/tutti.h>

/* A plan as one communicator runs it. Calls with other counts, types and operators share it. */
typedef struct tt_entry {
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
  struct tt_entry *next;
} tt_entry;

/* What a rank tells the others about a call before its first step: one cache line of shared memory, read and written a
 * word at a time, since both may happen at once. */
typedef union tt_record {
  struct {
    uint64_t number; /* written last; 0: none */
    uint64_t key;
    int64_t count;
    uint64_t params;                    /* hash of the parameters' text */
    int32_t root, collective, type, op; /* type, op: as ranks tell each other: user.c */
    uint64_t lists;   /* hash of the counts that all ranks know, the graph's number, or as lengths.c says */
    uint64_t lengths; /* what this rank knows of lengths that only both ends know: lengths.c */
  };
  uint64_t word[8]; /* word[0] is the number */
} tt_record;

enum { TT_RECORD_WORDS = sizeof(tt_record) / sizeof(uint64_t) };

/* A call's plan and all else that repeating it needs; found by what the call is. */
typedef struct tt_bound {
  tt_record said;   /* what the call is, as ranks tell each other; number 0 */
  int32_t type, op; /* as the user says */
  bool in_place;
  tt_class blocks; /* of its bound plan */
  bool copies;     /* `in` has to be copied before anything is written */
  tt_places places;
  tt_entry *entry;
  tt_run run; /* buffers and call number are set at each start */
} tt_bound;

static inline tt_executor *tt_bound_executor(const tt_bound *bound) { return bound->entry->executor[bound->blocks]; }

/* Memory of block tables. */
typedef struct tt_words {
  int64_t *word;
  int64_t count;
} tt_words;

typedef struct tt_listed tt_listed;
typedef struct tt_params_text tt_params_text;
typedef struct tt_notes tt_notes;

typedef struct tt_operation {
  tt_bound *bound;
  uint64_t number; /* of the call on its communicator */
  uint64_t key;    /* of this call and all before it */
  uint64_t made;   /* as of the communicator, when it was called */
  bool again;      /* it had begun in an epoch that is over */
} tt_operation;

/* How long nothing has moved. All zero: something just has. */
typedef struct tt_waiter {
  int64_t polls, spins_ns, began_ns, checked_ns;
  uint64_t moves; /* of the communicator's requests, when it was last zero */
} tt_waiter;

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
  char *refused;               /* done, with TUTTI_ERR_REFUSED: its text; NULL: no memory */
  tt_waiter waiter;            /* of tutti_test */
  struct tutti_request *next;  /* in the communicator's queue, or its pool */
  struct tutti_request *other; /* of the same communicator */
  bool pooled;
};

#define TT_RECORDS_FIRST 2 /* calls whose records are on the board: many communicators see no more */
#define TT_RECORDS 64 /* of others; more than a rank can run ahead of one that waits, unless its calls move nothing */
#define TT_VERDICT_TEXT 960

typedef struct tt_stops tt_stops;
typedef struct tt_tally tt_tally;

#define TT_LACKS 16 /* a rank has few so shortly before it ends */

/* A rank's cell of a communicator: all ranks read it. */
typedef struct tt_board {
  _Alignas(64) uint32_t poisoned; /* 1: some cell 0's verdict holds for this communicator */
  uint32_t disturbed;             /* 1: something was refused */
  uint32_t core;                  /* of the hidden communicator: 1 + the core on which the rank waited last */
  uint64_t lacks[TT_LACKS];       /* of the hidden communicator: those that the rank could not make; see agree.c */
  _Alignas(64) uint32_t verdict;  /* rank 0's only: 0 none, 1 being written, 2 there */
  uint32_t status;
  uint32_t lacking;      /* of the hidden communicator: 1: some rank lacks something, or did */
  tt_others_news others; /* of the hidden communicator */
  char text[TT_VERDICT_TEXT];
  uint32_t left;                                   /* 1: the rank has destroyed the communicator */
  _Alignas(64) tt_record record[TT_RECORDS_FIRST]; /* of call n: record[n - 1] */
} tt_board;

#define TT_BOUNDS 64 /* at most */
#define TT_LISTED 4

/* A user's communicator; or a side communicator, which a persistent request has for itself (side.c): that one has
 * calls, streams, cells and records of its own, and borrows all else from the user's. */
struct tutti_comm {
  tutti_context *context;
  const tutti_transport_ops *ops; /* the context's, or what joins the ranks of one machine */
  void *transport;
  uint64_t id;
  int64_t rank, size;
  tt_team *team;           /* its ranks; what of it is needed often follows */
  const int64_t *job_rank; /* of each rank */
  const tt_topo *topo;
  tt_board **board;  /* [size]; of ranks on other machines what they have told, or NULL. NULL: no shared cells at all */
  tt_record **later; /* [size]: of each rank [TT_RECORDS], of call n: [n % TT_RECORDS]; NULL as boards are, and
                              until the first call that needs them */
  bool *neighbour;   /* [size]: shares this rank's core, as far as is known */
  const bool *far;   /* [size]: on another machine */
  bool apart;        /* some are */
  int64_t head;      /* the lowest rank on this machine */
  uint64_t agreed;   /* up to that call no two ranks differ */
  tt_notes *notes;   /* NULL: nothing was told yet */
  uint64_t yields;   /* so far; neighbours are looked for now and then */
  bool crowded;      /* ranks share cores, as far as is known */
  tt_link *link;
  tt_entry *entries;
  tt_bound *bound;              /* plain calls, by what they are */
  uint64_t bound_count;         /* a power of two, or 0 */
  tt_bound *creation;           /* the allgather by which communicators are made; NULL: none so far */
  tt_listed *listed[TT_LISTED]; /* calls with lists; NULL: none so far */
  unsigned char *copy;          /* of an `in` that its `out` replaces */
  size_t copy_bytes;
  uint64_t last_number;   /* of the calls posted so far */
  uint64_t history;       /* hash of their keys: ranks that once called different things never agree again */
  uint64_t moves;         /* of requests so far */
  uint32_t epoch;         /* refuse.c: how often all ranks have begun anew */
  uint64_t over;          /* calls up to this one are, since it was refused or another one before */
  uint64_t first_history; /* of the epoch */
  tt_stops *stops;        /* NULL: nothing was refused so far, as far as is known */
  bool busy;              /* a blocking call waits */
  bool settling;          /* waits for others to stop */
  bool creates;           /* the call under way makes a communicator or a graph */
  tutti_graph *graphs;
  uint64_t last_graph; /* number of the one made last */
  tutti_request *queue_head, *queue_tail, *pool;
  tutti_request *requests;           /* all that were ever made, through `other` */
  char *params[TT_COLLECTIVE_COUNT]; /* set by tutti_comm_set_params */
  const char *last_params;           /* of the call started last */
  tt_media last_media;               /* by which this rank sent in the one that ended last */
  tt_tally *tally;                   /* NULL: nobody wants to know */
  tt_params_text *texts;
  tutti_status broken;
  char *broken_text;         /* NULL where not broken, or where there was no memory for it */
  uint64_t token[2];         /* the barrier's block, in and out */
  tutti_comm *next, *before; /* in the context's list */
  uint64_t inits;            /* persistent requests that were made on it, */
  uint64_t made;             /* and a hash of their keys, which goes into those of later calls */
  tutti_comm *sides;         /* of those that there are */
  /* ---- of a side communicator ---- */
  tutti_comm *main;                    /* the user's; NULL: this is one */
  tutti_comm *next_side, *before_side; /* of `main` */
  uint64_t base;                       /* the first of its ids of streams and cells */
  uint64_t init;                       /* the number of its request: which of those made on `main` it is; from 1 */
  tt_record **record;                  /* [size]: one of each rank: of the last start; NULL where nothing is known */
  tutti_comm *next_running;
  bool runs; /* it is in the context's list of those that have something to move */
};

struct tutti_context {
  tt_boot *boot; /* own one; NULL where the user gave his */
  int64_t rank, size;
  pid_t process;                     /* that has joined */
  uint64_t mark;                     /* of that process, */
  const _Atomic uint64_t *mark_here; /* and of this one: fork.c */
  tt_medium medium;                  /* of TUTTI_MEDIUM; TT_MEDIUM_COUNT: none */
  tutti_transport_ops given;         /* the user's, as this version has it; size 0: there is none */
  const tutti_transport_ops *ops;
  void *transport;
  tt_profile *profile;
  int64_t *head_of;         /* of each rank: the lowest one on its machine; NULL: all are on one, as far as is known */
  int64_t *first_rail;      /* to each rank: what is sent begins with that NIC; the transport between machines has it */
  tt_locality *locality;    /* of each rank; NULL: not asked, levels are "node" and "core" */
  int64_t *groups;          /* of each rank: group map of TUTTI_GROUPS; NULL: plans go by machines */
  int64_t nic_count;        /* of the machine with the fewest; 0: the user's transport reaches others */
  bool foreign;             /* the transport is the user's, or in part */
  bool wakes;               /* whatever comes from other machines ends a sleep */
  bool crowded;             /* more ranks than cores here: spinning would take the core from a rank that could go on */
  void (*idle)(void *user); /* the user's; NULL: none */
  void *idle_user;
  int64_t idled_ns; /* when it was called last */
  tt_others others;
  int64_t moved_ns;  /* when the transport was moved last for the sake of others alone */
  int64_t tended_ns; /* when communicators were looked at on which nothing is under way: refuse.c */
  uint64_t next_comm;
  uint64_t lacks;      /* communicators that this rank could not make */
  uint64_t last_shape; /* tt_run.shape of the last bound call */
  tt_user_op **op;     /* by number - TUTTI_OP_COUNT; NULL: destroyed */
  int64_t op_count;
  int64_t *type_bytes; /* by number - TUTTI_TYPE_COUNT */
  int64_t type_count;
  tutti_comm *control; /* for making communicators */
  tutti_comm *comms;
  tt_index by_number; /* the same */
  tt_index left;      /* numbers of those between machines that were destroyed: notes.c */
  tt_teams teams;
  tutti_comm *running;   /* side communicators with a call under way, and some that had one */
  int64_t outstanding;   /* requests that are queued or running */
  tt_progress *progress; /* NULL: only calls move requests on */
  int64_t create_timeout_ns;
};

/* ---- fork.c ---- */
/* The context is this process's. */
tutti_status tt_fork_join(tutti_context *context);
/* This process is a fork of the one that has joined: the job is its parent's, whose ends it must not close. */
static inline bool tt_context_is_copy(const tutti_context *context) {
  return atomic_load_explicit(context->mark_here, memory_order_relaxed) != context->mark;
}
/* The error for a call of it that would touch the job. */
tutti_status tt_fork_refuse(const tutti_context *context, const char *function);

/* ---- machines.c ---- */

/* tt_topo_parse_map of what that option says; errors name it. */
tutti_status tt_machine_map(const char *option, const char *text, int64_t rank_count, int64_t *map);
/* This rank's machine as a number: the user's, or what is found out. And where the rank runs, if TUTTI_TOPOLOGY asks.
 */
tutti_status tt_machine_own(const tutti_context *context, const tutti_context_options *given, uint64_t *machine,
                            tt_locality *locality);
/* How many NICs this machine has for tcp or ucx; 0: the transport is the user's. */
int64_t tt_machine_nics(const tutti_context_options *given);
/* From every rank's number, `stride` bytes apart: context->head_of. */
tutti_status tt_machines_find(tutti_context *context, const uint64_t *machine, size_t stride);
/* From where every rank runs: context->locality. */
tutti_status tt_machines_localities(tutti_context *context, const tt_locality *locality, size_t stride);
/* Opens the transport that they need. */
tutti_status tt_machines_open(tutti_context *context, const tutti_context_options *given, const tutti_boot *boot);

/* Of its progress thread; NULL where it has none, or is NULL; a fork has no threads but one, and the lock as it was. */
static inline tt_progress *tt_progress_of(const tutti_context *context) {
  return context && context->progress && !tt_context_is_copy(context) ? context->progress : NULL;
}

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

/* ---- graph.c ---- */
void tt_comm_free_graphs(tutti_comm *comm); /* that the user has destroyed */

/* ---- user.c ---- */
/* Bytes of an element; 0 where there is no such type. */
int64_t tt_context_type_bytes(const tutti_context *context, int32_t type);
const tt_user_op *tt_context_user_op(const tutti_context *context, int32_t op); /* NULL: none of a user's */
/* What ranks compare: of a user's type its bytes, of his operator whether it commutes. Equal on ranks that mean the
 * same, while the user's numbers need not be. */
int32_t tt_context_said_type(const tutti_context *context, int32_t type);
int32_t tt_context_said_op(const tutti_context *context, int32_t op);
/* The way back; 0 where there is no such type. Of bytes that mean elements of a type of tutti's, that one's. */
int64_t tt_said_type_bytes(int32_t said);
/* tutti_type_of_bytes(meaning) is TT_TYPE_OF_BYTES + meaning. */
#define TT_TYPE_OF_BYTES (1 << 30)
static inline bool tt_type_is_user(int32_t type) { return type >= TUTTI_TYPE_COUNT && type < TT_TYPE_OF_BYTES; }
static inline uint16_t tt_said_meaning(int32_t said) {
  return (uint16_t)(said < TT_TYPE_OF_BYTES ? 0 : said - TT_TYPE_OF_BYTES);
}
/* What has to be equal of said types; meanings of bytes need only agree. */
static inline int32_t tt_said_type_key(int32_t said) {
  return said >= TT_TYPE_OF_BYTES && said <= TT_TYPE_OF_BYTES + UINT16_MAX ? TUTTI_BYTE : said;
}
bool tt_said_op_commutes(int32_t said);
void tt_context_forget_users(tutti_context *context);

/* ---- comm.c ---- */
tutti_status tt_comm_open(tutti_context *context, uint64_t id, const int64_t *job_rank, int64_t size, int64_t rank,
                          tutti_comm **comm);
/* The user's communicator: of a side communicator, the one that it belongs to. */
static inline tutti_comm *tt_comm_main(tutti_comm *comm) { return comm->main ? comm->main : comm; }
#define TT_SIDE_IDS ((uint64_t)1 << 16) /* of streams and cells */
/* The first of its ids of streams and cells. */
static inline uint64_t tt_comm_base(const tutti_comm *comm) { return comm->main ? comm->base : comm->id << 32; }
/* A cell of so many bytes for each rank, shared by those of this machine; NULL for others. id: from tt_comm_base on. */
tutti_status tt_comm_open_cells(const tutti_comm *comm, uint32_t id, size_t bytes, void **cell);
/* Frees, too, what stands in `cell` for ranks of other machines: this rank's copies of what they say. */
void tt_comm_close_cells(const tutti_comm *comm, uint32_t id, void **cell);
/* A table of streams. */
tutti_status tt_comm_open_link(tutti_comm *comm);
/* Topology, board and streams, if this is the first time that they are needed. The communicator is broken where not. */
tutti_status tt_comm_prepare(tutti_comm *comm);
/* Which rank of it has that rank in the job; -1: none. */
int64_t tt_comm_rank_of(const tutti_comm *comm, int64_t job_rank);
#define TT_EPOCHS_APART 1024 /* two ranks, at most: ids of epochs twice as far apart are the same */
/* Streams and cells of that epoch, instead of those of an earlier one. The communicator is broken where not. */
tutti_status tt_comm_renew(tutti_comm *comm, uint32_t epoch);
/* Adds the time of calls on it to `spent`, borrowed, from now on; NULL: no longer. For measurements: it is no part of
 * the public interface. Nothing may be outstanding on it. */
tutti_status tt_comm_watch(tutti_comm *comm, tt_spent *spent);

/* ---- medium.c: what follows from TUTTI_MEDIUM, for whoever calls and whoever looks ahead ---- */

tutti_status tt_medium_read(tt_medium *medium); /* TT_MEDIUM_COUNT: it says nothing */
bool tt_medium_publishes(tt_medium medium);
tt_media tt_medium_able(tt_medium medium);           /* beside slots and cells, where the transport can */
int64_t tt_medium_lend_bytes(tt_medium medium);      /* as in tt_thresholds; 0: as the option says */
int64_t tt_medium_read_bytes(tt_medium medium);      /* as in tt_shm_config; the same */
void tt_medium_apply(tt_medium medium, tt_run *run); /* once single_copy and refer_least are set */
tt_class tt_medium_class(tt_medium medium, const tt_plan *plan, const tt_run *run);

/* The call that is complete sent by those media. */
static inline void tt_medium_note(tutti_comm *comm, tt_media media) {
  __atomic_store_n(&comm->last_media, media, __ATOMIC_RELAXED); /* any thread may ask: tutti_comm_last_media */
}

/* comm.c: bytes of a slot, where the fullest machine has so many of the ranks; apart: there are several. */
size_t tt_comm_slot_bytes(int64_t ranks, bool apart);

/* ---- tally.c: for measurements and tests, no part of the public interface ---- */

/* From now on it is counted what blocking calls on it send, and foreseen, until one is refused. shared: their buffers
 * are of tutti_alloc. */
tutti_status tt_comm_tally(tutti_comm *comm, bool shared);
/* Since tt_comm_tally, by medium; the counts lie between the two that are foreseen. */
void tt_comm_tallied(const tutti_comm *comm, tt_sent *sent, tt_sent_range *foreseen);
/* Before a run starts. */
tutti_status tt_tally_foresee(tutti_comm *comm, const tt_bound *bound);

/* ---- side.c ---- */
/* Gives a persistent request, which is bound, a side communicator and its executor there. */
tutti_status tt_side_make(tutti_request *request);
/* The persistent request goes: what its calls may still have to say of others' errors, the communicator says. */
void tt_side_end(tutti_comm *side);
void tt_side_close(tutti_comm *side);                            /* accepts NULL */
tutti_comm *tt_side_find(const tutti_comm *comm, uint64_t init); /* NULL: none */
/* The first of the 2^16 ids of a communicator's request, counted from 1. number: the communicator's. */
uint64_t tt_side_base(uint64_t number, uint64_t init);
uint64_t tt_side_places(uint64_t number); /* so many requests later its ids are used again */

/* ---- params.c ---- */
/* The text, kept as long as the communicator: equal texts are one. NULL: no memory. */
const char *tt_comm_keep_text(tutti_comm *comm, const char *text);
void tt_comm_free_texts(tutti_comm *comm);

/* ---- exchange.c ---- */
/* What the making of communicators and graphs needs of a collective: it does not depend on the user's parameters and
 * waits no longer than creation may take. count: elements. */
tutti_status tt_comm_exchange(tutti_comm *comm, const int64_t *mine, int64_t *all, int64_t count);
tutti_status tt_comm_exchangev(tutti_comm *comm, const int64_t *mine, int64_t *all, const int64_t *counts);

/* ---- entry.c ---- */
/* The plan for a call of that key, from those that there are or made now. bytes: of the whole vector. */
tutti_status tt_entry_find(tutti_comm *comm, const tt_entry_key *key, int64_t bytes, tt_entry **entry);
/* Hash of the parameters that a call runs with, also where they make no plan. */
uint64_t tt_entry_hash(const tutti_comm *comm, const tt_entry_key *key, int64_t bytes);
void tt_entry_forget(tutti_comm *comm, const tutti_graph *graph); /* frees those of the graph; NULL: all */
void tt_entry_destroy(tt_entry *entry);

/* ---- bind.c ---- */
/* A plain call with its plan, from the communicator's table or made now. */
tutti_status tt_comm_bind(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_bound **bound);
/* The executor of a binding whose entry and block table are there: bound->blocks says which class. Persistent
 * requests have their own (side.c). */
tutti_status tt_bound_make_executor(tutti_comm *comm, tt_bound *bound);
tt_bind_facts tt_bound_facts(const tutti_comm *comm, tt_class class, bool wide);
/* prove.c: all ranks' plans, and what runs of them in each class, before their first use. */
tutti_status tt_prove(const tutti_comm *comm, const tt_meaning *meaning, const tt_lowering *lowering, bool wide);
void tt_executors_destroy(tt_executor **by_class);     /* all become NULL */
void tt_bound_plans_destroy(tt_bound_plan **by_class); /* of each class */
/* Calls of the collective are to choose their parameters anew. */
void tt_comm_forget(tutti_comm *comm, tt_collective collective);
void tt_comm_forget_op(tutti_comm *comm, int32_t op);
/* The call if it was made before and its buffers are in order now; NULL: it must be checked and bound. */
tt_bound *tt_comm_recall(tutti_comm *comm, const tt_call *call);

/* The same as tt_comm_bind, into the caller's. */
tutti_status tt_bound_plain(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_bound *bound);
/* Steps of a binding. What the call is; then tt_entry_find, run.blocks, the key, an executor. */
tt_bound tt_bound_begin(const tutti_comm *comm, const tt_call *call, const tt_places *places);
tt_entry_key tt_bound_entry_key(const tutti_comm *comm, const tt_call *call);
/* The rest of what it says, once its parameters are known by their hash. */
void tt_bound_say(const tutti_comm *comm, tt_bound *bound, uint64_t params);
/* What went wrong on this rank while it bound the call; the others wait for it. */
tutti_status tt_bound_fail(tutti_comm *comm, const tt_call *call, tt_bound *bound, tutti_status status);

/* ---- listed.c ---- */
/* A call with lists; `words` gets its block table and must live as long as the binding. */
tutti_status tt_listed_bind(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_words *words,
                            tt_bound *bound);
/* The same for a blocking call, kept for when it is made again. */
tutti_status tt_listed_keep(tutti_comm *comm, const tt_call *call, const tt_places *places, tt_bound **bound);
tt_bound *tt_listed_recall(tutti_comm *comm, const tt_call *call); /* as tt_comm_recall */
void tt_listed_forget(tutti_comm *comm);                           /* all that are kept */

/* ---- table.c ---- */
/* Where the blocks of a call with lists lie: bound->run.blocks and lengths, for the plan in bound->entry. */
tutti_status tt_table_make(const tutti_comm *comm, const tt_call *call, tt_words *words, tt_bound *bound);

/* ---- operation.c ---- */
/* The key, of this call and all before it. */
static inline void tt_operation_key(tutti_comm *comm, const tt_bound *bound, tt_operation *operation) {
  uint64_t key = bound->said.key ^ operation->made;
  comm->history = ((comm->history ^ key) * 0x9e3779b97f4a7c15u) ^ key >> 32;
  operation->key = (comm->history & ~TT_KEY_MEANING) | tt_said_meaning(bound->said.type);
}
/* And the call's place in the communicator's order, which is the same on all ranks. */
static inline void tt_operation_number(tutti_comm *comm, const tt_bound *bound, tt_operation *operation) {
  operation->number = ++comm->last_number;
  operation->made = comm->made;
  tt_operation_key(comm, bound, operation);
}
/* Whether it cannot begin again where it has begun: what it reads may be overwritten. */
bool tt_operation_spoils(const tt_operation *operation);
tutti_status tt_operation_start(tutti_comm *comm, const tt_call *call, tt_operation *operation);
tutti_status tt_operation_step(tutti_comm *comm, const tt_operation *operation, bool *done, bool *moved);
/* It is done: whether what this rank has read in place was right to the end. */
tutti_status tt_operation_end(tutti_comm *comm, const tt_operation *operation);
/* Blocks until done, with all that waiting brings. */
tutti_status tt_operation_finish(tutti_comm *comm, const tt_operation *operation);
/* All of it: the call starts, and has ended when this returns. */
tutti_status tt_operation_run(tutti_comm *comm, const tt_call *call, tt_bound *bound);

/* ---- request.c ---- */
/* Those that are not complete end with an error, here and on the others. */
void tt_request_give_up(tutti_comm *comm);
/* Frees those that nobody holds; the others stay, without a communicator, until their holders let go. */
void tt_request_orphan(tutti_comm *comm);
/* An empty one of the communicator's pool, for the caller to fill in; NULL: no memory. tutti_request_destroy gives it
 * back. */
tutti_request *tt_request_take(tutti_comm *comm);
tutti_status tt_request_post(tutti_comm *comm, const tt_call *call, const tt_places *places, bool persistent,
                             tutti_request **request);
/* Moves all outstanding requests of the context. */
void tt_request_progress(tutti_context *context, bool *moved);
/* Blocks until nothing is outstanding on the communicator. */
tutti_status tt_request_drain(tutti_comm *comm);

/* ---- wait.c ---- */
/* Called when nothing moved: waits a little. An error says that the wait is in vain: mismatch, death, timeout; the
 * communicator is broken then. */
tutti_status tt_wait_pause(tutti_comm *comm, const tt_operation *operation, tt_waiter *waiter);
/* The same for one who polls: without waiting, but others get the core where it is short of them. */
tutti_status tt_wait_look(tutti_comm *comm, uint64_t number, tt_waiter *waiter);

/* ---- record.c ---- */
/* There is room for the record of that call from now on. */
tutti_status tt_record_open(tutti_comm *comm);
static inline tutti_status tt_record_reach(tutti_comm *comm, uint64_t number) {
  return number <= TT_RECORDS_FIRST || comm->later || !comm->board || comm->main ? TUTTI_OK : tt_record_open(comm);
}
void tt_record_close(tutti_comm *comm);
/* After tt_record_reach. */
void tt_agree_publish(tutti_comm *comm, uint64_t number, const tt_record *said);

/* ---- notes.c: between machines ---- */
void tt_notes_break(tutti_comm *comm, tutti_status status, const char *why); /* tells the others so */
void tt_notes_ask(tutti_comm *comm, uint64_t number);                        /* for their records of the call */
/* What this rank has said of refused calls; `asks`: others are to say theirs. */
void tt_notes_stop(tutti_comm *comm, bool asks);
/* Asks the rank whether it has destroyed the communicator: it answers in any call. */
void tt_notes_seek(const tutti_comm *comm, int64_t rank);
/* This rank does. Whoever waits for it is told, or may ask. */
void tt_notes_leave(tutti_comm *comm);
/* A communicator of that number is made: it has not been destroyed. */
void tt_notes_make(tutti_context *context, uint64_t id);
void tt_notes_take(tutti_comm *comm); /* what has come */
/* Both from time to time, of one who has waited in the call for so long. */
void tt_notes_look(tutti_comm *comm, uint64_t number, int64_t waited_ns, int64_t now);
void tt_notes_close(tutti_comm *comm);

/* ---- agree.c ---- */
/* Breaks the communicator if the records of call `number` differ, if a rank is dead or has left without coming to it,
 * or if another rank has broken it. */
tutti_status tt_agree_check(tutti_comm *comm, uint64_t number);
/* The same where a stream's other end is known to be gone. */
tutti_status tt_agree_lost(tutti_comm *comm, uint64_t number, int64_t peer);
/* An error that this rank has not been told yet, at the end of the communicator. */
tutti_status tt_agree_leave(tutti_comm *comm);
tutti_status tt_agree_timeout(tutti_comm *comm, uint64_t number, int64_t waited_ns);
/* The slot or cell of `peer` (job rank) belongs to another call. */
tutti_status tt_agree_mismatch(tutti_comm *comm, uint64_t number, int64_t peer);
/* Breaks the communicator on all ranks; the first verdict holds. Returns that one's status, with its text recorded. */
tutti_status tt_agree_break(tutti_comm *comm, tutti_status status, const char *format, ...) TT_PRINTF(3, 4);
/* Whether another rank has broken it; then takes its verdict over. One load where not. */
static inline bool tt_agree_poisoned(const tutti_comm *comm) {
  return comm->board &&
         __atomic_load_n(&comm->board[comm->rank]->poisoned, __ATOMIC_ACQUIRE) != 0; /* pairs with tt_agree_break */
}
/* The same with a verdict that others have been told; whether it is the first here. */
bool tt_agree_take(tutti_comm *comm, tutti_status status, const char *why);
tutti_status tt_agree_verdict(tutti_comm *comm);
/* This rank could not make its part of communicator `id`: who waits for it there gets that error. */
void tt_agree_lack(tutti_context *context, uint64_t id, tutti_status status);
void tt_agree_lack_no_more(const tutti_context *context, uint64_t id); /* it could at last */

#endif
