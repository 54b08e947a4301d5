/* tools/tune/rates.h - `tutti tune --fit`: the machine's rates, and the file that keeps them. */
#ifndef TUTTI_TOOLS_TUNE_RATES_H
#define TUTTI_TOOLS_TUNE_RATES_H

#include "options.h"
#include "ranks.h"

#include "job/job.h"

/* Where the rates stand: beside the wisdom. */
#define TUNE_RATES_PATH (TT_WISDOM_PATH + 32)
void tune_rates_path(const char *wisdom, char path[static TUNE_RATES_PATH]);
/* What that file has of this machine; *fits NULL: nothing. */
tutti_status tune_rates_read(const char *wisdom, const char *machine, tt_fits **fits);

/* Rank 0: fits for communicators of each number of ranks, printed and written; with --check, how well they do. */
tutti_status tune_rates_run(tune_ranks *all, const tune_options *options, const char *wisdom, const char *machine);

#endif
