/* tools/tune/search.h - the best parameters of all tasks, which become the machine's wisdom. */
#ifndef TUTTI_TOOLS_TUNE_SEARCH_H
#define TUTTI_TOOLS_TUNE_SEARCH_H

#include "options.h"
#include "ranks.h"

#include "job/wisdom.h"
#include "tune/tune.h"

typedef struct tune_search { /* the files */
  char path[TT_WISDOM_PATH], machine[TT_MACHINE_TEXT];
  tt_wisdom *known; /* what the file has */
  tt_fits *fits;    /* rates; NULL: none were measured */
} tune_search;

/* name: what TUTTI_WISDOM says; "": nothing. Closed in any case. */
tutti_status tune_search_open(tune_search *of, const char *name);
void tune_search_close(tune_search *of);
/* Measures what the file lacks, writes each winner, and tells people. */
tutti_status tune_search_run(tune_search *of, tune_ranks *all, const tune_options *options);

#endif
