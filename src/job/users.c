/* job/users.c - operators and types of the users: numbered from where tutti's end, in the order in which they are made.
 */
#include "job/context.h"

#include <assert.h>
#include <stdlib.h>

int64_t tt_context_type_bytes(const tutti_context *context, int32_t type) {
  if (!tt_type_is_user(type))
    return (int64_t)tutti_type_size((tutti_type)tt_said_type_key(type));
  return type - TUTTI_TYPE_COUNT < context->users.type_count ? context->users.type_bytes[type - TUTTI_TYPE_COUNT] : 0;
}

const tt_user_op *tt_context_user_op(const tutti_context *context, int32_t op) {
  return op >= TUTTI_OP_COUNT && op - TUTTI_OP_COUNT < context->users.op_count ? context->users.op[op - TUTTI_OP_COUNT]
                                                                               : NULL;
}

/* ---- as ranks tell each other ---- */

int32_t tt_context_said_type(const tutti_context *context, int32_t type) {
  if (!tt_type_is_user(type))
    return type;
  int64_t bytes = tt_context_type_bytes(context, type), most = TT_TYPE_OF_BYTES - 1 - TUTTI_TYPE_COUNT;
  assert(bytes > 0);
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

void tt_context_forget_users(tutti_context *context) {
  for (int64_t n = 0; n < context->users.op_count; n++)
    free(context->users.op[n]);
  free(context->users.op);
  free(context->users.type_bytes);
}
