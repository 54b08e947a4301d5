/* tools/wrap/words.h - a command cut into words. */
#ifndef TUTTI_TOOLS_WRAP_WORDS_H
#define TUTTI_TOOLS_WRAP_WORDS_H

#include "base/base.h"

/* The words, with NULL behind them. NULL: a quote is not closed, or there is no memory (arena->failed). */
char **wrap_words(const char *command, int64_t rank, size_t *count, tt_arena *arena);

#endif
