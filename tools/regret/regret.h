/* tools/regret/regret.h - `tutti tune --regret`: how far what runs is from the best that the space holds. */
#ifndef TUTTI_TOOLS_REGRET_REGRET_H
#define TUTTI_TOOLS_REGRET_REGRET_H

#include "tools/tune/options.h"
#include "tools/tune/ranks.h"

typedef struct regret regret;

/* Of rank 0, before the job begins: reads all files. options: borrowed. */
tutti_status regret_open(const tune_options *options, regret **made);
void regret_close(regret *of); /* accepts NULL */
/* Measures what the file lacks, as rank 0 of all, and says what it all comes to. */
tutti_status regret_run(regret *of, tune_ranks *all);

#endif
