/* agree/parts.h - what the files of this folder know of each other. */
#ifndef TT_AGREE_PARTS_H
#define TT_AGREE_PARTS_H

#include "agree/agree.h"
#include "compose/compose.h"

/* ---- verdict.c ---- */
/* Breaks the communicator with a verdict that others have been told; whether it is the first here. */
bool tt_agree_adopt(tutti_comm *comm, tutti_status status, const char *why);
/* What broke it, for people. */
const char *tt_agree_broken_text(const tutti_comm *comm);

/* ---- record.c ---- */
void tt_text_add(tt_text *to, const char *format, ...) TT_PRINTF(2, 3);

/* Of a composition of the user's: moves between any ranks, blocks as the user numbers them; their number is the count.
 */
static inline bool tt_record_is_composition(const tt_record *record) {
  return record->collective == TT_COLLECTIVE_COUNT;
}

/* Rank's record of that call; false where it has none (not called yet, or long ago). The first call on a side
 * communicator is the making of the request. */
bool tt_record_read(const tutti_comm *comm, int64_t rank, uint64_t number, tt_record *record);
/* Room for what a rank of another machine tells, where there is none so far and there is memory. */
void tt_record_make(const tutti_comm *comm, int64_t rank);
/* What a rank of another machine has told of its call. */
void tt_record_keep(tutti_comm *comm, int64_t rank, const tt_record *record);
/* The last call that the rank has come to; of this machine. */
uint64_t tt_record_last(const tutti_comm *comm, int64_t rank);
/* Whether this rank and another one called different things. */
bool tt_record_differs(const tutti_comm *comm, uint64_t number);
/* The same of the ranks before and after it: where each rank asks in the end, that is all of them. */
bool tt_record_differs_beside(const tutti_comm *comm, uint64_t number);
/* Who called what in a call in which they differ. */
void tt_record_add_difference(tt_text *to, const tutti_comm *comm, uint64_t number);

void tt_record_close(tutti_comm *comm);
/* "all-to-allv(int32)" */
void tt_record_add_call(tt_text *to, const tt_record *record);

/* ---- lengths.c ---- */
/* Whether all ranks have come to the call and the two ends of some block differ in its length. */
bool tt_record_lengths_differ(const tutti_comm *comm, uint64_t number);
/* Between which ranks, and by how much, as far as it can be known. peer: whose blocks this rank has found to be of
 * other lengths, or -1. */
void tt_record_add_lengths(tt_text *to, const tutti_comm *comm, uint64_t number, int64_t peer);

/* ---- notes.c: between machines ---- */
void tt_notes_break(tutti_comm *comm, tutti_status status, const char *why); /* tells the others so */
void tt_notes_ask(tutti_comm *comm, uint64_t number);                        /* for their records of the call */
/* What this rank has said of refused calls; `asks`: others are to say theirs. */
void tt_notes_stop(tutti_comm *comm, bool asks);
/* Asks the rank whether it has destroyed the communicator: it answers in any call. */
void tt_notes_seek(const tutti_comm *comm, int64_t rank);
/* This rank does. Whoever waits for it is told, or may ask. */
void tt_notes_leave(tutti_comm *comm);
void tt_notes_receive(tutti_comm *comm); /* what has come */
void tt_notes_close(tutti_comm *comm);

/* ---- stops.c: what each rank of a communicator says of refused calls; what it means: refuse.c ---- */

#define TT_REFUSED_TEXT 256
#define TT_REFUSALS 4

/* Calls in a row that a rank has refused for one reason. */
typedef struct tt_refusal {
  uint64_t first, last; /* last: 0: none */
  char text[TT_REFUSED_TEXT];
} tt_refusal;

/* Who refused a call. */
typedef struct tt_reason {
  uint64_t number; /* 0: it is not known */
  int64_t rank;
  char text[TT_REFUSED_TEXT];
} tt_reason;

/* What a rank says. What it has refused holds for ever; `seen` and `ended` hold in this epoch. */
typedef struct tt_stop {
  uint64_t version;     /* how often it has said something */
  uint64_t epoch, over; /* as in tutti_comm */
  uint64_t seen;        /* the lowest call beyond `over` that it knows to be refused; 0: none */
  uint64_t ended;       /* 1 + the last call that it is through with: it has stopped; 0: it has not */
  uint64_t newest;      /* which of its refusals is */
  tt_reason reason;     /* the lowest refused call for which the epoch began */
  tt_refusal refusal[TT_REFUSALS];
} tt_stop;

/* Read and written a word at a time. */
typedef union tt_stop_words {
  tt_stop said;
  uint64_t word[sizeof(tt_stop) / sizeof(uint64_t)];
} tt_stop_words;

/* In shared memory. What it said last stays while it writes anew: who reads waits for nobody that is held up there. */
typedef struct tt_stop_cell {
  _Atomic uint64_t written; /* how often; [written % 2] is the newest */
  tt_stop_words words[2];   /* at first all is 0 */
} tt_stop_cell;

struct tt_stops {
  tt_stop_words own;
  int64_t told_ns;    /* when other machines were told last, */
  int64_t tells;      /* and how often in this epoch */
  tt_stop_cell *of[]; /* [size]; of ranks on other machines what they have told, or NULL */
};

/* There is room for what ranks say, from the first refusal on. False: the communicator is broken. */
bool tt_stops_open(tutti_comm *comm);
void tt_stops_close(tutti_comm *comm);
/* Others see what is in comm->refused.stops->own. */
void tt_stops_say(tutti_comm *comm);
/* Of a rank that has said nothing all is 0. */
void tt_stops_read(const tutti_comm *comm, int64_t rank, tt_stop *said);
/* What a rank of another machine has told. */
void tt_stops_keep(tutti_comm *comm, int64_t rank, const tt_stop *told);

/* Adds it to what this rank has refused; tt_stops_say tells it. */
void tt_stops_refuse(tutti_comm *comm, uint64_t number, const char *why);
/* Calls have numbers from 1. 0 follows a last call of UINT64_MAX, where a rank has left the communicator: it is refused
 * by nobody. */
bool tt_stop_refuses(const tt_stop *said, uint64_t number);
/* The lowest call beyond `over` that it has refused; UINT64_MAX: none. */
uint64_t tt_stop_first(const tt_stop *said, uint64_t over);
/* Who refused that call; else, who refused the lowest one from `from` on. */
tt_reason tt_stops_reason(const tutti_comm *comm, uint64_t number);
tt_reason tt_stops_reason_from(const tutti_comm *comm, uint64_t from);

/* ---- refuse.c ---- */
/* What a rank of another machine has told. */
void tt_refuse_told(tutti_comm *comm, int64_t rank, const tt_stop *told);
/* It has destroyed the communicator. */
void tt_refuse_left(const tutti_comm *comm, int64_t rank);

#endif
