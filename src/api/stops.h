/* api/stops.h - what each rank of a communicator says of refused calls. What it means: refuse.c. */
#ifndef TT_API_STOPS_H
#define TT_API_STOPS_H

#include "api/api.h"

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

/* A rank's words. What it has refused holds for ever; `seen` and `ended` hold in this epoch. */
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
  uint64_t written;       /* how often; [written % 2] is the newest */
  tt_stop_words words[2]; /* at first all is 0 */
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
/* Others see what is in comm->stops->own. */
void tt_stops_say(tutti_comm *comm);
/* Of a rank that has said nothing all is 0. */
void tt_stops_read(const tutti_comm *comm, int64_t rank, tt_stop *said);
/* What a rank of another machine has told. */
void tt_stops_keep(tutti_comm *comm, int64_t rank, const tt_stop *told);

/* Adds it to what this rank has refused; tt_stops_say tells it. */
void tt_stops_refuse(tutti_comm *comm, uint64_t number, const char *why);
bool tt_stop_refuses(const tt_stop *said, uint64_t number);
/* The lowest call beyond `over` that it has refused; UINT64_MAX: none. */
uint64_t tt_stop_first(const tt_stop *said, uint64_t over);
/* Who refused that call; else, who refused the lowest one from `from` on. */
tt_reason tt_stops_reason(const tutti_comm *comm, uint64_t number);
tt_reason tt_stops_reason_from(const tutti_comm *comm, uint64_t from);

#endif
