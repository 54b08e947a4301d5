/* api/wisdom.c - rank 0's wisdom becomes that of all ranks: it may be the only one that can read the file, and files of
 * several machines differ. And what a program may ask of it. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

tutti_status tt_wisdom_begin(tutti_context *context, tt_wisdom_found **found) {
  *found = NULL;
  if (context->rank != 0)
    return TUTTI_OK;
  tt_wisdom_found *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for wisdom");
  tutti_status status = tt_wisdom_prepare(context, made);
  if (status == TUTTI_OK && made->number_count > 0)
    *found = made;
  else
    tt_wisdom_end(made);
  return status;
}

void tt_wisdom_end(tt_wisdom_found *found) {
  if (found)
    tt_wisdom_found_finish(found);
  free(found);
}

/* ---- to all ranks ---- */

/* numbers: rank 0's; elsewhere NULL. counts[0]: of them, as all know; the others have none. */
static tutti_status send(tutti_context *context, const int64_t *numbers, const int64_t *counts) {
  int64_t *all = malloc((size_t)counts[0] * sizeof *all);
  if (!all) {
    tutti_status lack = tt_comm_no_memory(context->made.control);
    tutti_comm_abort(context->made.control, "no memory for wisdom");
    return lack;
  }
  tutti_status status = tt_comm_exchangev(context->made.control, numbers ? numbers : all, all, counts);
  if (status == TUTTI_OK)
    status = tt_wisdom_unpack(all, counts[0], &context->wisdom);
  free(all);
  return status;
}

/* Rank 0 took all ranks for ranks of one node: where there are more, it asks the lessons again, and says how much that
 * is. Groups make nodes too. */
static tutti_status count_again(tutti_context *context, tt_wisdom_found *found, int64_t *counts) {
  tutti_status status = found ? tt_wisdom_prepare_again(context, found) : TUTTI_OK;
  int64_t mine = found ? found->number_count : 0;
  if (status != TUTTI_OK)
    tutti_comm_abort(context->made.control, tutti_last_error());
  return status == TUTTI_OK ? tt_comm_exchange(context->made.control, &mine, counts, 1) : status;
}

/* What one rank cannot do, all get as an error of their next call: the communicator is broken. */
tutti_status tt_wisdom_share(tutti_context *context, tt_wisdom_found *found, int64_t count) {
  int64_t *counts = calloc((size_t)context->size, sizeof *counts);
  tutti_status status = TUTTI_OK;
  if (!counts) {
    status = tt_comm_no_memory(context->made.control);
    tutti_comm_abort(context->made.control, "no memory for wisdom");
    return status;
  }
  counts[0] = count;
  if (context->machine.head_of || context->machine.groups)
    status = count_again(context, found, counts);
  if (status == TUTTI_OK && counts[0] > 0) /* 0: what was recalled is not there any more */
    status = send(context, found ? found->numbers : NULL, counts);
  free(counts);
  return status;
}

/* ---- other libraries ---- */

/* Of communicators of the same ranks, made once. */
static tutti_status find_table(tutti_comm *comm, const char *library, const tt_outside_table **table) {
  tutti_status status = tt_comm_place(comm);
  tt_outside_table *made = comm->team->outside;
  if (status != TUTTI_OK)
    return status;
  if (!made && !(made = tt_arena_alloc(&comm->team->arena, 1, sizeof *made)))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for what is known of %s", library);
  if (made != comm->team->outside || strcmp(made->library, library) != 0) {
    tt_region shape = tt_comm_region(comm, TT_ALLREDUCE, 0);
    tt_outside_table_make(comm->context->wisdom, library, &shape, made);
  }
  *table = comm->team->outside = made;
  return TUTTI_OK;
}

tutti_status tutti_comm_outside(tutti_comm *comm, const char *library, const char *collective, tutti_lengths *lengths) {
  const char *missing = !comm ? "comm" : !library ? "library" : !collective ? "collective" : "lengths";
  const tt_outside_table *table = NULL;
  if (!comm || !library || !collective || !lengths)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_outside: %s is NULL", missing);
  TT_HOLD(comm->context);
  tt_collective which = tt_compose_find(collective);
  if (which == TT_COLLECTIVE_COUNT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_outside: unknown collective '%s'", collective);
  if (!comm->context->wisdom || comm->context->wisdom->outside_count == 0) {
    *lengths = (tutti_lengths){0, 0};
    return TUTTI_OK;
  }
  tutti_status status = find_table(comm, library, &table);
  if (status == TUTTI_OK)
    *lengths = (tutti_lengths){table->wins[which][0], table->wins[which][1]};
  return status;
}

int tutti_lengths_have(const tutti_lengths *lengths, int64_t bytes) {
  int bucket = tt_dispatch_bucket(bytes);
  return (int)((bucket < 64 ? lengths->low : lengths->high) >> bucket % 64 & 1);
}
