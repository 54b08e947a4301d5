/* tools/regret/report.h - what people read. */
#ifndef TUTTI_TOOLS_REGRET_REPORT_H
#define TUTTI_TOOLS_REGRET_REPORT_H

#include "chooser.h"

void regret_print_head(const regret_chooser *chooser, int count);
void regret_print_row(const regret_result *result);
void regret_print_disturbed(const tt_region *region, double others);
/* Over all that these choosers were asked for. */
void regret_print_summary(const regret_chooser *chooser, int count, regret_result *const *result, int64_t result_count);
/* "allreduce, 2 ranks, 96K" */
void regret_format_region(const tt_region *region, char text[static 96]);

#endif
