/* lower/values.h - values and events of one stage as they are found: each is made once, whoever asks for it. */
#ifndef TT_LOWER_VALUES_H
#define TT_LOWER_VALUES_H

#include "lower/flow.h"

typedef struct tt_stage_flow {
  const tt_lowering *lowering;
  tt_flow *flow;
  int number;
  struct tt_event_table {
    struct tt_known_event *known;
    int64_t count, known_room;
    int32_t *slot; /* number in `known` + 1; 0: free */
    int64_t room;  /* of slots: a power of two */
  } events;        /* those that edges of several primitives may be */
  tt_map owned;    /* own value + 1 by buffer and plan block */
} tt_stage_flow;

/* All give -1 where memory is exhausted. */

/* The event that edge `number` of the walk is: a new one, or one that already carries the payload. An earlier edge with
 * the same payload wins. */
int32_t tt_flow_event(tt_stage_flow *in, tt_walk *walk, int64_t number, uint16_t channel, bool *is_new);
int32_t tt_flow_own(tt_stage_flow *in, tt_buffer from, uint32_t block);
/* The same if something has asked for it before; else -1. */
int32_t tt_flow_find_own(tt_stage_flow *in, tt_buffer from, uint32_t block);
/* What the event brings. */
int32_t tt_flow_came(tt_stage_flow *in, int32_t event, uint32_t block);
/* A copy of an own value, made as the stage begins. */
int32_t tt_flow_saved(tt_stage_flow *in, int32_t own);
/* Two values combined in this order as soon as the event has come. is_new: so is the event. */
int32_t tt_flow_combined(tt_stage_flow *in, int32_t left, int32_t right, int32_t event, bool is_new);

#endif
