/* tools/wrap/wrap.h - ranks that start under another program, such as gdb: what --wrap and `tutti wrap` share.
 *
 *     0,4-7:gdb --args     ranks 0 and 4 to 7 become `gdb --args PROGRAM ARGUMENTS`
 *     all:strace -c        every rank; `strace -c` alone says the same
 *
 * Such a text is a rule. Of several rules that name a rank, the last counts. */
#ifndef TUTTI_TOOLS_WRAP_H
#define TUTTI_TOOLS_WRAP_H

#include "base/base.h"

typedef struct wrap_list {
  const char **rule; /* borrowed, well formed */
  size_t count;
} wrap_list;

/* An error's text, tutti_last_error(), begins with the rule in quotes. */
tutti_status wrap_add(wrap_list *list, const char *rule);
/* Whether a job of so many ranks has all ranks that the rules name. */
tutti_status wrap_check(const wrap_list *list, int64_t rank_count);
/* The command that the rank starts under; NULL: none. */
const char *wrap_of(const wrap_list *list, int64_t rank);
/* What the rank executes: `program` itself, or that command's words and then `program`. NULL: no memory. */
char **wrap_command(const wrap_list *list, int64_t rank, char **program, tt_arena *arena);
void wrap_finish(wrap_list *list);

/* `tutti wrap`. The arguments from the command's own name on. Returns the exit code, unless it has become the program.
 */
int tt_tool_wrap(int argc, char **argv);

#endif
