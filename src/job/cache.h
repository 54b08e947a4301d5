/* job/cache.h - what jobs keep in the user's cache, ~/.cache/tutti, to start sooner the next time. */
#ifndef TT_JOB_CACHE_H
#define TT_JOB_CACHE_H

#include "tune/tune.h"

#define TT_CACHE_PATH 4096

/* false: this user has none. */
bool tt_cache_folder(char folder[static TT_CACHE_PATH]);

/* This machine's fingerprint: finding it out takes some ms, so that it is kept until the next boot. folder: "": it
 * cannot be kept. That of a machine which hwloc's variables pretend is not. */
tutti_status tt_cache_machine(const char *folder, char machine[static TT_MACHINE_TEXT]);

/* Packed wisdom (tt_wisdom_pack), as rank 0 of a job like this one made it of two files that are as they were: to
 * understand them takes many ms. job: of all else that decides what is packed. */
typedef struct tt_cache_entry {
  char line[3 * TT_CACHE_PATH]; /* all that has to be as it was; "": nothing can be kept */
  char file[TT_CACHE_PATH + 16];
} tt_cache_entry;
/* Before the files are read. They may be missing. */
void tt_cache_find(uint64_t job, const char *wisdom, const char *lessons, tt_cache_entry *entry);
bool tt_cache_recall(const tt_cache_entry *entry, int64_t **numbers, int64_t *count);
void tt_cache_keep(const tt_cache_entry *entry, const int64_t *numbers, int64_t count);

#endif
