/* verify/verify.h - proves all ranks' plans against the independent meaning of what they should do.
 *
 * Includes neither compose nor lower: it cannot share their mistakes. It runs the plans once, on sets of contributions
 * instead of numbers. A Kahn network has one outcome, so that one run proves the values for every schedule; that no
 * waits close a circle with one slot a stream, whatever the lengths of blocks, proves freedom from deadlock; clocks
 * over each rank's lanes prove freedom from races. The machine that this is about is described in verify.c. */
#ifndef TT_VERIFY_VERIFY_H
#define TT_VERIFY_VERIFY_H

#include "ir/ir.h"
#include "plan/plan.h"

/* What must be in (out, block b) of rank r at the end. */
typedef enum tt_meaning_kind {
  TT_MEANING_NOTHING, /* what was there: the rank has no such out, or nothing comes to it; it may not be written */
  TT_MEANING_COPY,    /* (in, b) of rank `source` */
  TT_MEANING_SUM      /* every member of a set of two or more once, combined and finished */
} tt_meaning_kind;

/* Members of a sum: r < rank_count is (in, b) of rank r, rank_count + n is the finished sum number n of the meaning. */
typedef struct tt_expected {
  tt_meaning_kind kind;
  int64_t source;      /* COPY */
  int64_t first, last; /* SUM: of members first .. last */
  const int64_t *list; /* SUM: not NULL: of these instead, ascending */
  int64_t list_count;
  bool ordered; /* SUM: members are combined in ascending order */
} tt_expected;

/* What is asked for: a collective by name, in numbers. block_count as the form has it. */
typedef struct tt_question {
  const char *collective;
  int64_t rank_count, block_count, root;
  bool in_place;
  bool ordered;       /* the operator does not commute */
  bool reproducible;  /* sums have the same bits whatever the parameters: one member after the other, in rank order */
  int64_t edge_count; /* neighbor collectives: edges, as in their graph */
  const int32_t *from, *to;
} tt_question;

typedef struct tt_meaning {
  const char *name; /* for error texts */
  int64_t rank_count, block_count /* composition blocks */;
  bool in_place;              /* (in, b) and (out, b) are the same memory where a rank has both */
  bool ordered, reproducible; /* sums are, as in tt_question */
  int64_t root;
  const tt_question *question; /* borrowed */
  /* What rank r's out block b must be at the end. */
  tt_expected (*expect)(const struct tt_meaning *meaning, int64_t rank, int64_t block);
  /* Whether (in, b) is there. */
  bool (*has_in)(const struct tt_meaning *meaning, int64_t rank, int64_t block);
  const tt_expected *sum; /* sums that are members of further sums */
  int64_t sum_count;
  const void *own; /* of tt_verify_primitives */
} tt_meaning;

/* The meaning of a collective, written from its definition. question: borrowed. TUTTI_ERR_ARGUMENT where no form of it
 * is what is asked for. */
tutti_status tt_verify_meaning(const tt_question *question, tt_meaning *meaning);
/* The meaning of any composition, derived from its primitives alone; in the arena. composition: borrowed as long as the
 * meaning is used. The primitives of a stage take what was there before it. TUTTI_ERR_PLAN where one takes what is not
 * there, two bring to one place, a sum would have an input twice, or an ordered one has members that do not ascend. */
tutti_status tt_verify_primitives(const tt_composition *composition, tt_arena *arena, tt_meaning *meaning);

/* TUTTI_OK, or TUTTI_ERR_PLAN with rank, lane, step and reason in the text. plan[r] is rank r's. */
tutti_status tt_verify(const tt_meaning *meaning, const tt_plan *const *plan);
/* The same of plans from a text, whatever they say: the claim names a collective. TUTTI_ERR_ARGUMENT: the claim has no
 * meaning. TUTTI_ERR_UNSUPPORTED: too large to prove. */
tutti_status tt_verify_claim(const tt_plan_set *set);

/* Whether what runs on all ranks does what the plans do, to the bit, whatever admitted medium carries a block. plan[r],
 * proven, is rank r's; bound[r]->list is the same or another one. Errors as above. */
tutti_status tt_verify_bound(const tt_meaning *meaning, const tt_plan *const *plan, const tt_bound_plan *const *bound);

#endif
