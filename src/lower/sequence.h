/* lower/sequence.h - events and final copies of one rank, in the order in which they could run one after the other. */
#ifndef TT_LOWER_SEQUENCE_H
#define TT_LOWER_SEQUENCE_H

#include "lower/flow.h"

typedef struct tt_sequence {
  const tt_flow *flow;
  int64_t count;
  uint32_t *number; /* events, then finals, then two for each local combination: a copy of its left operand, the rest */
} tt_sequence;

/* In the flow's arena. False where memory is exhausted. */
bool tt_sequence_make(const tt_flow *flow, tt_sequence *sequence);

/* The local combination that the number belongs to, as a value; -1: to none. */
int32_t tt_sequence_local(const tt_sequence *in, uint32_t number, bool *copies);
/* The event that the number is, or that it comes right after; NULL for a final. */
const tt_event *tt_sequence_event(const tt_sequence *in, uint32_t number);
const tt_final *tt_sequence_final(const tt_sequence *in, uint32_t number);

/* Equal on all ranks that meet in the lane. */
uint32_t tt_sequence_lane_id(const tt_event *event);

#endif
