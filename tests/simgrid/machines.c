/* tests/simgrid/machines.c - the machines on which our simulator and others' are compared. */
#include "compare.h"

static const machine machines[] = {
    {"cluster, 1 NIC", "cluster-1", 4, 0, 0, "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;gamma=0.05",
     NULL},
    {"cluster, 4 NICs", "cluster-4", 8, 0, 0, "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=4;gamma=0.05",
     NULL},
    {"fat tree, full", "fat-tree", 4, 8, 0,
     "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;switch:alpha=3us,beta=0.08,links=8;gamma=0.05", NULL},
    {"fat tree, 2:1", "fat-tree-2", 4, 8, 0,
     "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;switch:alpha=3us,beta=0.08,links=4;gamma=0.05", NULL},
    {"Dragonfly", "dragonfly", 2, 4, 4,
     "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;switch:alpha=2.5us,beta=0.08,links=4;"
     "group:alpha=4us,beta=0.08,links=8;gamma=0.05",
     NULL},
    {"a slow node", "slow-node", 4, 0, 0,
     "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;gamma=0.05;node.3:beta=0.2;node.5:load=75%", NULL},
    {"loaded cores", "loaded", 4, 0, 0,
     "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;gamma=0.05;rank.9:load=90%;rank.40-43:load=50%", NULL},
    {"late ranks", "late", 4, 0, 0,
     "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;gamma=0.05;rank.0:late=5us;rank.33-35:late=40us",
     NULL},
    {"two calls", "two-calls", 4, 0, 0, "core:alpha=0.5us,beta=0.1;node:alpha=2us,beta=0.08,links=1;gamma=0.05",
     "[node:2-nomial,far/core:star]"},
};

const machine *machines_all(size_t *count) {
  *count = TT_COUNT(machines);
  return machines;
}

static tutti_status add_level(plans *all, const char *name, int64_t size) {
  int64_t *group_of = tt_arena_alloc(&all->arena, (size_t)all->topo->rank_count, sizeof *group_of);
  for (int64_t r = 0; r < all->topo->rank_count; r++)
    group_of[r] = r / size;
  return tt_topo_add(all->topo, &all->arena, name, group_of);
}

tutti_status machine_place(const machine *on, plans *all) {
  int64_t a_switch = on->per_node * on->nodes_a_switch;
  tutti_status status = TUTTI_OK;
  if (on->switches_a_group)
    status = add_level(all, "group", a_switch * on->switches_a_group);
  if (status == TUTTI_OK && on->nodes_a_switch)
    status = add_level(all, "switch", a_switch);
  return status == TUTTI_OK ? add_level(all, "node", on->per_node) : status;
}
