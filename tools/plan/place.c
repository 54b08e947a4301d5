/* tools/plan/place.c - the topology that a command line describes: ranks on nodes, nodes on switches. */
#include "place.h"

#include "api/api.h"

#include <inttypes.h>
#include <stdio.h>

/* The run of each of `count` things: `run_count` runs, the first ones longer by one where it does not divide. */
static int64_t run_of(int64_t count, int64_t run_count, int64_t n) {
  int64_t rest = count % run_count, size = count / run_count;
  return n < rest * (size + 1) ? n / (size + 1) : rest + (n - rest * (size + 1)) / size;
}

/* Switches stand above even nodes, the outermost first: "switch2", "switch". */
static tutti_status add_switches(const plan_options *options, const int64_t *node_of, tt_arena *arena, tt_topo *topo) {
  int64_t ranks = options->problem.rank_count, *map = tt_arena_alloc(arena, (size_t)ranks, sizeof *map);
  tutti_status status = map ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " ranks", ranks);
  for (int n = 0; n < options->switches.levels && status == TUTTI_OK; n++) {
    char name[TT_TOPO_NAME] = "switch";
    if (n + 1 < options->switches.levels)
      snprintf(name, sizeof name, "switch%hhu", (unsigned char)(options->switches.levels - n));
    for (int64_t r = 0; r < ranks; r++) {
      int64_t count = options->node_count, at = node_of[r];
      for (int m = options->switches.levels - 1; m >= n; count = options->switches.count[m--])
        at = run_of(count, options->switches.count[m], at);
      map[r] = at;
    }
    status = tt_topo_add(topo, arena, name, map);
  }
  return status;
}

static tutti_status add_nodes(const plan_options *options, tt_arena *arena, tt_topo *topo) {
  int64_t ranks = options->problem.rank_count;
  int64_t *map = tt_arena_alloc(arena, (size_t)ranks, sizeof *map); /* zeros: one node */
  if (!map)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " ranks", ranks);
  tutti_status status = options->map ? tt_topo_parse_map(options->map, ranks, map) : TUTTI_OK;
  for (int64_t r = 0; r < ranks && options->node_count; r++)
    map[r] = run_of(ranks, options->node_count, r);
  if (status == TUTTI_OK)
    status = add_switches(options, map, arena, topo);
  if (status == TUTTI_OK)
    status = tt_topo_add(topo, arena, "node", map);
  if (status == TUTTI_OK)
    topo->reach_of = plan_nodes(topo)->group_of;
  return status;
}

tutti_status plan_place(const plan_options *options, tt_arena *arena, tt_topo **topo) {
  tt_medium medium = TT_MEDIUM_COUNT;
  *topo = options->topo;
  if (*topo)
    return TUTTI_OK;
  *topo = tt_topo_flat(arena, options->problem.rank_count);
  if (!*topo)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a topology");
  tutti_status status = tt_medium_read(&medium);
  if (status != TUTTI_OK)
    return status;
  (*topo)->level[0].publish = options->publish && tt_medium_publishes(medium);
  return options->map || options->node_count || options->as_job ? add_nodes(options, arena, *topo) : TUTTI_OK;
}

const tt_topo_level *plan_nodes(const tt_topo *topo) {
  return topo->level_count > 1 ? &topo->level[topo->level_count - 2] : NULL;
}
