/* lower/flow.h - what one rank receives, combines, sends and keeps, as values; no lanes, no memory yet.
 *
 * A value is made once and never changes: a block of the rank's own, what came in a message, the combination of two
 * values, or an own block saved from what will stand at its place. The passes merge (messages of one round to one peer)
 * and common payloads (equal ones once) work here. */
#ifndef TT_LOWER_FLOW_H
#define TT_LOWER_FLOW_H

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
} tt_value;

/* Events are numbered in the order of their primitives, which is alike at both ends of a message. */
typedef struct tt_event {
  uint32_t time, tie;
  int32_t peer;  /* -1: published to all */
  int32_t value; /* that is sent; that comes, or that is combined with what comes */
  uint16_t channel, level, way;
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

/* What all ranks share. */
struct tt_lowering {
  tt_arena arena;
  const tt_composition *composition;
  const tt_topo *topo;
  tt_params params;
  uint32_t part_count;
  tt_lower_stage stage[TT_STAGES];
  uint32_t stage_time[TT_STAGES + 1];               /* round in which each stage begins */
  uint16_t level_number[TT_STAGES][TT_PLAN_LEVELS]; /* level of a stage -> level of the plan */
  int level_count;
  char level_name[TT_PLAN_LEVELS][TT_TOPO_NAME];
};

static inline bool tt_value_is_own(const tt_value *value) { return value->event < 0 && value->left < 0; }

/* Fills in values, events and finals of flow->rank. False where memory is exhausted. */
bool tt_lower_flow(const tt_lowering *lowering, tt_flow *flow);

/* Decides how combinations are made, and counts uses. */
bool tt_lower_fuse(tt_flow *flow);

/* Chooses a place for every value: where it must be at the end, or a cell of tmp for as long as it is used. */
bool tt_lower_place(tt_flow *flow, uint32_t *tmp_count);

/* Whether two places are the same memory. */
bool tt_lower_same_place(const tt_flow *flow, tt_ref a, tt_ref b);

#endif
