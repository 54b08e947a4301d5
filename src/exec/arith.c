/* exec/arith.c - one piece of a block: combined or copied to its place, finished while it is in the cache. */
#include "exec/arith.h"

#include <assert.h>
#include <inttypes.h>

static int64_t bytes_of(const tt_run *run) {
  return run->element_bytes ? run->element_bytes : (int64_t)tutti_type_size(run->type);
}

/* The inverse of an odd number modulo 2^64, by Newton: each turn doubles the bits that are right, three at first. */
static uint64_t inverse_of(uint64_t odd) {
  uint64_t inverse = odd;
  for (int n = 0; n < 5; n++)
    inverse *= 2 - odd * inverse;
  return inverse;
}

static tutti_status check_user_op(const tt_user_op *op, int64_t element_bytes) {
  if ((int64_t)op->element_bytes == element_bytes)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_ARGUMENT, "the operator takes elements of %zu bytes, but the type has %" PRId64 " bytes",
                 op->element_bytes, element_bytes);
}

/* Only types of types.h combine by operators of types.h. */
static tutti_status check_op(const tt_run *run) {
  if (run->element_bytes)
    return tt_fail(TUTTI_ERR_ARGUMENT, "operator %s does not apply to a user's type of %" PRId64 " bytes",
                   tutti_op_name(run->op), run->element_bytes);
  if (!tutti_op_fits(run->op, run->type))
    return tt_fail(TUTTI_ERR_ARGUMENT, "operator %s (%d) does not fit type %s (%d)", tutti_op_name(run->op),
                   (int)run->op, tutti_type_name(run->type), (int)run->type);
  return TUTTI_OK;
}

tutti_status tt_arith_init(tt_arith *arith, const tt_run *run, bool reduces) {
  int64_t bytes = bytes_of(run);
  if (bytes <= 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "unknown type %d", (int)run->type);
  tutti_status status = TUTTI_OK;
  if (reduces)
    status = run->user_op ? check_user_op(run->user_op, bytes) : check_op(run);
  if (status != TUTTI_OK)
    return status;
  int shift = __builtin_ctzll((uint64_t)bytes);
  bool builtin = !run->user_op && !run->element_bytes;
  *arith = (tt_arith){.combine = reduces && builtin ? tt_dtype_combine(run->type, run->op) : NULL,
                      .type = run->type,
                      .element_bytes = bytes,
                      .shift = shift,
                      .inverse = inverse_of((uint64_t)bytes >> shift),
                      .average = builtin && run->op == TUTTI_AVERAGE && tutti_op_fits(run->op, run->type)};
  assert(((uint64_t)bytes >> shift) * arith->inverse == 1);
  if (reduces && run->user_op)
    arith->user_op = *run->user_op;
  return TUTTI_OK;
}

static void combine(const tt_arith *arith, const void *left, const void *right, void *out, size_t count,
                    bool nontemporal) {
  if (arith->combine)
    arith->combine(left, right, out, count, nontemporal);
  else
    arith->user_op.reduce(left, right, out, (int64_t)count, arith->user_op.user);
}

void tt_arith_apply(const tt_arith *arith, tt_use use, const void *src, const void *data, void *dst, int64_t bytes) {
  size_t count = (size_t)(((uint64_t)bytes >> arith->shift) * arith->inverse);
  bool divides = use.finish > 1 && arith->average;
  bool nontemporal = use.final && arith->large && !divides;
  assert(bytes >= 0 &&
         (bytes % arith->element_bytes == 0 || !(use.reduces || divides))); /* what is copied may be torn */
  if (use.reduces)
    combine(arith, use.left ? data : src, use.left ? src : data, dst, count, nontemporal);
  else if (data != dst)
    tt_dtype_copy(dst, data, (size_t)bytes, nontemporal);
  if (divides)
    tt_dtype_divide(arith->type, dst, count, use.finish);
}
