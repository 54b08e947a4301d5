/* tools/run/say.h - what the launcher itself says on stderr. Whoever reads that may be slow: what there is no room for
 * waits, not the launcher. */
#ifndef TUTTI_TOOLS_RUN_SAY_H
#define TUTTI_TOOLS_RUN_SAY_H

#include "job.h"

/* Goes out at once as far as there is room, and later with the other two. */
void run_say(run_job *job, const char *format, ...) TT_PRINTF(2, 3);
void run_say_more(run_job *job); /* as far as there is room */
void run_say_rest(run_job *job); /* waits for room: the ranks have ended */

#endif
