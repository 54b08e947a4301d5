/* job/medium.h - what follows from TUTTI_MEDIUM, for those who call and those who look ahead. */
#ifndef TT_JOB_MEDIUM_H
#define TT_JOB_MEDIUM_H

#include "exec/exec.h"

tutti_status tt_medium_read(tt_medium *medium); /* TT_MEDIUM_COUNT: it says nothing */
bool tt_medium_publishes(tt_medium medium);
tt_media tt_medium_able(tt_medium medium);           /* beside slots and cells, where the transport can */
int64_t tt_medium_lend_bytes(tt_medium medium);      /* as in tt_thresholds; 0: as the option says */
int64_t tt_medium_read_bytes(tt_medium medium);      /* as in tt_shm_config; the same */
void tt_medium_apply(tt_medium medium, tt_run *run); /* once single_copy and refer_least are set */
tt_class tt_medium_class(tt_medium medium, const tt_plan *plan, const tt_run *run);

#endif
