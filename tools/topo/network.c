/* tools/topo/network.c - `tutti topo` of a network: the tree of switches, and which nodes hang on each. */
#include "network.h"
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIST = 100 }; /* characters of a list of nodes; a longer one is cut */

tutti_status topo_branches_find(const tt_switches *network, tt_arena *arena, topo_branches *branches) {
  size_t count = (size_t)network->count;
  *branches = (topo_branches){.first_below = tt_arena_alloc(arena, count, sizeof(int64_t)),
                              .next = tt_arena_alloc(arena, count, sizeof(int64_t)),
                              .node = tt_arena_alloc(arena, count, sizeof(int64_t *)),
                              .first_top = -1};
  int64_t *taken = tt_arena_alloc(arena, count, sizeof *taken);
  int64_t *all = tt_arena_alloc(arena, (size_t)network->node_count, sizeof *all);
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " switches", network->count);
  for (int64_t n = 0; n < network->count; n++) {
    branches->first_below[n] = -1;
    branches->node[n] = all;
    all += network->at[n].node_count;
  }
  for (int64_t n = network->count - 1; n >= 0; n--) { /* so the first of the file is the first in the list */
    int32_t above = network->at[n].above;
    int64_t *first = above < 0 ? &branches->first_top : &branches->first_below[above];
    branches->next[n] = *first;
    *first = n;
  }
  for (int64_t n = 0; n < network->node_count; n++) {
    int32_t leaf = network->node[n].leaf;
    branches->node[leaf][taken[leaf]++] = n;
  }
  return TUTTI_OK;
}

static const char *nodes_text(topo_subject *subject, const topo_branches *branches, int64_t at) {
  const tt_switches *network = subject->network;
  int64_t count = network->at[at].node_count;
  const char **name = tt_arena_alloc(&subject->arena, (size_t)count + 1, sizeof *name);
  for (int64_t n = 0; name && n < count; n++)
    name[n] = network->node[branches->node[at][n]].name;
  const char *text = name ? topo_names_text(&subject->arena, name, count) : "";
  const char *cut = strlen(text) > LIST ? tt_arena_format(&subject->arena, "%.*s...", LIST, text) : text;
  return cut ? cut : "";
}

const char *topo_above_text(tt_arena *arena, const tt_switches *network, int64_t node) {
  int32_t above[TT_TOPO_SWITCHES];
  int count = tt_switches_above(network, node, above);
  const char *text = network->at[above[0]].name;
  for (int n = 1; n < count && text; n++)
    text = tt_arena_format(arena, "%s / %s", text, network->at[above[n]].name);
  return text ? text : "";
}

tutti_status topo_print_own_switches(tt_arena *arena) {
  const char *path = tt_options_get()->topology;
  char host[256] = "";
  tt_switches *network;
  int64_t node;
  if (!path[0])
    return TUTTI_OK;
  gethostname(host, sizeof host - 1);
  tutti_status status = tt_switches_read(path, arena, &network);
  if (status == TUTTI_OK)
    status = tt_switches_find(network, host, &node);
  if (status == TUTTI_OK)
    printf("\nswitches  %s, by %s\n", topo_above_text(arena, network, node), path);
  return status;
}

/* Returns how many switches stand one above the other here. */
static int add_switches(topo_subject *subject, const topo_branches *branches, int64_t first, int depth,
                        topo_table *table) {
  int most = 0;
  for (int64_t at = first; at >= 0; at = branches->next[at]) {
    const tt_switch *is = &subject->network->at[at];
    const char *name = tt_arena_format(&subject->arena, "%*s%s", 2 * depth, "", is->name);
    topo_table_add(table, (const char *[]){name ? name : "", topo_number_text(&subject->arena, is->node_count),
                                           nodes_text(subject, branches, at)});
    int below = add_switches(subject, branches, branches->first_below[at], depth + 1, table);
    most = below + 1 > most ? below + 1 : most;
  }
  return most;
}

tutti_status topo_print_network(topo_subject *subject) {
  tt_arena *arena = &subject->arena;
  const tt_switches *network = subject->network;
  topo_branches branches;
  topo_table table = topo_table_make(arena, (const char *[]){"switch", "nodes", "", NULL});
  tutti_status status = topo_branches_find(network, arena, &branches);
  if (status != TUTTI_OK)
    return status;
  int levels = add_switches(subject, &branches, branches.first_top, 0, &table);
  printf("network   %s, %s, %s\n", topo_count_text(arena, network->node_count, "node", "nodes"),
         topo_count_text(arena, network->count, "switch", "switches"),
         topo_count_text(arena, levels, "level of them", "levels of them"));
  topo_table_print(&table);
  return TUTTI_OK;
}
