/* topo/switches/plain.c - a switch file of tutti's own: a line for each node, or for several, with the switches above
 * it, the nearest first.
 *
 *   # node       its switch, the one above, ...
 *   node[0-15]   leaf0 spine0
 *   node[16-31]  leaf1 spine0 */
#include "topo/switches/builder.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#define SPACE " \t\r"

/* What stands above a switch is said in each line that names it, and the same in all. */
static void put_above(tt_switches_builder *b, int32_t below, int32_t above, bool is_new) {
  tt_switch *at = b->out->at;
  if (b->status != TUTTI_OK)
    return;
  assert(below >= 0 && below < b->out->count && above < b->out->count);
  if (is_new) {
    at[below].above = above;
    b->line_of[below] = b->line;
  } else if (at[below].above != above)
    tt_switches_fail(b, "the switch above '%s' is %s%s%s; in line %" PRId64 " it is %s%s%s", at[below].name,
                     above < 0 ? "none" : "'", above < 0 ? "" : at[above].name, above < 0 ? "" : "'", b->line_of[below],
                     at[below].above < 0 ? "none" : "'", at[below].above < 0 ? "" : at[at[below].above].name,
                     at[below].above < 0 ? "" : "'");
}

static void add_node(tt_switches_builder *b, const char *name, void *leaf) {
  tt_switches_add_node(b, name, *(const int32_t *)leaf);
}

static void read_line(tt_switches_builder *b, char *line) {
  char *rest = NULL, *nodes = strtok_r(line, SPACE, &rest), *name = strtok_r(NULL, SPACE, &rest);
  int32_t leaf = -1, below = -1;
  bool below_is_new = false;
  if (!name)
    tt_switches_fail(b, "'%.64s' must be followed by a switch", nodes);
  for (; name && b->status == TUTTI_OK; name = strtok_r(NULL, SPACE, &rest)) {
    bool is_new = tt_switches_known(b, name) < 0;
    int32_t number = tt_switches_add(b, name);
    if (below >= 0)
      put_above(b, below, number, below_is_new);
    leaf = leaf < 0 ? number : leaf;
    below = number;
    below_is_new = is_new;
  }
  if (below >= 0)
    put_above(b, below, -1, below_is_new);
  if (b->status == TUTTI_OK)
    tt_switches_expand(b, nodes, add_node, &leaf);
}

void tt_switches_read_plain(tt_switches_builder *b, char *text) {
  for (char *line; (line = tt_switches_next_line(b, &text, false));)
    read_line(b, line);
}
