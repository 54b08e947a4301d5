/* lower/flow.h - what one rank receives, combines, sends and keeps, as values; no lanes, no memory yet.
 *
 * A value is made once and never changes: a block of the rank's own, what came in a message, or the combination of a
 * value with what came. The passes merge (messages of one round to one peer) and common payloads (equal ones once) work
 * here. */
#ifndef TT_LOWER_FLOW_H
#define TT_LOWER_FLOW_H

#include "lower/walk.h"

typedef struct tt_value {
  uint32_t block;
  int32_t left;                  /* COMBINED: value that the received one is combined with; else -1 */
  int32_t receive;               /* event that brings it; -1: the rank's own block */
  tt_ref place;                  /* own: where it is; others: chosen by tt_lower_place */
  uint32_t made;                 /* time at which it exists, in the whole plan */
  uint32_t last_use;             /* time of the last use, in the whole plan */
  uint32_t last_other_use;       /* the same without uses as left operand */
  int32_t left_uses, other_uses; /* as left operand of combinations; in sends and final copies */
  int32_t heir;                  /* the combination that it is left operand of, the last one */
  int32_t then;                  /* value that is combined onto it right after the message; -1: none */
  uint32_t finish;               /* contributions, where the value is made at its final place; else 0 */
  bool reversed;                 /* COMBINED: what came is the left operand of the operator */
  bool placed;
} tt_value;

/* Events are numbered in the order of their primitives, which is alike at both ends of a message. */
typedef struct tt_event {
  uint32_t time, tie;
  int32_t peer; /* -1: published to all */
  int32_t value;
  uint16_t channel, level, way;
  bool sends, published;
} tt_event;

/* What must stand in a buffer of the user's at the end of a stage. */
typedef struct tt_final {
  int32_t value;
  tt_ref place;
  uint32_t time;
  uint32_t finish; /* contributions, for reductions */
  int32_t rival;   /* own value that lies at the same place, -1: none */
  bool copies;     /* a copy step puts it there; else the value is made there */
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

/* Fills in the flow of flow->rank. False where memory is exhausted. */
bool tt_lower_flow(const tt_lowering *lowering, tt_flow *flow);

/* Chooses a place for every value: where it must be at the end, or a cell of tmp for as long as it is used. */
bool tt_lower_place(tt_flow *flow, uint32_t *tmp_count);

/* Room for one more element at the end of a vector in the arena; NULL where memory is exhausted. */
void *tt_lower_push(tt_arena *arena, void *vector, int64_t *count, int64_t *room, size_t size);
/* A copy of a finished vector, of just its size. */
void *tt_lower_keep(tt_arena *arena, const void *vector, int64_t count, size_t size);

#endif
