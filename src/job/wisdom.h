/* job/wisdom.h - where the wisdom of this machine stands, and what of it this job uses. */
#ifndef TT_JOB_WISDOM_H
#define TT_JOB_WISDOM_H

#include "tune/tune.h"

enum { TT_WISDOM_PATH = 4096 };

/* The file that `option` names, as TUTTI_WISDOM; "": the one of this kind of machine in the user's cache:
 * ~/.cache/tutti/<machine>/wisdom.json. machine: its fingerprint, which is kept in the cache until the next boot, since
 * finding it out takes some ms. make: for who will write: the folder may not be there yet. TUTTI_ERR_UNSUPPORTED: there
 * is no such file, and the text says why. */
tutti_status tt_wisdom_find(const char *option, bool make, char path[static TT_WISDOM_PATH],
                            char machine[static TT_MACHINE_TEXT]);

/* What a job uses: *wisdom, or NULL where there is none, or none of this machine, which is left alone with a line in
 * the log. An error only where TUTTI_WISDOM names a file that cannot be used. */
tutti_status tt_wisdom_load(tt_wisdom **wisdom, char path[static TT_WISDOM_PATH]);

#endif
