/* lower/walk.c - one primitive -> its tree, level by level, as far as it touches one rank.
 *
 * A multicast enters a level at its root's group (home), goes over the tree to the other groups' representatives, and continues
 * inside each group from there. Where another rank than the root represents home, the block first goes to it:
 *
 *     root --up--> representative of home ==tree==> representatives --inner level--> everyone else
 *
 * A reduction is the same backwards: inner level, tree toward home, and its representative hands the complete result down to
 * the root. Costs a rank O(levels + own edges) for each primitive. */
#include "lower/walk.h"

#include <stdlib.h>

/* The ends that one visit still has to reach. */
typedef struct reach {
  bool every;      /* every rank of the group, without `except` */
  int64_t one;     /* else this rank; -1: those in the family's list */
  int64_t except;  /* -1: none */
} reach;

/* Where a visit stands. */
typedef struct visit {
  int level;
  int64_t group; /* the group whose subgroups the tree joins */
  int64_t root;
  reach ends;
  int64_t base; /* time at which it begins */
  tt_payload_kind kind; /* BLOCK and COMPLETE go away from the root, PARTIAL toward it */
  int complete_level;   /* COMPLETE: of which level and group it is the result */
  int64_t complete_group;
} visit;

static void walk_visit(tt_walk *walk, int64_t me, visit at);

/* ---- groups ---- */

static int64_t home_of(const tt_walk *walk, const visit *at, int64_t rank) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  return level->group_at[walk->stage->position[rank]] - level->first[at->group];
}

/* The run of positions out of which `sub` (a group of this level) is represented: a folded one by its first subgroup. */
static void candidates(const tt_walk *walk, int level, int64_t sub, int64_t *start, int64_t *size) {
  const tt_lower_level *in = &walk->stage->level[level];
  if (in->fold) {
    const tt_lower_level *inner = in + 1;
    sub = inner->first[sub];
    in = inner;
  }
  *start = in->start[sub];
  *size = in->start[sub + 1] - *start;
}

/* The root's place in its group (in its subgroup where the level is folded), or the part that is striped. */
static int64_t place_of(const tt_walk *walk, const visit *at) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t position = walk->stage->position[at->root];
  if (level->striped)
    return walk->part;
  const tt_lower_level *in = level->fold ? level + 1 : level;
  return position - in->start[in->group_at[position]];
}

static int64_t representative(const tt_walk *walk, const visit *at, int64_t index) {
  int64_t start, size;
  candidates(walk, at->level, walk->stage->level[at->level].first[at->group] + index, &start, &size);
  return walk->stage->perm[start + place_of(walk, at) % size];
}

/* ---- which subgroups the tree must reach ---- */

static tt_tree tree_of(const tt_walk *walk, const visit *at) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  tt_tree tree = {&level->params, level->first[at->group + 1] - level->first[at->group], false};
  tree.backward = walk->backward;
  return tree;
}

static bool lists_under(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  const tt_ends *ends = &walk->family->ends;
  for (int64_t n = 0; n < ends->list_count; n++) {
    int64_t group = level->group_at[walk->stage->position[ends->list[n]]] - level->first[at->group];
    if (ends->list[n] != at->ends.except && group >= 0 && group < tree->f &&
        tt_shape_is_under(tree, v, tt_shape_label(tree, group, home)))
      return true;
  }
  return false;
}

/* Whether v holds nobody but the excepted rank and has nobody below. */
static bool only_excepted(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  if (at->ends.except < 0)
    return false;
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t sub = level->first[at->group] + tt_shape_group(tree, v, home), child = -1;
  bool alone = level->start[sub + 1] - level->start[sub] == 1 && walk->stage->perm[level->start[sub]] == at->ends.except;
  return alone && !tt_shape_next_child(tree, v, &child);
}

static bool in_group(const tt_walk *walk, const visit *at, int64_t rank) {
  if (at->level == 0)
    return true;
  const tt_lower_level *outer = &walk->stage->level[at->level - 1];
  return outer->group_at[walk->stage->position[rank]] == at->group;
}

