/* tools/learn/learn.h - `tutti tune --learn`: from what was measured to who decides where nothing was. */
#ifndef TUTTI_TOOLS_LEARN_LEARN_H
#define TUTTI_TOOLS_LEARN_LEARN_H

#include "tools/tune/options.h"
#include "tools/tune/ranks.h"

/* Rank 0: the model is asked for communicators of each number of ranks, where the machine's rates are known; then
 * everybody is compared on the samples beside the wisdom, and learned.json and learned.all.json are written. */
tutti_status learn_run(tune_ranks *all, const tune_options *options, const char *wisdom, const char *machine);
/* The same without the model: no rank is needed. Nothing is printed or written where too little was measured. */
tutti_status learn_again(const char *wisdom, const char *machine);

#endif
