/* tune/store.h - files of what was measured. */
#ifndef TT_TUNE_STORE_H
#define TT_TUNE_STORE_H

#include "tune/tune.h"

#include <stdio.h>

/* Makes the folders of the path, and keeps others from changing the file. *lock: -1 where there are no locks. */
tutti_status tt_store_lock(const char *path, int *lock);
void tt_store_unlock(int lock);

/* Nothing has that name. Other reasons why it cannot be seen are none to begin anew. */
bool tt_store_is_missing(const char *path);

/* Writes all of it; false: it cannot. */
typedef bool (*tt_store_put)(FILE *file, const void *user);
/* The file is what `put` writes, all at once. */
tutti_status tt_store_replace(const char *path, tt_store_put put, const void *user);

#endif
