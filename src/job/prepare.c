/* job/prepare.c - what rank 0 gives to all ranks of its wisdom: what is of no use to this job is left out, and what the
 * lessons say of its communicators is added. */
#include "job/cache.h"
#include "job/context.h"
#include "job/wisdom.h"

#include <stdlib.h>
#include <string.h>

/* With what the lessons say of the communicators that there may be, as far as this rank knows nodes. */
static tutti_status pack(const tutti_context *context, tt_wisdom_found *found) {
  tt_region shape[TT_SHAPES];
  if (found->wisdom)
    found->wisdom->inferred_count = 0;
  tutti_status status = tt_wisdom_infer(found, shape, tt_shapes_list(context, shape));
  free(found->numbers);
  found->numbers = NULL;
  return status == TUTTI_OK ? tt_wisdom_pack(found->wisdom, &found->numbers, &found->number_count) : status;
}

/* Leaves out what no call of the job goes by. */
static void keep(const tutti_context *context, tt_wisdom *wisdom) {
  if (tt_wisdom_insists())
    wisdom->outside_count = 0;
  tt_wisdom_keep_ranks(wisdom, context->size);
  tt_wisdom_keep_wins(wisdom);
}

/* From the files, as they are now. */
static tutti_status load(const tutti_context *context, tt_wisdom_found *found) {
  tutti_status status = tt_wisdom_load(found);
  if (found->wrong)
    tt_log(TT_LOG_WARN, "wisdom is not used: %s", found->why);
  if (*found->lessons_why)
    tt_log(TT_LOG_WARN, "what was learned is not used: %s", found->lessons_why);
  if (found->wisdom)
    keep(context, found->wisdom);
  bool some = found->lessons || (found->wisdom && found->wisdom->count + found->wisdom->outside_count > 0);
  return status == TUTTI_OK && some ? pack(context, found) : status;
}

/* Of all that decides what is packed, besides the files: those of another machine are left alone.
 * Collectives are numbered by this build. */
static uint64_t hash_job(const tutti_context *context, const char *machine) {
  tt_region shape[TT_SHAPES];
  int64_t count = tt_shapes_list(context, shape), facts[] = {context->size, tt_wisdom_insists() != NULL, count};
  uint64_t hash = tt_hash(tt_hash(0, machine, strlen(machine)), facts, sizeof facts);
  for (int64_t n = 0; n < count; n++) {
    const int64_t each[] = {shape[n].rank_count, shape[n].node_count, shape[n].ranks_per_node, shape[n].nic_count};
    hash = tt_hash(hash, each, sizeof each);
  }
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    const char *name = tt_compose_info((tt_collective)c).name;
    hash = tt_hash(hash, name, strlen(name));
  }
  return hash;
}

tutti_status tt_wisdom_prepare(const tutti_context *context, tt_wisdom_found *found) {
  tt_cache_entry entry = {.line = ""};
  char path[TT_WISDOM_PATH], lessons[TT_WISDOM_PATH + 32], machine[TT_MACHINE_TEXT];
  if (tt_wisdom_find(tt_options_get()->choice.wisdom, false, path, machine) == TUTTI_OK) {
    tt_lessons_path(path, lessons);
    tt_cache_find(hash_job(context, machine), path, lessons, &entry);
  }
  tt_fail_clear();
  if (tt_cache_recall(&entry, &found->numbers, &found->number_count))
    return TUTTI_OK;
  tutti_status status = load(context, found);
  if (status == TUTTI_OK && !found->wrong && !*found->lessons_why)
    tt_cache_keep(&entry, found->numbers, found->number_count);
  return status;
}

tutti_status tt_wisdom_prepare_again(const tutti_context *context, tt_wisdom_found *found) {
  if (found->wisdom || found->lessons)
    return pack(context, found);
  tt_wisdom_found_finish(found); /* it was recalled for a job of other shapes */
  return load(context, found);
}
