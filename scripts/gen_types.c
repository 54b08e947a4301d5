/* scripts/gen_types.c - writes docs/types.md from the tables of types and operators, to stdout. */
#include "dtype/dtype.h"

#include <ctype.h>
#include <stdio.h>

/* float32-int32 is TUTTI_FLOAT32_INT32. */
static void print_name(const char *name) {
  printf("| `%s` | `TUTTI_", name);
  for (; *name != '\0'; name++)
    putchar(*name == '-' ? '_' : toupper((unsigned char)*name));
  printf("` | ");
}

static void print_type(tutti_type type) {
  const tt_type_row *row = tt_dtype_type(type);
  print_name(row->name);
  printf("%zu | %zu | %s |", row->size, row->alignment, row->about);
  for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++)
    if (tutti_op_fits(op, type))
      printf(" %s", tutti_op_name(op));
  puts(" |");
}

static void print_op(tutti_op op) {
  const tt_op_row *row = tt_dtype_op(op);
  print_name(row->name);
  printf("%s |\n", row->about);
}

int main(void) {
  puts("# Types and operators\n"
       "\n"
       "`make docs` writes this page from the tables of `src/dtype/types.inc` and `types.c`. The first column is the\n"
       "name in commands and messages. `tutti_type_create` and `tutti_op_create` make your own types and operators.\n"
       "\n"
       "## Types\n"
       "\n"
       "| name | in C | bytes | alignment | what it is | operators |\n"
       "|---|---|---|---|---|---|");
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT; type++)
    print_type(type);
  puts("\n## Operators\n\n"
       "| name | in C | meaning |\n"
       "|---|---|---|");
  for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++)
    print_op(op);
  puts("\n"
       "A result has the same bits on every processor and for either order of two operands (`src/dtype/dtype.h` says "
       "which\n"
       "bits); for long double only on processors of one kind. The plan decides which operands meet in which order: "
       "the same\n"
       "plan gives the same bits. tutti does not read padding in long double and in pairs, and writes zeros there.");
  return 0;
}
