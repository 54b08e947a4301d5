/* verify/bound.h - what the files that prove bound plans share. */
#ifndef TT_VERIFY_BOUND_H
#define TT_VERIFY_BOUND_H

#include "verify/forest.h"
#include "verify/machine.h"

typedef struct tt_bound_proof {
  tt_proof lists; /* of all ranks' lists, proven as plans are */
  const tt_plan *const *plan;
  const tt_bound_plan *const *bound;
  tt_machine machine; /* of the lists: which location each step names; clocks of all steps */
  const tt_bound_step **step;
  uint32_t *first_step; /* of each rank: its first step in the numbering of all, and one past the last */
} tt_bound_proof;

/* values.c of plans, with trees: the results of the lists, and of the order in which cells are walked, have the bits
 * that the plans' results have. */
tutti_status tt_verify_bits(tt_bound_proof *proof);
/* What is lent stays as it is until it is released. */
tutti_status tt_verify_lent(tt_bound_proof *proof);
/* Both ends find each message in one place. */
tutti_status tt_verify_places(tt_bound_proof *proof);
/* What is widened and rounded is what the lists read and write. */
tutti_status tt_verify_images(tt_bound_proof *proof);

#endif
