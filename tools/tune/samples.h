/* tools/tune/samples.h - all that was measured, not only what won: one line a task, in a file beside the wisdom. */
#ifndef TUTTI_TOOLS_TUNE_SAMPLES_H
#define TUTTI_TOOLS_TUNE_SAMPLES_H

#include "cell.h"

#include "job/job.h"

#define TUNE_SAMPLES_PATH (TT_WISDOM_PATH + 32)
/* Where they stand: of the wisdom "PATH.json" in "PATH.samples.jsonl". */
void tune_samples_path(const char *wisdom, char path[static TUNE_SAMPLES_PATH]);

/* The line of a task takes the place of the one that an equal region had. Others may do the same at the same time.
 * wisdom: the path of the wisdom. */
tutti_status tune_samples_write(const char *wisdom, const char *machine, const tt_region *region,
                                const tune_result *result);

#endif
