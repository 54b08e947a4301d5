/* job/medium.c - TUTTI_MEDIUM: one medium for all that it can carry between ranks of a machine. */
#include "job/medium.h"

#include <string.h>

tutti_status tt_medium_read(tt_medium *medium) {
  const char *text = tt_options_get()->medium;
  for (*medium = 0; *medium < TT_MEDIUM_COUNT; (*medium)++)
    if (*medium != TT_MEDIUM_MESSAGE && strcmp(text, tt_medium_name[*medium]) == 0) /* between machines is no choice */
      return TUTTI_OK;
  return *text
             ? tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_MEDIUM is '%s'; it may be cell, slot, published, lent or read", text)
             : TUTTI_OK;
}

static bool lends_all(tt_medium medium) { return medium == TT_MEDIUM_LENT || medium == TT_MEDIUM_READ; }

bool tt_medium_publishes(tt_medium medium) { return medium != TT_MEDIUM_SLOT; }

tt_media tt_medium_able(tt_medium medium) { return lends_all(medium) || medium == TT_MEDIUM_COUNT ? TT_MEDIA_LENT : 0; }

int64_t tt_medium_lend_bytes(tt_medium medium) { return lends_all(medium) ? 1 : 0; }

int64_t tt_medium_read_bytes(tt_medium medium) { return medium == TT_MEDIUM_READ ? 1 : 0; }

void tt_medium_apply(tt_medium medium, tt_run *run) {
  bool free = medium == TT_MEDIUM_COUNT;
  run->single_copy = medium == TT_MEDIUM_READ || (free && run->single_copy);
  run->refer_least = free ? run->refer_least : 0;
}

tt_class tt_medium_class(tt_medium medium, const tt_plan *plan, const tt_run *run) {
  bool cells = medium == TT_MEDIUM_COUNT || medium == TT_MEDIUM_CELL;
  return cells ? tt_run_class(plan, run) : TT_CLASS_STREAMS;
}
