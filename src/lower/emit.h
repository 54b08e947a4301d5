/* lower/emit.h - the last two passes: lanes and steps, then waits. */
#ifndef TT_LOWER_EMIT_H
#define TT_LOWER_EMIT_H

#include "lower/flow.h"

/* Lays values and events out as lanes, steps and waits. */
tutti_status tt_lower_emit(const tt_lowering *lowering, const tt_flow *flow, uint32_t tmp_count, tt_plan *plan);

/* Adds the waits that order all accesses to one place. lane_of[n]: lane of the n-th step of the plan in the order in
 * which lowering made them; the steps of each lane come in the lane's order. */
bool tt_lower_waits(tt_plan *plan, const uint32_t *lane_of, tt_arena *arena);

#endif
