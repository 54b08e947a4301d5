/* api/user.c - operators and types of the user's own: numbered from where tutti's end, in the order in which they are
 * made. */
#include "api/api.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

int64_t tt_context_type_bytes(const tutti_context *context, int32_t type) {
  if (!tt_type_is_user(type))
    return (int64_t)tutti_type_size((tutti_type)tt_said_type_key(type));
  return type - TUTTI_TYPE_COUNT < context->type_count ? context->type_bytes[type - TUTTI_TYPE_COUNT] : 0;
}

const tt_user_op *tt_context_user_op(const tutti_context *context, int32_t op) {
  return op >= TUTTI_OP_COUNT && op - TUTTI_OP_COUNT < context->op_count ? context->op[op - TUTTI_OP_COUNT] : NULL;
}

/* ---- as ranks tell each other ---- */

int32_t tt_context_said_type(const tutti_context *context, int32_t type) {
  if (!tt_type_is_user(type))
    return type;
  int64_t bytes = tt_context_type_bytes(context, type), most = TT_TYPE_OF_BYTES - 1 - TUTTI_TYPE_COUNT;
  return TUTTI_TYPE_COUNT + (int32_t)(bytes < most ? bytes : most);
}

int64_t tt_said_type_bytes(int32_t said) {
  int32_t meaning = tt_said_meaning(said);
  if (tt_type_is_user(said))
    return said - TUTTI_TYPE_COUNT;
  return (int64_t)tutti_type_size(meaning > 0 && meaning <= TUTTI_TYPE_COUNT ? (tutti_type)(meaning - 1)
                                                                             : (tutti_type)tt_said_type_key(said));
}

int32_t tt_context_said_op(const tutti_context *context, int32_t op) {
  const tt_user_op *own = tt_context_user_op(context, op);
  return own ? TUTTI_OP_COUNT + own->commutes : op;
}

bool tt_said_op_commutes(int32_t said) { return said != TUTTI_OP_COUNT; }

/* ---- public ---- */

tutti_status tutti_op_create(tutti_context *context, tutti_reduce_function reduce, void *user, size_t element_bytes,
                             int commutes, tutti_op *op) {
  if (!context || !reduce || !op)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_op_create: %s is NULL", !context ? "context" : !reduce ? "reduce" : "op");
  if (element_bytes == 0 || element_bytes > PTRDIFF_MAX)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_op_create: element_bytes is %zu", element_bytes);
  TT_HOLD(context);
  tt_user_op *made = malloc(sizeof *made);
  tt_user_op **grown = realloc(context->op, (size_t)(context->op_count + 1) * sizeof(tt_user_op *));
  if (grown)
    context->op = grown;
  if (!made || !grown || context->op_count >= INT_MAX - TUTTI_OP_COUNT) {
    free(made);
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_op_create: no memory for operator %" PRId64, context->op_count);
  }
  *made = (tt_user_op){.reduce = reduce, .user = user, .element_bytes = element_bytes, .commutes = commutes != 0};
  context->op[context->op_count] = made;
  *op = (tutti_op)(TUTTI_OP_COUNT + context->op_count++);
  return TUTTI_OK;
}

void tutti_op_destroy(tutti_context *context, tutti_op op) {
  if (context && tt_context_is_copy(context))
    return;
  TT_HOLD(context);
  if (!context || !tt_context_user_op(context, (int32_t)op))
    return;
  for (tutti_comm *comm = context->comms; comm; comm = comm->next)
    tt_comm_forget_op(comm, (int32_t)op);
  free(context->op[(int32_t)op - TUTTI_OP_COUNT]);
  context->op[(int32_t)op - TUTTI_OP_COUNT] = NULL;
}

tutti_status tutti_type_create(tutti_context *context, size_t bytes, tutti_type *type) {
  if (!context || !type)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_type_create: %s is NULL", context ? "type" : "context");
  if (bytes == 0 || bytes > PTRDIFF_MAX)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_type_create: bytes is %zu", bytes);
  TT_HOLD(context);
  int64_t *grown = realloc(context->type_bytes, (size_t)(context->type_count + 1) * sizeof *grown);
  if (grown)
    context->type_bytes = grown;
  if (!grown || context->type_count >= TT_TYPE_OF_BYTES - TUTTI_TYPE_COUNT)
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_type_create: no memory for type %" PRId64, context->type_count);
  context->type_bytes[context->type_count] = (int64_t)bytes;
  *type = (tutti_type)(TUTTI_TYPE_COUNT + context->type_count++);
  return TUTTI_OK;
}

tutti_type tutti_type_of_bytes(int32_t meaning) {
  return meaning > 0 && meaning <= UINT16_MAX ? (tutti_type)(TT_TYPE_OF_BYTES + meaning) : TUTTI_BYTE;
}

void tt_context_forget_users(tutti_context *context) {
  for (int64_t n = 0; n < context->op_count; n++)
    free(context->op[n]);
  free(context->op);
  free(context->type_bytes);
}
