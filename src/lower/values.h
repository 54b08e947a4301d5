/* lower/values.h - values and events of one rank: each is made once, whoever asks for it.
 *
 * A value is made once and never changes: a block of the rank's own, what came in a message, the combination of two
 * values, or an own block saved from what will stand at its place. */
#ifndef TT_LOWER_VALUES_H
#define TT_LOWER_VALUES_H

#include "lower/store.h"
#include "lower/walk.h"

typedef struct tt_value {
  uint32_t block;
  int32_t event;                 /* that brings it, or behind which it is combined; -1: none, own and saved ones */
  int32_t left, right;           /* COMBINED: operands in this order; SAVED: left is an own one; else -1 */
  int32_t elder;                 /* COMBINED: made before it with the same left operand; -1: none */
  int32_t heir;                  /* COMBINED with this one as left operand, the last one; -1: none */
  tt_ref place;                  /* own: where it is; others: chosen by tt_lower_place */
  uint32_t made;                 /* time at which it exists, in the whole plan */
  uint32_t last_use;             /* time of the last use, in the whole plan */
  uint32_t last_other_use;       /* the same without uses as left operand */
  int32_t left_uses, other_uses; /* as left operand of combinations; in sends, final copies and as right operand */
  int32_t copies;                /* of left_uses: those of combinations behind its own event */
  uint32_t finish;               /* contributions, where the value is made at its final place; else 0 */
  bool reversed;                 /* COMBINED with what came: that is the left operand of the operator */
  bool placed;                   /* or needs no place */
  uint8_t turn; /* COMBINED by steps of the rank alone: how many before it are, behind the same event */
} tt_value;

enum { TT_TURNS = 16 }; /* later ones have the last turn */

/* Events are numbered in the order of their primitives, which is alike at both ends of a message. */
typedef struct tt_event {
  uint32_t time, tie;
  int32_t peer;  /* -1: published to all */
  int32_t value; /* that is sent; that comes, or that is combined with what comes */
  uint16_t channel, level, branch;
  bool sends, published;
} tt_event;

/* What must stand in a buffer of the user's at the end of a stage. */
typedef struct tt_final {
  int32_t value;
  tt_ref place;
  uint32_t time;
  uint32_t finish;  /* contributions, for reductions */
  int32_t rival[2]; /* own values that lie at the same place, -1: none */
  bool copies;      /* a copy step puts it there; else the value is made there */
} tt_final;

/* One rank's flow through all stages. */
typedef struct tt_flow {
  tt_arena *arena;
  int64_t rank;
  bool in_place;
  tt_value *value;
  int64_t value_count, value_room;
  tt_event *event;
  int64_t event_count, event_room;
  tt_final *final;
  int64_t final_count, final_room;
  int32_t *local; /* values that steps of the rank alone make: combined and saved ones, as they are made */
  int64_t local_count, local_room;
} tt_flow;

static inline bool tt_value_is_own(const tt_value *value) { return value->event < 0 && value->left < 0; }

/* ---- of one stage, while they are found ---- */

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
