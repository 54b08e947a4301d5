/* tools/bench/help.h - the help of `tutti bench`, and lists of what may be named. */
#ifndef TUTTI_TOOLS_BENCH_HELP_H
#define TUTTI_TOOLS_BENCH_HELP_H

#include <stdio.h>

void bench_help_print(void);
void bench_help_print_collectives(FILE *to);
void bench_help_print_types(FILE *to);
void bench_help_print_ops(FILE *to);

#endif
