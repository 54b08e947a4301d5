/* api/record.h - what each rank says of its calls, and what all ranks' records together say. */
#ifndef TT_API_RECORD_H
#define TT_API_RECORD_H

#include "api/api.h"

/* Text that grows in a buffer; what does not fit is left out. */
typedef struct tt_text {
  char *at;
  size_t size, used;
} tt_text;

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

/* ---- lengths.c ---- */
/* What a block of that number and length adds to tt_record.lengths. */
uint64_t tt_record_length(uint64_t block, int64_t bytes);
/* What a move of a composition adds, at its sender, to tt_record.lengths and .lists; its receiver takes it away. */
typedef struct tt_record_move {
  uint64_t lengths, pairs;
} tt_record_move;
tt_record_move tt_record_move_of(int64_t rank_count, int64_t block, int64_t from, int64_t to, int64_t bytes);
/* Whether all ranks have come to the call and the two ends of some block differ in its length. */
bool tt_record_lengths_differ(const tutti_comm *comm, uint64_t number);
/* Between which ranks, and by how much, as far as it can be known. peer: whose blocks this rank has found to be of
 * other lengths, or -1. */
void tt_record_add_lengths(tt_text *to, const tutti_comm *comm, uint64_t number, int64_t peer);
/* "call 7"; "persistent request 5"; "start 2 of persistent request 5", which has number 3 there */
void tt_record_add_number(tt_text *to, const tutti_comm *comm, uint64_t number);
/* "all-to-allv(int32)" */
void tt_record_add_call(tt_text *to, const tt_record *record);

#endif
