/* tools/topo/placements.c - placements of the ranks by rule: block, cyclic, reversed, by switch, across switches. */
#include "placements.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static tutti_status no_memory(const topo_placements *all) {
  return tt_fail(TUTTI_ERR_MEMORY, "no memory to place %" PRId64 " ranks", all->rank_count);
}

static int64_t *numbers(const topo_placements *all) {
  return tt_arena_alloc(all->arena, (size_t)all->rank_count, sizeof(int64_t));
}

/* ---- levels ---- */

static tt_topo *make_topo(const topo_placements *all, const int64_t *node_of) {
  tt_locality *locality = tt_arena_alloc(all->arena, (size_t)all->rank_count, sizeof *locality);
  tt_topo *topo;
  for (int64_t r = 0; r < all->rank_count && locality; r++) {
    locality[r] = (tt_locality){.node = (uint64_t)node_of[r], .package = -1, .numa = -1, .l3 = -1, .core = -1};
    if (all->network)
      tt_switches_locality(all->network, node_of[r], &locality[r]);
  }
  if (!locality || tt_topo_build(all->arena, locality, all->rank_count, &topo) != TUTTI_OK)
    return NULL;
  topo->reach_of = topo->level[topo->level_count - 2].group_of; /* "node" */
  topo->level[topo->level_count - 1].publish = true;
  return topo;
}

/* Groups are numbered by their first ranks, so equal placements have equal numbers. */
static bool is_same(const tt_topo *a, const tt_topo *b) {
  bool same = a->level_count == b->level_count;
  for (int n = 0; n + 1 < a->level_count && same; n++)
    same =
        memcmp(a->level[n].group_of, b->level[n].group_of, (size_t)a->rank_count * sizeof *a->level[n].group_of) == 0;
  return same;
}

tutti_status topo_placements_add(topo_placements *all, const char *name, topo_launch launch, const int64_t *node_of) {
  tt_topo *topo = make_topo(all, node_of);
  int64_t *kept = numbers(all);
  if (!topo || !kept)
    return no_memory(all);
  for (int n = 0; n < all->count; n++)
    if (is_same(all->at[n].topo, topo)) {
      topo_placement *is = &all->at[n];
      if (!is->name) {
        is->name = name;
        is->launch = launch;
      }
      return TUTTI_OK;
    }
  memcpy(kept, node_of, (size_t)all->rank_count * sizeof *kept);
  all->at[all->count++] = (topo_placement){.name = name, .launch = launch, .node_of = kept, .topo = topo};
  return TUTTI_OK;
}

/* ---- orders of slots ---- */

/* What stands above a node, outermost first; all nodes alike: nothing. */
static int above(const topo_placements *all, int64_t node, int32_t path[static TT_TOPO_SWITCHES]) {
  return all->network ? tt_switches_above(all->network, node, path) : 0;
}

int topo_placements_near(const topo_placements *all, int64_t node, int64_t other) {
  int32_t a[TT_TOPO_SWITCHES], b[TT_TOPO_SWITCHES];
  int x = above(all, node, a), y = above(all, other, b), shared = 0;
  while (shared < x && shared < y && a[shared] == b[shared])
    shared++;
  return node == other ? TT_TOPO_SWITCHES + 1 : shared;
}

static int by_number(const void *x, const void *y) {
  int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

/* Slots in the order of their nodes' numbers, which is that of a launcher's list of hosts. */
static int64_t *in_order(const topo_placements *all, const int64_t *node_of) {
  int64_t *slot = numbers(all);
  if (!slot)
    return NULL;
  memcpy(slot, node_of, (size_t)all->rank_count * sizeof *slot);
  qsort(slot, (size_t)all->rank_count, sizeof *slot, by_number);
  return slot;
}

/* Each next slot is of the node that is nearest to the one before, the first of them; or, far, the farthest. */
static int64_t *chained(const topo_placements *all, const int64_t *slot, bool far) {
  int64_t count = all->rank_count, *out = numbers(all), last = 0;
  bool *taken = tt_arena_alloc(all->arena, (size_t)count, sizeof *taken);
  if (!out || !taken)
    return NULL;
  for (int64_t n = 0; n < count; n++) {
    int64_t best = -1;
    for (int64_t s = 0; s < count && n > 0; s++) {
      bool first = best < 0;
      if (taken[s] || (!first && slot[s] == slot[best]))
        continue;
      if (slot[s] == slot[last]) { /* the node is not full */
        best = s;
        break;
      }
      int near = topo_placements_near(all, slot[s], slot[last]);
      int most = first ? 0 : topo_placements_near(all, slot[best], slot[last]);
      best = first || (far ? near < most : near > most) ? s : best;
    }
    last = n > 0 ? best : 0;
    taken[last] = true;
    out[n] = slot[last];
  }
  return out;
}

static int64_t *cyclic(const topo_placements *all, const int64_t *slot) {
  int64_t count = all->rank_count, *out = numbers(all), placed = 0;
  for (int64_t turn = 0; out && placed < count; turn++) /* each node's slot of this number */
    for (int64_t s = 0, first = 0; s < count; s++) {
      first = s > 0 && slot[s] != slot[s - 1] ? s : first;
      if (s - first == turn)
        out[placed++] = slot[s];
    }
  return out;
}

static int64_t *reversed(const topo_placements *all, const int64_t *slot) {
  int64_t *out = numbers(all);
  for (int64_t n = 0; out && n < all->rank_count; n++)
    out[n] = slot[all->rank_count - 1 - n];
  return out;
}

const int64_t *topo_placements_slots(const topo_placements *all) {
  const int64_t *slot = in_order(all, all->at[0].node_of);
  return slot ? chained(all, slot, false) : NULL;
}

tutti_status topo_placements_make(tt_arena *arena, const tt_switches *network, const int64_t *node_of,
                                  int64_t rank_count, topo_placements *all) {
  *all = (topo_placements){.arena = arena, .network = network, .rank_count = rank_count};
  tutti_status status = topo_placements_add(all, NULL, TOPO_BY_FILE, node_of);
  if (status != TUTTI_OK)
    return status;
  all->at[0].is_current = true;
  const int64_t *slot = in_order(all, node_of);
  if (!slot)
    return no_memory(all);
  const struct {
    const char *name;
    topo_launch launch;
    const int64_t *node_of;
  } rule[] = {{"block", TOPO_BLOCK, slot},
              {"cyclic", TOPO_CYCLIC, cyclic(all, slot)},
              {"reversed", TOPO_BY_FILE, reversed(all, slot)},
              {"by switch", TOPO_BY_FILE, chained(all, slot, false)},
              {"across switches", TOPO_BY_FILE, chained(all, slot, true)}};
  for (size_t n = 0; n < TT_COUNT(rule) && status == TUTTI_OK; n++)
    status = rule[n].node_of ? topo_placements_add(all, rule[n].name, rule[n].launch, rule[n].node_of) : no_memory(all);
  return status;
}
