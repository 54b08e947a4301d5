/* api/wisdom.c - rank 0's wisdom becomes that of all ranks: it may be the only one that can read the file, and files of
 * several machines differ. */
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
  if (status == TUTTI_OK && found.wisdom && found.wisdom->count > 0)
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
