/* exec/arith.h - what a run does with elements: combine, copy, finish an average. Shared by both executors. */
#ifndef TT_EXEC_ARITH_H
#define TT_EXEC_ARITH_H

#include "exec/exec.h"

typedef struct tt_arith {
  tt_combine combine; /* NULL where the plan reduces nothing, or by a user's operator */
  tt_user_op user_op; /* .reduce NULL: none */
  tutti_type type;
  int64_t element_bytes;
  int shift;        /* bytes >> shift, times `inverse`, are elements: a division by a number known at start */
  uint64_t inverse; /* of element_bytes >> shift, which is odd, modulo 2^64 */
  bool average;
  bool large; /* results that nobody reads soon go past the cache */
} tt_arith;

typedef struct tt_use { /* what a step does with what comes */
  bool reduces;         /* else copies */
  bool left;            /* what comes is the left operand */
  bool final;           /* no later step of this rank reads the result */
  uint32_t finish;      /* > 0: final contributions, for an average */
} tt_use;

/* TUTTI_ERR_ARGUMENT where type or operator is none, or they do not fit. `large` is left false. */
tutti_status tt_arith_init(tt_arith *arith, const tt_run *run, bool reduces);
/* dst = src (op) data, or data; `bytes` of them. */
void tt_arith_apply(const tt_arith *arith, tt_use use, const void *src, const void *data, void *dst, int64_t bytes);

#endif