static bool needed(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  if (at->ends.every)
    return !only_excepted(walk, at, tree, home, v);
  if (at->ends.one < 0)
    return lists_under(walk, at, tree, home, v);
  return in_group(walk, at, at->ends.one) &&
         tt_shape_is_under(tree, v, tt_shape_label(tree, home_of(walk, at, at->ends.one), home));
}

/* ---- edges ---- */

static void add_edge(tt_walk *walk, tt_edge edge) {
  if (walk->edge_count == walk->edge_room) {
    int64_t room = walk->edge_room ? 2 * walk->edge_room : 64;
    tt_edge *grown = tt_arena_alloc(walk->arena, (size_t)room, sizeof *grown);
    if (!grown)
      return;
    for (int64_t n = 0; n < walk->edge_count; n++)
      grown[n] = walk->edge[n];
    walk->edge = grown;
    walk->edge_room = room;
  }
  walk->edge[walk->edge_count++] = edge;
}

static tt_payload payload_of(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  tt_payload payload = {.block = walk->block, .kind = (uint16_t)at->kind, .owner = walk->owner};
  if (at->kind == TT_PAYLOAD_BLOCK)
    return payload;
  bool complete = at->kind == TT_PAYLOAD_COMPLETE;
  payload.level = (uint16_t)(complete ? at->complete_level : at->level);
  payload.group = (int32_t)(complete ? at->complete_group : at->group);
  if (walk->shared && walk->stage->level[payload.level].shares)
    payload.owner = -1 - walk->family_id;
  if (complete)
    return payload;
  tt_subset set = tt_shape_subset(tree, v, home);
  payload.first = set.first;
  payload.stride = set.stride;
  payload.count = set.count;
  return payload;
}

static bool may_publish(const tt_walk *walk, const visit *at, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  return walk->publish && level->publish && level->params.shape == TT_STAR && tree->f > 2 && at->ends.every &&
         at->ends.except < 0 && at->kind != TT_PAYLOAD_COMPLETE;
}

/* Messages of one round are taken in the order of their distance, so that not all go to one rank at once; readers of published
 * ones all take them in the order of their sources (any other order could leave two waiting for each other). */
static uint32_t tie_of(const tt_walk *walk, int64_t me, const tt_edge *edge, bool sends) {
  int64_t ranks = walk->stage->rank_total, distance = sends ? edge->peer - me : me - edge->peer;
  if (edge->published)
    return (uint32_t)(sends ? me : edge->peer);
  return (uint32_t)((distance + ranks) % ranks);
}

/* The edge between label v and its parent, as rank `me` at one of its ends sees it. */
static void tree_edge(tt_walk *walk, int64_t me, const visit *at, const tt_tree *tree, int64_t home, int64_t v,
                      bool me_is_child) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  bool away = at->kind != TT_PAYLOAD_PARTIAL;
  int64_t round = tt_shape_round(tree, v), other = me_is_child ? tt_shape_parent(tree, v) : v;
  int64_t up = level->fold || level->striped ? walk->stage->time[at->level + 1] : 0;
  int64_t time = away ? at->base + up + round
                      : at->base + walk->stage->time[at->level + 1] + level->rounds - 1 - round;
  tt_edge edge = {
      .time = (uint32_t)time,
      .peer = (int32_t)representative(walk, at, tt_shape_group(tree, other, home)),
      .level = (uint16_t)at->level,
      .way = (uint16_t)tt_shape_way(tree, v),
      .sends = away != me_is_child,
      .published = may_publish(walk, at, tree),
      .payload = payload_of(walk, at, tree, home, v),
  };
  edge.tie = tie_of(walk, me, &edge, edge.sends);
  add_edge(walk, edge);
}

static void tree_edges(tt_walk *walk, int64_t me, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  if (v != 0)
    tree_edge(walk, me, at, tree, home, v, true);
  if (!at->ends.every && at->ends.one >= 0) { /* one end: at most one child leads to it */
    int64_t end = tt_shape_label(tree, home_of(walk, at, at->ends.one), home);
    if (end != v)
      tree_edge(walk, me, at, tree, home, tt_shape_toward(tree, v, end), false);
    return;
  }
  for (int64_t child = -1; tt_shape_next_child(tree, v, &child);)
    if (needed(walk, at, tree, home, child))
      tree_edge(walk, me, at, tree, home, child, false);
}

