/* scripts/gen_environment.c - writes docs/environment.md from the options table, to stdout. */
#include "base/base.h"

#include <stdio.h>

static const char *const kinds[] = {
    [TT_OPTION_FLAG] = "0 or 1", [TT_OPTION_INT] = "number", [TT_OPTION_BYTES] = "size",
    [TT_OPTION_TIME] = "time",   [TT_OPTION_TEXT] = "text",
};

static void print_row(const tt_option *option) {
  const char *quote = option->fallback[0] == '\0' ? "" : "`";
  printf("| `%s` | %s | %s%s%s | %s |\n", option->name, kinds[option->kind], quote, option->fallback, quote,
         option->help);
}

int main(void) {
  puts(
      "# Environment variables\n\n"
      "`make docs` writes this page from the options table. A size is `64`, `8K`, `1M` or `2G` (powers of 1024). A "
      "time is\n"
      "`500us`, `20ms`, `3s`, or a number of seconds. Each process reads its environment once. tutti reports a number, "
      "size,\n"
      "time or flag that it cannot parse, and uses the default. A text that means nothing, such as a medium that there "
      "is not,\n"
      "ends the start of the job with an error; of `TUTTI_HEAP` it turns the heap off.\n\n"
      "The variables of `tutti mpirun` are in [mpi.md](mpi.md#the-report), `TUTTI_TORCH` is in "
      "[python.md](python.md).\n\n"
      "| variable | value | default | meaning |\n"
      "|---|---|---|---|");
  size_t count;
  const tt_option *table = tt_option_table(&count);
  for (size_t row = 0; row < count; row++)
    print_row(&table[row]);
  return 0;
}
