/* job/context.h - a process's part of a job. */
#ifndef TT_JOB_CONTEXT_H
#define TT_JOB_CONTEXT_H

#include "boot/boot.h"
#include "job/team.h"
#include "topo/topo.h"
#include "tune/tune.h"

#include <stdatomic.h>
#include <sys/types.h>
#include <tutti/tutti.h>

enum { TT_COMMS_GONE = 64 };

typedef struct tt_progress tt_progress;

/* What the ranks of a machine know together of programs that are not the job's: wait/contention.c. The numbers are
 * hints, relaxed. Who has `taken` it changes them: taking (acquire) pairs with giving back (release), both in
 * compare_use. */
typedef struct tt_contention_news {
  _Atomic int64_t until_ns;   /* others are expected until then */
  _Atomic int64_t for_ns;     /* for how long that was, when it was found last */
  int64_t used_ns;            /* processor time of all ranks at the last look, */
  _Atomic int64_t sampled_ns; /* and when that was */
  _Atomic uint32_t taken;     /* 1: some rank looks */
} tt_contention_news;

typedef struct tt_contention {
  tt_contention_news *news; /* in the hidden communicator's board, or own_news */
  tt_contention_news own_news;
  int64_t *process; /* those of the job that may share cores with this one */
  int64_t process_count, cores;
  uint64_t yields; /* so far */
} tt_contention;

struct tutti_context {
  tt_boot *boot; /* own one; NULL where the user gave his */
  int64_t rank, size;
  struct {
    pid_t id;                          /* that has joined */
    uint64_t mark;                     /* of that process, */
    const _Atomic uint64_t *mark_here; /* and of this one: fork.c */
  } process;
  tt_medium medium;          /* of TUTTI_MEDIUM; TT_MEDIUM_COUNT: none */
  tutti_transport_ops given; /* the user's, as this version has it; size 0: there is none */
  const tutti_transport_ops *ops;
  void *transport;
  tt_profile *profile;
  tt_wisdom *wisdom; /* rank 0's, the same on all ranks; NULL: none */
  struct {
    int64_t *head_of;      /* of each rank: the lowest one on its machine; NULL: all are on one, as far as is known */
    int64_t *first_rail;   /* to each rank: what is sent begins with that NIC; the transport between machines has it */
    tt_locality *locality; /* of each rank; NULL: not asked, levels are "node" and "core" */
    int64_t *groups;       /* of each rank: group map of TUTTI_GROUPS; NULL: plans go by machines */
    int64_t nic_count;     /* of the machine with the fewest; 0: the user's transport reaches others */
    bool foreign;          /* the transport is the user's, or in part */
    int64_t l2_bytes;      /* of the core with the smallest level 2 cache; 0: not all are known */
    int64_t core_count;    /* of the machine with the fewest; 0: not all are known */
    bool wakes;            /* whatever comes from other machines ends a sleep */
    bool waits_beside;     /* a thread may sleep in the transport's wait while another one uses it */
    bool crowded;          /* more ranks than cores here: spinning would take the core from a rank that could go on */
  } machine;
  struct {
    void (*call)(void *user); /* the user's; NULL: none */
    void *user;
    int64_t called_ns; /* last */
  } idle;
  struct {
    int (*call)(void *user); /* the user's; NULL: none */
    void *user;
    int64_t called_ns; /* last */
  } interrupted;
  tt_contention contention;
  int64_t moved_ns; /* when the transport was moved last for the sake of others alone */
  struct {
    int64_t ns;       /* when communicators were looked at on which nothing is under way: agree/refuse.c */
    int64_t listened; /* communicators of the list that were asked for notes in this round */
  } tended;
  uint64_t last_shape; /* tt_run.shape of the last bound call */
  struct {
    tt_user_op **op; /* by number - TUTTI_OP_COUNT; NULL: destroyed */
    int64_t op_count;
    int64_t *type_bytes; /* by number - TUTTI_TYPE_COUNT */
    int64_t type_count;
  } users;
  struct {
    tutti_comm *control; /* hidden: it makes the others */
    tutti_comm *list;
    tt_index by_number; /* the same */
    tt_index left;      /* numbers of those between machines that were destroyed: agree/notes.c */
    uint64_t next_number;
    uint64_t gone[TT_COMMS_GONE]; /* bases of the last ones destroyed, for which more may come; 0: none */
    uint64_t gone_count;
    uint64_t lacks;  /* that this rank could not make */
    bool gives_up;   /* one was broken, and no call has ended well since */
    int64_t told_ns; /* other machines of it, last: agree/notes.c */
  } made;            /* communicators */
  tt_teams teams;
  tutti_comm *running;   /* side communicators with a call under way, and some that had one */
  int64_t outstanding;   /* requests that are queued or running */
  tt_progress *progress; /* NULL: only calls move requests on */
  int64_t create_timeout_ns;
  int64_t holds; /* parts of the process that have it, beside the first: api/share.c */
};

/* ---- fork.c ---- */
/* The context is this process's. */
tutti_status tt_fork_join(tutti_context *context);
/* This process is a fork of the one that has joined: the job is its parent's, whose ends it must not close. */
static inline bool tt_context_is_copy(const tutti_context *context) {
  return atomic_load_explicit(context->process.mark_here, memory_order_relaxed) != context->process.mark;
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
/* How many NICs this machine has for a transport of tutti's; 0: the transport is the user's. */
int64_t tt_machine_nics(const tutti_context_options *given);
/* From every rank's number, `stride` bytes apart: context->machine.head_of. */
tutti_status tt_machines_find(tutti_context *context, const uint64_t *machine, size_t stride);
/* From where every rank runs: context->machine.locality. */
tutti_status tt_machines_localities(tutti_context *context, const tt_locality *locality, size_t stride);
/* Opens the transport that they need. */
tutti_status tt_machines_open(tutti_context *context, const tutti_context_options *given, const tutti_boot *boot);

/* ---- users.c: operators and types of the users ---- */
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

#endif
