/* verify/proof.h - what the files of the verifier share: all ranks' steps in one numbering, and what is known of them
 * so far.
 *
 * Steps, lanes and locations of all ranks are numbered through: rank by rank, lane by lane. TT_NONE is no number. */
#ifndef TT_VERIFY_PROOF_H
#define TT_VERIFY_PROOF_H

#include "verify/verify.h"

#define TT_NONE UINT32_MAX

/* What a correct set of plans is besides correct. */
typedef struct tt_facts {
  bool rendezvous; /* it would run without any slot: each slice handed from sender to reader */
  bool ordered;    /* every result combines ranks in rank order: right for operators that do not commute */
} tt_facts;

typedef struct tt_proof_lane {
  const tt_lane *lane;
  uint32_t rank, first_step;
} tt_proof_lane;

typedef struct tt_proof {
  const tt_meaning *meaning;
  const tt_plan *const *plan;
  uint32_t rank_count, block_count, part_count;
  uint32_t lane_count, step_count;
  tt_proof_lane *lane;
  uint32_t *first_lane; /* of each rank, and one past the last */
  const tt_step **step;
  uint32_t *lane_of; /* of each step */

  /* From match.c. */
  uint32_t *send_of;                /* of a receive: the step that sends what it gets */
  uint32_t *first_recv, *next_recv; /* of a send: the receives that get it, as a list */
  uint32_t *message_end;            /* of a send: the last send of its message */
  uint32_t *message_before;         /* of the first send of a message: the end of the message before it in its stream */

  uint32_t *order; /* from order.c: steps, each after all that it needs */
  tt_facts facts;
  tt_arena arena;
} tt_proof;

/* proof.c */
/* TUTTI_ERR_PLAN with the name of the meaning and the place of the step (TT_NONE: none) before the text. */
tutti_status tt_verify_fail(const tt_proof *proof, uint32_t step, const char *format, ...) TT_PRINTF(3, 4);
/* "rank 3", or "sum 2" for a sum as a member of another one. */
typedef struct tt_member_text {
  char text[24];
} tt_member_text;
tt_member_text tt_verify_member(const tt_proof *proof, uint32_t member);
void tt_verify_place(const tt_proof *proof, uint32_t step, char text[static 128]);
const tt_plan *tt_verify_plan_of(const tt_proof *proof, uint32_t step);
uint32_t tt_verify_rank_of(const tt_proof *proof, uint32_t step);
uint32_t tt_verify_wait_step(const tt_proof *proof, uint32_t step, const tt_wait *wait);
/* The steps of the same rank that a step is after: call with *edge = 0, again until TT_NONE. *whole: after all their
 * slices. */
uint32_t tt_verify_before(const tt_proof *proof, uint32_t step, uint32_t *edge, bool *whole);

/* The parts of the proof, in this order. */
tutti_status tt_verify_agree(tt_proof *proof);    /* agree.c: each plan is well formed, and headers agree */
tutti_status tt_verify_index(tt_proof *proof);    /* proof.c: numbers lanes and steps */
tutti_status tt_verify_messages(tt_proof *proof); /* agree.c: messages are whole */
tutti_status tt_verify_match(tt_proof *proof);    /* match.c: which receive gets which send */
tutti_status tt_verify_order(tt_proof *proof);    /* order.c: no deadlock; an order to run the steps in */
tutti_status tt_verify_values(tt_proof *proof);   /* values.c: runs them; races, values and results */

/* The whole proof; *facts is written on success. */
tutti_status tt_verify_facts(const tt_meaning *meaning, const tt_plan *const *plan, tt_facts *facts);

#endif
