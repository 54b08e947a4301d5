/* lower/walk.h - a walk over one primitive's trees, seen from one rank: the edges that begin or end there. */
#ifndef TT_LOWER_WALK_H
#define TT_LOWER_WALK_H

#include "lower/levels.h"

/* What travels along an edge. Two edges between the same two ranks with equal payloads carry the same value. */
typedef struct tt_payload {
  uint32_t block; /* plan block */
  uint16_t kind;  /* tt_payload_kind */
  uint16_t level; /* PARTIAL: the level and the group whose subgroups `set` counts */
  int32_t group;
  int32_t owner; /* primitive that it is for; or -1 - family where it serves every primitive of this block */
  int64_t first, stride, count;
  int64_t cut; /* shared: of these, only ranks below it; 0: all of them */
} tt_payload;

typedef enum tt_payload_kind { TT_PAYLOAD_BLOCK, TT_PAYLOAD_PARTIAL, TT_PAYLOAD_COMPLETE } tt_payload_kind;

typedef struct tt_edge {
  uint32_t time; /* within the stage */
  uint32_t tie;  /* orders the messages of one round, alike at both ends */
  int32_t peer;
  uint16_t level, branch;
  bool sends;     /* this rank sends; else receives */
  bool published; /* one of the same payload to all in the group */
  tt_payload payload;
  int32_t event; /* that carries it, once known (flow.c) */
} tt_edge;

/* One part of one primitive. */
typedef struct tt_walk {
  const tt_lower_stage *stage;
  const tt_family *family;
  int64_t root, one; /* one: the end of TT_ENDS_ONE, the last one of TT_ENDS_RANGE */
  int64_t end_count;
  int32_t first_owner; /* of the family's primitives */
  int32_t owner;       /* of payloads that serve no other primitive */
  int32_t family_id;   /* of those that serve every primitive of this block */
  uint32_t block;      /* plan block */
  int64_t part;        /* of the stripe */
  bool backward;       /* labels advance against the groups' order: every other channel, but for rank order */
  bool two_ways;       /* there are such channels */
  bool shared;         /* payloads serve every primitive of this block */
  bool ordered;        /* operands are combined in rank order */
  bool publish;        /* a star's root may publish */
  tt_arena *arena;
  tt_edge *edge; /* found so far, by time afterwards */
  int64_t edge_count, edge_room;
} tt_walk;

#endif
