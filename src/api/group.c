/* api/group.c - communicators of given ranks under a number that the user's ranks have agreed on: no communication. */
#include "api/api.h"

#include <inttypes.h>
#include <stdlib.h>

static tutti_status bad_group(const char *what, int64_t value) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_create_group: %s is %" PRId64, what, value);
}

/* This rank's place among them; -1 at first. seen: of each rank of the context, false. */
static tutti_status find_self(const tutti_context *context, int64_t count, const int64_t *ranks, bool *seen,
                              int64_t *self) {
  for (int64_t n = 0; n < count; n++) {
    if (ranks[n] < 0 || ranks[n] >= context->size)
      return tt_fail(TUTTI_ERR_ARGUMENT,
                     "tutti_comm_create_group: ranks[%" PRId64 "] is %" PRId64 " in a job of %" PRId64, n, ranks[n],
                     context->size);
    if (seen[ranks[n]])
      return tt_fail(TUTTI_ERR_ARGUMENT,
                     "tutti_comm_create_group: ranks[%" PRId64 "] is %" PRId64 ", which is given twice", n, ranks[n]);
    seen[ranks[n]] = true;
    *self = ranks[n] == context->rank ? n : *self;
  }
  return *self >= 0 ? TUTTI_OK
                    : tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_create_group: this rank, %" PRId64 ", is not in ranks",
                              context->rank);
}

static tutti_status create(tutti_context *context, uint64_t number, int64_t count, const int64_t *ranks,
                           tutti_comm **comm) {
  int64_t self = -1;
  bool *seen = calloc((size_t)context->size, sizeof *seen);
  tutti_status status = seen ? find_self(context, count, ranks, seen, &self)
                             : tt_fail(TUTTI_ERR_MEMORY, "no memory for a communicator of %" PRId64 " ranks", count);
  free(seen);
  if (status == TUTTI_OK)
    status = tt_comm_open(context, number, ranks, count, self, comm);
  if (status == TUTTI_OK && context->made.next_number <= number && number < TUTTI_OWN_NUMBERS)
    context->made.next_number = number + 1;
  if (status == TUTTI_OK)
    tt_agree_lack_no_more(context, number);
  else if (status == TUTTI_ERR_MEMORY)
    tt_agree_lack(context, number, status); /* others have made theirs and may wait for this rank */
  return status;
}

tutti_status tutti_comm_create_group(tutti_context *context, int64_t number, int64_t count, const int64_t *ranks,
                                     tutti_comm **comm) {
  if (!context || !ranks || !comm)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_create_group: %s is NULL",
                   !context ? "context"
                   : !ranks ? "ranks"
                            : "comm");
  if (tt_context_is_copy(context))
    return tt_fork_refuse(context, "tutti_comm_create_group");
  TT_HOLD(context);
  if (number < 1 || number > UINT32_MAX)
    return bad_group("number", number);
  if (count < 1 || count > context->size)
    return bad_group("count", count);
  if (tt_index_find(&context->made.by_number, (uint64_t)number))
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "tutti_comm_create_group: number is %" PRId64 ", which another communicator of this rank has",
                   number);
  return create(context, (uint64_t)number, count, ranks, comm);
}

int64_t tutti_comm_next_number(const tutti_context *context) {
  if (context)
    return (int64_t)context->made.next_number;
  tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_next_number: context is NULL");
  return -1;
}
