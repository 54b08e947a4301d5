/* lower/flow.h - what one rank receives, combines, sends and keeps, as values; no lanes, no memory yet.
 *
 * The passes merge (messages of one round to one peer) and common payloads (equal ones once) work here. */
#ifndef TT_LOWER_FLOW_H
#define TT_LOWER_FLOW_H

#include "lower/values.h"

/* Fills in values, events and finals of flow->rank. False where memory is exhausted. */
bool tt_lower_flow(const tt_lowering *lowering, tt_flow *flow);

/* Decides how combinations are made, and counts uses. */
bool tt_lower_fuse(tt_flow *flow);

/* Chooses a place for every value: where it must be at the end, or a cell of tmp for as long as it is used. */
bool tt_lower_place(tt_flow *flow, uint32_t *tmp_count);

/* Whether two places are the same memory. */
bool tt_lower_same_place(const tt_flow *flow, tt_ref a, tt_ref b);

#endif
