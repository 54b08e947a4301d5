/* api/call.h - a collective call as the user made it, and what its buffers hold.
 *
 * Plain calls are a count. Those whose blocks differ (v, w) or that go over a graph hang lists on it, so that the plain
 * ones stay small. What `in` and `out` of each collective hold is a row of the table in compose/compose.c; checks, in
 * place positions and block tables all read it from there. */
#ifndef TT_API_CALL_H
#define TT_API_CALL_H

#include "compose/compose.h"

#include <tutti/tutti.h>

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

#endif
