/* api/wisdom.c - rank 0's wisdom becomes that of all ranks: it may be the only one that can read the file, and files of
 * several machines differ. And what a program may ask of it. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

tutti_status tt_wisdom_begin(tutti_context *context, int64_t **numbers, int64_t *count) {
  tt_wisdom_found found;
  *numbers = NULL;
  *count = 0;
  if (context->rank != 0)
    return TUTTI_OK;
  tutti_status status = tt_wisdom_load(&found);
  if (found.wrong)
    tt_log(TT_LOG_WARN, "wisdom is not used: %s", found.why);
  if (found.wisdom)
    tt_wisdom_keep_ranks(found.wisdom, context->size);
  if (found.wisdom && tt_wisdom_insists())
    found.wisdom->outside_count = 0;
  if (status == TUTTI_OK && found.wisdom && found.wisdom->count + found.wisdom->outside_count > 0)
    status = tt_wisdom_pack(found.wisdom, numbers, count);
  tt_wisdom_destroy(found.wisdom);
  return status;
}

/* What one rank cannot do, all get as an error of their next call: the communicator is broken. */
tutti_status tt_wisdom_share(tutti_context *context, const int64_t *numbers, int64_t count) {
  tutti_comm *control = context->made.control;
  int64_t *counts = calloc((size_t)context->size, sizeof *counts), *all = malloc((size_t)count * sizeof *all);
  tutti_status status = counts && all ? TUTTI_OK : tt_comm_no_memory(control);
  if (status == TUTTI_OK) {
    counts[0] = count;
    status = tt_comm_exchangev(control, numbers ? numbers : all, all, counts);
  } else {
    tutti_comm_abort(control, "no memory for wisdom");
  }
  if (status == TUTTI_OK)
    status = tt_wisdom_unpack(all, count, &context->wisdom);
  free(counts);
  free(all);
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
  const tt_outside_table *table;
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
