/* agree/agree.h - all ranks of a communicator do the same, or all get an error that says who differs, is late or is
 * dead.
 *
 *     record.c, lengths.c   what each rank says of its calls, and what all ranks' records together say
 *     check.c               does everyone do the same, is everyone alive: asked by who waits, or has found other data
 *     verdict.c             the first error that breaks a communicator, the same for all
 *     refuse.c, stops.c     one rank refuses a call that the others make; the communicator survives it
 *     notes.c               the same between machines, whose ranks share no memory */
#ifndef TT_AGREE_AGREE_H
#define TT_AGREE_AGREE_H

#include "job/job.h"

/* What a rank tells the others about a call before its first step: one cache line of shared memory, read and written a
 * word at a time, since both may happen at once. */
union tt_record {
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
};

enum { TT_RECORD_WORDS = sizeof(tt_record) / sizeof(uint64_t) };

#define TT_RECORDS_FIRST 2 /* calls whose records are on the board: many communicators see no more */
#define TT_RECORDS 64 /* of others; more than a rank can run ahead of one that waits, unless its calls move nothing */
#define TT_VERDICT_TEXT 960

#define TT_LACKS 16 /* a rank has few so shortly before it ends */

/* A rank's cell of a communicator: all ranks read it. What is written with release and read with acquire pairs so:
 *     poisoned    write_verdict     tt_agree_poisoned
 *                 flag_all
 *     disturbed   disturb           tt_refuse_looms, tt_refuse_concerns
 *     lacks       tt_agree_lack     lack_of
 *     verdict     write_verdict     await_verdict, take_verdict, another's write_verdict
 *     left        tt_refuse_left    has_left
 * `core` and `lacking` are hints, relaxed. Words of records: record.c. */
struct tt_board {
  _Alignas(64) _Atomic uint32_t poisoned; /* 1: some cell 0's verdict holds for this communicator */
  _Atomic uint32_t disturbed;             /* 1: something was refused */
  _Atomic uint32_t core;                  /* of the hidden communicator: 1 + the core on which the rank waited last */
  _Atomic uint64_t lacks[TT_LACKS]; /* of the hidden communicator: those that the rank could not make; see agree.c */
  _Alignas(64) _Atomic uint32_t verdict; /* rank 0's only: 0 none, 1 being written, 2 there */
  uint32_t status;
  _Atomic uint32_t lacking;      /* of the hidden communicator: 1: some rank lacks something, or did */
  tt_contention_news contention; /* of the hidden communicator */
  char text[TT_VERDICT_TEXT];
  _Atomic uint32_t left;                           /* 1: the rank has destroyed the communicator */
  _Alignas(64) tt_record record[TT_RECORDS_FIRST]; /* of call n: record[n - 1] */
};

/* Where its ranks are, board and streams, if this is the first time that they are needed. The communicator is broken
 * where not. */
tutti_status tt_agree_prepare(tutti_comm *comm);
/* The board and all that was told. */
void tt_agree_close(tutti_comm *comm);

/* ---- record.c ---- */
/* Text that grows in a buffer; what does not fit is left out. */
typedef struct tt_text {
  char *at;
  size_t size, used;
} tt_text;

/* "call 7"; "persistent request 5"; "start 2 of persistent request 5", which has number 3 there */
void tt_record_add_number(tt_text *to, const tutti_comm *comm, uint64_t number);
/* There is room for the record of that call from now on. */
tutti_status tt_record_open(tutti_comm *comm);
static inline tutti_status tt_record_reach(tutti_comm *comm, uint64_t number) {
  return number <= TT_RECORDS_FIRST || comm->agree.later || !comm->agree.board || comm->side.main
             ? TUTTI_OK
             : tt_record_open(comm);
}
/* Where the rank says what it called there. NULL: there is no place for it, so that nobody has written it; or the rank
 * is on another machine, and has told nothing. */
static inline tt_record *tt_record_place(const tutti_comm *comm, int64_t rank, uint64_t number) {
  if (comm->side.main)
    return comm->agree.record[rank];
  if (number - 1 < TT_RECORDS_FIRST)
    return comm->agree.board[rank] ? &comm->agree.board[rank]->record[number - 1] : NULL;
  return comm->agree.later && comm->agree.later[rank] ? &comm->agree.later[rank][number % TT_RECORDS] : NULL;
}
/* Shows the others what this rank calls. After tt_record_reach. Of a side communicator, what was said of the request
 * holds for all starts: it must not go away while others read it. */
static inline void tt_record_publish(tutti_comm *comm, uint64_t number, const tt_record *said) {
  tt_record *place = comm->agree.board ? tt_record_place(comm, comm->rank, number) : NULL;
  if (!place)
    return;
  if (!comm->side.main || number == 1) {
    atomic_store_explicit(tt_atomic_word(&place->word[0]), 0,
                          memory_order_relaxed); /* readers that see 0 or a change skip it */
    for (int n = 1; n < TT_RECORD_WORDS; n++)
      atomic_store_explicit(tt_atomic_word(&place->word[n]), said->word[n],
                            memory_order_release); /* none before the 0 */
  }
  atomic_store_explicit(tt_atomic_word(&place->word[0]), number,
                        memory_order_release); /* pairs with tt_record_read, as the others */
}