/* ---- visits ---- */

static visit inside(const visit *at, const tt_lower_level *level, int64_t index, int64_t root, int64_t base) {
  visit inner = *at;
  inner.level++;
  inner.group = level->first[at->group] + index;
  inner.root = root;
  inner.base = base;
  return inner;
}

/* Between the root and another rank that represents its group. */
static void home_way(tt_walk *walk, int64_t me, const visit *at, int64_t home, int64_t from, int64_t to, int64_t base) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  visit way = inside(at, level, home, from, base);
  way.ends = (reach){false, to, -1};
  if (at->kind == TT_PAYLOAD_PARTIAL) {
    way.kind = TT_PAYLOAD_COMPLETE;
    way.complete_level = at->level;
    way.complete_group = at->group;
  }
  walk_visit(walk, me, way);
}

static void visit_away(tt_walk *walk, int64_t me, const visit *at, int64_t home, int64_t mine, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t leader = representative(walk, at, home), v = tt_shape_label(tree, mine, home);
  int64_t deep = walk->stage->time[at->level + 1], up = level->fold || level->striped ? deep : 0;
  bool reached = v == 0 || needed(walk, at, tree, home, v);
  visit rest = *at;
  if (leader != at->root && mine == home) {
    home_way(walk, me, at, home, at->root, leader, at->base);
    if (rest.ends.except < 0)
      rest.ends.except = at->root;
  }
  int64_t mine_leader = representative(walk, at, mine);
  if (reached && me == mine_leader)
    tree_edges(walk, me, &rest, tree, home, v);
  if (reached)
    walk_visit(walk, me, inside(&rest, level, mine, mine_leader, at->base + up + level->rounds));
}

static void visit_toward(tt_walk *walk, int64_t me, const visit *at, int64_t home, int64_t mine, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t leader = representative(walk, at, home), v = tt_shape_label(tree, mine, home);
  int64_t mine_leader = representative(walk, at, mine), deep = walk->stage->time[at->level + 1];
  if (v == 0 || needed(walk, at, tree, home, v)) {
    walk_visit(walk, me, inside(at, level, mine, mine_leader, at->base));
    if (me == mine_leader)
      tree_edges(walk, me, at, tree, home, v);
  }
  if (leader != at->root && mine == home)
    home_way(walk, me, at, home, leader, at->root, at->base + deep + level->rounds);
}

static void walk_visit(tt_walk *walk, int64_t me, visit at) {
  if (at.level == walk->stage->level_count)
    return;
  bool one_elsewhere = !at.ends.every && at.ends.one >= 0 && !in_group(walk, &at, at.ends.one);
  if (one_elsewhere)
    return;
  tt_tree tree = tree_of(walk, &at);
  int64_t home = home_of(walk, &at, at.root), mine = home_of(walk, &at, me);
  if (at.kind == TT_PAYLOAD_PARTIAL)
    visit_toward(walk, me, &at, home, mine, &tree);
  else
    visit_away(walk, me, &at, home, mine, &tree);
}

static int by_time(const void *a, const void *b) {
  const tt_edge *x = a, *y = b;
  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  if (x->sends != y->sends)
    return x->sends ? -1 : 1;
  return x->tie < y->tie ? -1 : x->tie > y->tie;
}

bool tt_walk_edges(tt_walk *walk, int64_t me) {
  bool lists = walk->family->ends.kind == TT_ENDS_LIST, one = walk->family->ends.kind == TT_ENDS_ONE;
  visit at = {.root = walk->root,
              .ends = {!lists && !one, one ? walk->one : -1, -1},
              .kind = walk->family->primitive == TT_REDUCTION ? TT_PAYLOAD_PARTIAL : TT_PAYLOAD_BLOCK};
  walk->edge_count = 0;
  walk_visit(walk, me, at);
  if (walk->edge_count > 1)
    qsort(walk->edge, (size_t)walk->edge_count, sizeof *walk->edge, by_time);
  return !walk->arena->failed;
}
