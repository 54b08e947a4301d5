/* tools/plan/text.h - short texts of `tutti plan`. */
#ifndef TUTTI_TOOLS_PLAN_TEXT_H
#define TUTTI_TOOLS_PLAN_TEXT_H

#include "work.h"

/* "2-nomial"; "chain". */
/* "far"; "-" where it does not matter. */
const char *plan_order_text(const tt_level_params *level);
/* "2-nomial, xor, far" */
void plan_level_text(const tt_level_params *level, char *text, size_t size);
/* "allreduce of 8 ranks on 2 nodes" */
void plan_title(const plan_work *work, char *text, size_t size);

#endif
