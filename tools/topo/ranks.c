/* tools/topo/ranks.c - `tutti topo --ranks`: where the ranks of a map lie, and the levels that lowering would see. */
#include "ranks.h"
#include "network.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

enum { GROUPS = 100 }; /* characters of a list of groups; a longer one is cut */

static tutti_status no_memory(int64_t rank_count) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " ranks", rank_count);
}

static tutti_status put_rank(const topo_subject *subject, int64_t rank, int64_t at, tt_locality *locality) {
  int64_t count = subject->machine ? subject->machine->core_count : subject->network->node_count;
  if (at >= count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "--ranks: rank %" PRId64 " is on %s %" PRId64 "; there are %" PRId64, rank,
                   subject->machine ? "core" : "node", at, count);
  *locality = (tt_locality){.package = -1, .numa = -1, .l3 = -1, .core = -1};
  if (subject->machine)
    tt_machine_core_locality(subject->machine, at, locality);
  else {
    locality->node = (uint64_t)at;
    tt_switches_locality(subject->network, at, locality);
  }
  return TUTTI_OK;
}

static void add_rank(topo_subject *subject, int64_t rank, int64_t at, const tt_locality *locality, topo_table *table) {
  tt_arena *arena = &subject->arena;
  const char *number = topo_number_text(arena, rank);
  if (subject->network)
    topo_table_add(
        table, (const char *[]){number, subject->network->node[at].name, topo_above_text(arena, subject->network, at)});
  else
    topo_table_add(table,
                   (const char *[]){
                       number, topo_number_text(arena, locality->core), topo_number_text(arena, locality->l3),
                       topo_number_text(arena, locality->numa < 0 ? -1 : subject->machine->numa[locality->numa].number),
                       topo_number_text(arena, locality->package)});
}

static void print_localities(topo_subject *subject, const int64_t *at, const tt_locality *locality,
                             int64_t rank_count) {
  static const char *const machine[] = {"rank", "core", "L3", "NUMA", "package", NULL};
  static const char *const network[] = {"rank", "node", "switches", NULL};
  topo_table table = topo_table_make(&subject->arena, subject->machine ? machine : network);
  for (int64_t r = 0; r < rank_count; r++)
    add_rank(subject, r, at[r], &locality[r], &table);
  topo_table_print(&table);
}

/* "0-3 4-7": the ranks of each group. */
static const char *groups_text(tt_arena *arena, const tt_topo_level *level, int64_t rank_count) {
  int32_t *rank = tt_arena_alloc(arena, (size_t)rank_count, sizeof *rank);
  const char *text = "";
  for (int64_t g = 0; rank && text && g < level->group_count && strlen(text) < GROUPS; g++) {
    int64_t count = 0;
    for (int64_t r = 0; r < rank_count; r++)
      if ((level->group_of ? level->group_of[r] : r) == g)
        rank[count++] = (int32_t)r;
    text = tt_arena_format(arena, "%s%s%s", text, g ? "  " : "", topo_list_text(arena, rank, count));
  }
  bool cut = text && strlen(text) >= GROUPS;
  text = cut ? tt_arena_format(arena, "%.*s...", GROUPS, text) : text;
  return text ? text : "";
}

static tutti_status print_levels(topo_subject *subject, const tt_locality *locality, int64_t rank_count) {
  tt_arena *arena = &subject->arena;
  tt_topo *topo;
  tutti_status status = tt_topo_build(arena, locality, rank_count, &topo);
  if (status != TUTTI_OK)
    return status;
  topo_table table = topo_table_make(arena, (const char *[]){"level", "groups", "ranks of each", NULL});
  for (int n = 0; n < topo->level_count; n++)
    topo_table_add(&table, (const char *[]){topo->level[n].name, topo_number_text(arena, topo->level[n].group_count),
                                            groups_text(arena, &topo->level[n], rank_count)});
  topo_table_print(&table);
  return TUTTI_OK;
}

tutti_status topo_print_ranks(topo_subject *subject, const char *map, int64_t rank_count) {
  int64_t said = tt_topo_map_size(map), count = rank_count ? rank_count : said;
  if (count <= 0 || count > INT32_MAX / 64)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "--ranks %s: write 4x8, 7,8,3,1 or 0,0,3,2:, or cyclic:4 and how many ranks with -n", map);
  int64_t *at = tt_arena_alloc(&subject->arena, (size_t)count, sizeof *at);
  tt_locality *locality = tt_arena_alloc(&subject->arena, (size_t)count, sizeof *locality);
  tutti_status status = at && locality ? tt_topo_parse_map(map, count, at) : no_memory(count);
  for (int64_t r = 0; r < count && status == TUTTI_OK; r++)
    status = put_rank(subject, r, at[r], &locality[r]);
  if (status != TUTTI_OK)
    return status;
  print_localities(subject, at, locality, count);
  return print_levels(subject, locality, count);
}