/* ---- lengths.c ---- */
/* What a block of that number and length adds to tt_record.lengths. */
uint64_t tt_record_length(uint64_t block, int64_t bytes);
/* What a move of a composition adds, at its sender, to tt_record.lengths and .lists; its receiver takes it away. */
typedef struct tt_record_move {
  uint64_t lengths, pairs;
} tt_record_move;
tt_record_move tt_record_move_of(int64_t rank_count, int64_t block, int64_t from, int64_t to, int64_t bytes);

/* ---- check.c, verdict.c ---- */
/* Breaks the communicator if the records of call `number` differ, if a rank is dead or has left without coming to it,
 * or if another rank has broken it. */
tutti_status tt_agree_check(tutti_comm *comm, uint64_t number);
/* The same where a stream's other end is known to be gone. */
tutti_status tt_agree_lost(tutti_comm *comm, uint64_t number, int64_t peer);
/* An error that this rank has not been told yet, at the end of the communicator. */
tutti_status tt_agree_leave(tutti_comm *comm);
/* limit: that was reached, for people. */
tutti_status tt_agree_timeout(tutti_comm *comm, uint64_t number, int64_t waited_ns, const char *limit);
/* The slot or cell of `peer` (job rank) belongs to another call. */
tutti_status tt_agree_mismatch(tutti_comm *comm, uint64_t number, int64_t peer);
/* Breaks the communicator on all ranks; the first verdict holds. Returns that one's status, with its text recorded. */
tutti_status tt_agree_break(tutti_comm *comm, tutti_status status, const char *format, ...) TT_PRINTF(3, 4);
/* The same with what tutti_last_error() says on this rank. */
tutti_status tt_agree_break_here(tutti_comm *comm, tutti_status status);
/* Whether another rank has broken it; then takes its verdict over. One load where not. */
static inline bool tt_agree_poisoned(const tutti_comm *comm) {
  return comm->agree.board && atomic_load_explicit(&comm->agree.board[comm->rank]->poisoned, memory_order_acquire) != 0;
}
tutti_status tt_agree_verdict(tutti_comm *comm);
/* This rank could not make its part of communicator `id`: who waits for it there gets that error. */
void tt_agree_lack(tutti_context *context, uint64_t id, tutti_status status);
void tt_agree_lack_no_more(const tutti_context *context, uint64_t id); /* it could at last */

/* ---- notes.c ---- */
/* A communicator of that number is made: it has not been destroyed. */
void tt_notes_make(tutti_context *context, uint64_t id);
/* Of one who has waited in the call for so long: takes in what has come, and asks others, both from time to time. */
void tt_notes_look(tutti_comm *comm, uint64_t number, int64_t waited_ns, int64_t now);

/* ---- refuse.c ---- */
/* This rank refuses its next call. */
void tt_refuse_next(tutti_comm *comm, const char *why);
/* Something was refused that concerns this rank, or may; calls go the slow way then. The starts of persistent requests
 * go on beside it. */
static inline bool tt_refuse_looms(const tutti_comm *comm) {
  return !comm->side.main && ((comm->refused.over > 0 && comm->calls.last_number <= comm->refused.over) ||
                              (comm->agree.board && atomic_load_explicit(&comm->agree.board[comm->rank]->disturbed,
                                                                         memory_order_acquire) != 0));
}

/* Whether call `number` is the refused one, or a later one. */
bool tt_refuse_concerns(tutti_comm *comm, uint64_t number);
/* This rank has ended its calls up to `ended` and stops there. True: all ranks have stopped, and comm->refused.over is
 * the last call that is over; those behind it begin (again). */
bool tt_refuse_settle(tutti_comm *comm, uint64_t ended);
/* Whether just that call is refused, and this rank, which is in it, need not wait for the others to leave it. */
bool tt_refuse_may_leave(tutti_comm *comm, uint64_t number);
/* Goes on where nothing of this rank is under way on the communicator, but others may wait for it. */
void tt_refuse_tend(tutti_comm *comm);
/* The same for all communicators, from time to time, of one who has waited for so long in a call. */
void tt_refuse_tend_all(tutti_context *context, int64_t waited_ns, int64_t now);
/* This rank refuses that call, which has its number already: it had begun, and has overwritten what it reads. */
void tt_refuse_spoilt(tutti_comm *comm, uint64_t number);
/* TUTTI_ERR_REFUSED with a text for that call. */
tutti_status tt_refuse_fail(const tutti_comm *comm, uint64_t number);
/* The same text, for later; NULL: no memory. */
char *tt_refuse_text(const tutti_comm *comm, uint64_t number);
/* This rank destroys the communicator. */
void tt_refuse_finish(tutti_comm *comm);

#endif
