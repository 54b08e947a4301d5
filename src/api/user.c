/* api/user.c - users make operators and types of their own. */
#include "call/call.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

tutti_status tutti_op_create(tutti_context *context, tutti_reduce_function reduce, void *user, size_t element_bytes,
                             int commutes, tutti_op *op) {
  if (!context || !reduce || !op)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_op_create: %s is NULL", !context ? "context" : !reduce ? "reduce" : "op");
  if (element_bytes == 0 || element_bytes > PTRDIFF_MAX)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_op_create: element_bytes is %zu", element_bytes);
  TT_HOLD(context);
  tt_user_op *made = malloc(sizeof *made);
  tt_user_op **grown = realloc(context->users.op, (size_t)(context->users.op_count + 1) * sizeof(tt_user_op *));
  if (grown)
    context->users.op = grown;
  if (!made || !grown || context->users.op_count >= INT_MAX - TUTTI_OP_COUNT) {
    free(made);
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_op_create: no memory for operator %" PRId64, context->users.op_count);
  }
  *made = (tt_user_op){.reduce = reduce, .user = user, .element_bytes = element_bytes, .commutes = commutes != 0};
  context->users.op[context->users.op_count] = made;
  *op = (tutti_op)(TUTTI_OP_COUNT + context->users.op_count++);
  return TUTTI_OK;
}

void tutti_op_destroy(tutti_context *context, tutti_op op) {
  if (context && tt_context_is_copy(context))
    return;
  TT_HOLD(context);
  if (!context || !tt_context_user_op(context, (int32_t)op))
    return;
  for (tutti_comm *comm = context->made.list; comm; comm = comm->next)
    tt_recall_forget_op(comm, (int32_t)op);
  free(context->users.op[(int32_t)op - TUTTI_OP_COUNT]);
  context->users.op[(int32_t)op - TUTTI_OP_COUNT] = NULL;
}

tutti_status tutti_type_create(tutti_context *context, size_t bytes, tutti_type *type) {
  if (!context || !type)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_type_create: %s is NULL", context ? "type" : "context");
  if (bytes == 0 || bytes > PTRDIFF_MAX)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_type_create: bytes is %zu", bytes);
  TT_HOLD(context);
  int64_t *grown = realloc(context->users.type_bytes, (size_t)(context->users.type_count + 1) * sizeof *grown);
  if (grown)
    context->users.type_bytes = grown;
  if (!grown || context->users.type_count >= TT_TYPE_OF_BYTES - TUTTI_TYPE_COUNT)
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_type_create: no memory for type %" PRId64, context->users.type_count);
  context->users.type_bytes[context->users.type_count] = (int64_t)bytes;
  *type = (tutti_type)(TUTTI_TYPE_COUNT + context->users.type_count++);
  return TUTTI_OK;
}

tutti_type tutti_type_of_bytes(int32_t meaning) {
  return meaning > 0 && meaning <= UINT16_MAX ? (tutti_type)(TT_TYPE_OF_BYTES + meaning) : TUTTI_BYTE;
}
