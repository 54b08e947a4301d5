/* tools/topo/svg_network.c - a network as a tree that grows to the right: switches, and the nodes on each. */
#include "network.h"
#include "svg.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

enum { ROW = 30, BOX = 22, WIDTH = 150, GAP = 50, MARGIN = 16, LETTER = 7, ROWS = 1000, NODES = 60 };

typedef struct tree {
  topo_subject *subject;
  topo_branches branches;
  FILE *out;
  int row_count, width;
} tree;

static void put_nodes(tree *of, int64_t at, int x, int y) {
  const tt_switches *network = of->subject->network;
  int64_t count = network->at[at].node_count;
  const char **name = tt_arena_alloc(&of->subject->arena, (size_t)count + 1, sizeof *name);
  if (!name || count == 0)
    return;
  for (int64_t n = 0; n < count; n++)
    name[n] = network->node[of->branches.node[at][n]].name;
  const char *all = topo_names_text(&of->subject->arena, name, count);
  const char *text =
      tt_arena_format(&of->subject->arena, "%" PRId64 ": %.*s%s", count, NODES, all, strlen(all) > NODES ? "..." : "");
  int end = x + (text ? (int)strlen(text) * LETTER : 0);
  of->width = end > of->width ? end : of->width;
  topo_svg_text(of->out, x, y + 4, "dim", text ? text : "");
}

/* Returns the height of its middle. Nodes on a switch that has others below it take a row of their own. */
static int put_switch(tree *of, int64_t at, int x) {
  const tt_switch *is = &of->subject->network->at[at];
  int first = -1, last = -1, middles = 0;
  int64_t below = of->branches.first_below[at];
  int own = MARGIN + of->row_count * ROW + BOX / 2;
  if (below < 0 || is->node_count > 0) {
    put_nodes(of, at, x + WIDTH + (below < 0 ? 2 * LETTER : GAP), own);
    of->row_count++;
  }
  for (; below >= 0; below = of->branches.next[below]) {
    int middle = put_switch(of, below, x + WIDTH + GAP);
    topo_svg_line(of->out, x + WIDTH + GAP / 2, middle, x + WIDTH + GAP, middle);
    first = first < 0 ? middle : first;
    last = middle;
    middles++;
  }
  int y = middles > 0 && is->node_count == 0 ? (first + last) / 2 : own;
  if (middles > 0) {
    topo_svg_line(of->out, x + WIDTH, y, x + WIDTH + GAP / 2, y);
    topo_svg_line(of->out, x + WIDTH + GAP / 2, y < first ? y : first, x + WIDTH + GAP / 2, last);
  }
  topo_svg_box(of->out, x, y - BOX / 2, WIDTH, BOX, "l3");
  const char *name = tt_arena_format(&of->subject->arena, "%.*s", (WIDTH - 8) / LETTER, is->name);
  topo_svg_text(of->out, x + 8, y + 4, "title", name ? name : "");
  of->width = x + WIDTH > of->width ? x + WIDTH : of->width;
  return y;
}

tutti_status topo_svg_network(topo_subject *subject, FILE *out, topo_svg_size *size) {
  tree of = {.subject = subject, .out = out};
  if (subject->network->count > ROWS)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%" PRId64 " switches are too many to draw; the limit is %d",
                   subject->network->count, ROWS);
  tutti_status status = topo_branches_find(subject->network, &subject->arena, &of.branches);
  if (status != TUTTI_OK)
    return status;
  for (int64_t at = of.branches.first_top; at >= 0; at = of.branches.next[at])
    put_switch(&of, at, MARGIN);
  *size = (topo_svg_size){.width = of.width + MARGIN, .height = of.row_count * ROW + 2 * MARGIN};
  return TUTTI_OK;
}
