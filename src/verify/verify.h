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
  TT_MEANING_NOTHING, /* anything */
  TT_MEANING_COPY,    /* (in, b) of rank `source` */
  TT_MEANING_SUM      /* (in, b) of every rank once, combined and finished */
} tt_meaning_kind;

typedef struct tt_meaning {
  const char *name; /* for error texts */
  int64_t rank_count, block_count /* composition blocks */;
  bool in_place;
  tt_layout layout[2]; /* (in, b) exists at rank r if ALL or b == r; the same for out */
  /* What rank r's out block b must be at the end. */
  tt_meaning_kind (*expect)(const struct tt_meaning *meaning, int64_t rank, int64_t block, int64_t *source);
  bool (*has_in)(const struct tt_meaning *meaning, int64_t rank, int64_t block); /* whether the input is there */
  int64_t root;
} tt_meaning;

/* The meaning of a collective by name ("allreduce", "broadcast", "allgather", "reduce-scatter", "barrier"), written
 * from its definition; block_count as the form has it (1 or rank_count). */
tutti_status tt_verify_meaning(const char *collective, int64_t rank_count, int64_t block_count, int64_t root,
                               bool in_place, tt_meaning *meaning);

/* TUTTI_OK, or TUTTI_ERR_PLAN with rank, lane, step and reason in the text. plan[r] is rank r's. */
tutti_status tt_verify(const tt_meaning *meaning, const tt_plan *const *plan);

#endif
