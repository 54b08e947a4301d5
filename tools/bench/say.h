/* tools/bench/say.h - what is said while it runs, beside the table. */
#ifndef TUTTI_TOOLS_BENCH_SAY_H
#define TUTTI_TOOLS_BENCH_SAY_H

#include "base/base.h"

#include <stdio.h>

/* Errors: functions return 0 or -1; whoever decides an error prints it. Returns -1 after a red line on stderr. */
int bench_fail(const char *format, ...) TT_PRINTF(1, 2);
void bench_be_quiet(void); /* this process is a rank whose errors others say, too */
bool bench_is_quiet(void);

/* One line on stderr, replaced by the next where that is a terminal. */
void bench_progress(const char *format, ...) TT_PRINTF(1, 2);
void bench_progress_clear(void);
/* A comment line in the table: what is not compared. */
void bench_print_remark(const char *format, ...) TT_PRINTF(1, 2);

/* Colour, where the stream is a terminal. */
#define BENCH_RED "31"
#define BENCH_GREEN "32"
void bench_paint(FILE *stream, const char *colour);
void bench_unpaint(FILE *stream);

#endif
