/* tools/wrap/rank.h - which rank a process is. */
#ifndef TUTTI_TOOLS_WRAP_RANK_H
#define TUTTI_TOOLS_WRAP_RANK_H

#include "base/base.h"

/* This process's rank, as its launcher says it in the environment, and the number of ranks; 0: not known. */
tutti_status wrap_find_rank(int64_t *rank, int64_t *rank_count);
/* false: the text has anything but digits, or is too large. */
bool wrap_read_rank(const char *text, int64_t *rank);

#endif
