/* lower/walk.c - one primitive -> its tree, level by level, as far as it touches one rank.
 *
 * A multicast enters a level at its root's group (home), goes over the tree to the other groups' representatives, and
 * continues inside each group from there. Where another rank than the root represents home, the block first goes to it:
 *
 *     root --up--> representative of home ==tree==> representatives --inner level--> everyone else
 *
 * A reduction is the same backwards: inner level, tree toward home, and its representative hands the complete result
 * down to the root. Costs a rank O(levels + own edges) for each primitive. */
#include "lower/walk.h"

#include <stdlib.h>
#include <string.h>

/* The ends that one visit still has to reach. */
typedef struct reach {
  bool every;     /* every rank of the group */
  int64_t upto;   /* else those up to this rank, if it is not -1 */
  int64_t one;    /* else this rank; -1: those in the family's list */
  int64_t except; /* has the block already; -1: nobody */
  bool others;    /* so have others */
} reach;

#define BY_SOURCE ((uint32_t)1 << 31)

/* Where a visit stands. */
typedef struct visit {
  int level;
  int64_t group; /* the group whose subgroups the tree joins */
  int64_t root;
  reach ends;
  int64_t reached;      /* ends up to a rank: the first `reached` subgroups have some */
  int64_t base;         /* time at which it begins */
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

/* The level inside which a group of `level` is represented: a folded one by its first subgroup. */
static const tt_lower_level *represented_in(const tt_lower_stage *stage, int level) {
  return &stage->level[stage->level[level].fold ? level + 1 : level];
}

/* The number of the member, in every group that has so many, that represents it. */
static int64_t place_of(const tt_lower_stage *stage, int number, int64_t root, int64_t part) {
  const tt_lower_level *in = represented_in(stage, number);
  int64_t position = stage->position[root];
  return stage->level[number].striped ? part : position - in->start[in->group_at[position]];
}

int64_t tt_walk_representative(const tt_lower_stage *stage, int number, int64_t outer, int64_t root, int64_t part,
                               int64_t index) {
  const tt_lower_level *level = &stage->level[number], *in = represented_in(stage, number);
  int64_t sub = level->first[outer] + index, place = place_of(stage, number, root, part);
  if (level->fold)
    sub = in->first[sub];
  int64_t size = in->start[sub + 1] - in->start[sub];
  return stage->perm[in->start[sub] + (place < size ? place : place % size)];
}

static int64_t representative(const tt_walk *walk, const visit *at, int64_t index) {
  return tt_walk_representative(walk->stage, at->level, at->group, at->root, walk->part, index);
}

/* ---- which subgroups the tree must reach ---- */

/* Of the subgroups, the first ones with ranks up to ends.upto; groups stand in the order of their lowest ranks. */
static int64_t count_reached(const tt_walk *walk, const visit *at) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t low = level->first[at->group], high = level->first[at->group + 1];
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (walk->stage->perm[level->start[middle]] <= at->ends.upto)
      low = middle + 1;
    else
      high = middle;
  }
  return low - level->first[at->group];
}

/* Where reflect has ends in no group after the root's, the tree ends at the first group: labels do not go around. */
static tt_tree tree_of(const tt_walk *walk, const visit *at, int64_t home) {
  tt_tree tree = tt_lower_tree(walk->stage, at->level, at->group);
  tree.backward = walk->backward;
  if (at->ends.upto >= 0 && tree.level->labelling == TT_REFLECT && at->reached <= home + 1)
    tree.f = home + 1;
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

/* Whether v is represented by the excepted rank, which has the block. */
static bool has_block(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  return at->ends.except >= 0 && representative(walk, at, tt_shape_group(tree, v, home)) == at->ends.except;
}

static bool in_group(const tt_walk *walk, const visit *at, int64_t rank) {
  if (at->level == 0)
    return true;
  const tt_lower_level *outer = &walk->stage->level[at->level - 1];
  return outer->group_at[walk->stage->position[rank]] == at->group;
}

static bool needed(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  if (at->ends.every)
    return true;
  if (at->ends.upto >= 0)
    return tt_shape_meets(tree, v, home, at->reached);
  if (at->ends.one < 0)
    return lists_under(walk, at, tree, home, v);
  return in_group(walk, at, at->ends.one) &&
         tt_shape_is_under(tree, v, tt_shape_label(tree, home_of(walk, at, at->ends.one), home));
}

/* ---- edges ---- */

/* Room for one more edge; NULL where memory is exhausted. */
static tt_edge *new_edge(tt_walk *walk) {
  if (walk->edge_count == walk->edge_room) {
    int64_t room = walk->edge_room ? 2 * walk->edge_room : 64;
    tt_edge *grown = tt_arena_alloc(walk->arena, (size_t)room, sizeof *grown);
    if (!grown)
      return NULL;
    if (walk->edge_count)
      memcpy(grown, walk->edge, (size_t)walk->edge_count * sizeof *grown);
    walk->edge = grown;
    walk->edge_room = room;
  }
  return &walk->edge[walk->edge_count++];
}

/* Which of the ranks below a set of subgroups are ends: 0 for all of them. */
static int64_t cut_of(const tt_walk *walk, const visit *at, const tt_subset *set) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t last = set->first + (set->count - 1) * set->stride;
  bool whole = at->ends.upto < 0 || (set->stride > 0 && last < at->reached &&
                                     level->highest[level->first[at->group] + last] <= at->ends.upto);
  return whole ? 0 : at->ends.upto + 1;
}

static tt_payload payload_of(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  tt_payload payload = {.block = walk->block, .kind = (uint16_t)at->kind, .owner = walk->owner};
  if (at->kind == TT_PAYLOAD_BLOCK)
    return payload;
  bool complete = at->kind == TT_PAYLOAD_COMPLETE;
  payload.level = (uint16_t)(complete ? at->complete_level : at->level);
  payload.group = (int32_t)(complete ? at->complete_group : at->group);
  if (walk->shared && (walk->family->ends.kind == TT_ENDS_RANGE || walk->stage->level[payload.level].shares))
    payload.owner = -1 - walk->family_id;
  if (complete) {
    payload.cut = walk->family->ends.kind == TT_ENDS_RANGE ? walk->one + 1 : 0;
    return payload;
  }
  if (payload.owner >= 0) { /* one tree: a label says it */
    payload.first = v;
    return payload;
  }
  tt_subset set = tt_shape_subset(tree, v, home);
  payload.first = set.first;
  payload.stride = set.stride;
  payload.count = set.count;
  payload.cut = cut_of(walk, at, &set);
  return payload;
}

static bool may_publish(const tt_walk *walk, const visit *at, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  return walk->publish && level->publish && level->params.shape == TT_STAR && tree->f > 2 && at->ends.every &&
         at->ends.except < 0 && at->kind != TT_PAYLOAD_COMPLETE;
}

/* Messages of one round are taken in the order of their distance, so that not all go to one rank at once; readers of
 * published, shared or ordered ones all take them in the order of their sources (any other order could leave two
 * waiting for each other), after the others.
 */
static uint32_t tie_of(const tt_walk *walk, int64_t me, const tt_edge *edge) {
  int64_t ranks = walk->stage->rank_total, distance = edge->sends ? edge->peer - me : me - edge->peer;
  bool in_turn = edge->payload.kind == TT_PAYLOAD_PARTIAL && (edge->payload.owner < 0 || walk->ordered);
  if (edge->published || in_turn)
    return BY_SOURCE + (uint32_t)walk->stage->position[edge->sends ? me : edge->peer];
  return (uint32_t)(distance < 0 ? distance + ranks : distance);
}

/* Along a chain each member's share has lanes of its own: where a group has fewer members, one rank carries several
 * shares, and all have to move at once, lest the last ones begin when the first are through. */
static int64_t way_of(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t v) {
  if (tree->level->shape == TT_CHAIN)
    return place_of(walk->stage, at->level, at->root, walk->part);
  return tt_shape_way(tree, v);
}

/* A reduction's, of this tree: with ends up to a rank it begins as early as its own tree can. */
static int64_t rounds_of(const tt_walk *walk, const visit *at, const tt_tree *tree) {
  return at->ends.upto >= 0 ? tt_shape_rounds(tree) : walk->stage->level[at->level].rounds;
}

/* The edge between label v and its parent, as rank `me` at one of its ends sees it. */
static void tree_edge(tt_walk *walk, int64_t me, const visit *at, const tt_tree *tree, int64_t home, int64_t v,
                      bool me_is_child) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  bool away = at->kind != TT_PAYLOAD_PARTIAL;
  int64_t round = tt_shape_round(tree, v), other = me_is_child ? tt_shape_parent(tree, v) : v;
  int64_t up = level->fold || level->striped ? walk->stage->time[at->level + 1] : 0;
  int64_t back = rounds_of(walk, at, tree) - 1 - round;
  int64_t time = away ? at->base + up + round : at->base + walk->stage->time[at->level + 1] + back;
  tt_edge *edge = new_edge(walk);
  if (!edge)
    return;
  *edge = (tt_edge){
      .time = (uint32_t)time,
      .peer = (int32_t)representative(walk, at, tt_shape_group(tree, other, home)),
      .level = (uint16_t)at->level,
      .way = (uint16_t)way_of(walk, at, tree, v),
      .sends = away != me_is_child,
      .published = may_publish(walk, at, tree),
      .payload = payload_of(walk, at, tree, home, v),
  };
  edge->tie = tie_of(walk, me, edge);
}

static void tree_edges(tt_walk *walk, int64_t me, const visit *at, const tt_tree *tree, int64_t home, int64_t v) {
  if (v != 0 && me != at->ends.except)
    tree_edge(walk, me, at, tree, home, v, true);
  if (!at->ends.every && at->ends.upto < 0 && at->ends.one >= 0) { /* one end: at most one child leads to it */
    int64_t end = tt_shape_label(tree, home_of(walk, at, at->ends.one), home);
    if (end != v)
      tree_edge(walk, me, at, tree, home, tt_shape_toward(tree, v, end), false);
    return;
  }
  for (int64_t child = -1; tt_shape_next_child(tree, v, &child);)
    if (needed(walk, at, tree, home, child) && !has_block(walk, at, tree, home, child))
      tree_edge(walk, me, at, tree, home, child, false);
}

/* ---- visits ---- */

static visit inside(const visit *at, const tt_lower_level *level, int64_t index, int64_t root, int64_t base) {
  visit inner = *at;
  inner.level++;
  inner.group = level->first[at->group] + index;
  inner.root = root;
  inner.base = base;
  if (at->ends.upto >= 0 && level->highest[inner.group] <= at->ends.upto) {
    inner.ends.every = true;
    inner.ends.upto = -1;
  }
  return inner;
}

/* Between the root and another rank that represents its group. */
static void home_way(tt_walk *walk, int64_t me, const visit *at, int64_t home, int64_t from, int64_t to, int64_t base) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  visit way = inside(at, level, home, from, base);
  way.ends = (reach){.upto = -1, .one = to, .except = -1};
  if (at->kind == TT_PAYLOAD_PARTIAL) {
    way.kind = TT_PAYLOAD_COMPLETE;
    way.complete_level = at->level;
    way.complete_group = at->group;
  }
  walk_visit(walk, me, way);
}

/* The root gave its block to another rank that represents its group, and has it no less. */
static void add_holder(const tt_walk *walk, const visit *at, int64_t home, reach *ends) {
  bool here = ends->except >= 0 && home_of(walk, at, ends->except) == home;
  ends->others = ends->others || here;
  if (!here)
    ends->except = at->root;
}

/* Inside subgroup `sub` it matters who holds the block there, besides the rank that goes on with it. */
static void drop_holder(const tt_walk *walk, const visit *at, int64_t sub, visit *inner) {
  int64_t holder = inner->ends.except;
  if (!inner->ends.others && holder >= 0 && (holder == inner->root || home_of(walk, at, holder) != sub))
    inner->ends.except = -1;
}

/* Along a chain, blocks reach a group one after the other. Each goes on inside as it comes, so that inner levels work
 * beside the chain and not behind it; other shapes need few rounds, and blocks that come in any of them go on together.
 * Rounds after the tree's beginning. */
static int64_t comes(const tt_lower_level *level, const tt_tree *tree, int64_t v) {
  if (level->params.shape != TT_CHAIN)
    return level->rounds;
  return v > 0 ? tt_shape_round(tree, v) + 1 : 0;
}

/* The same backwards: inside, a partial result is made when the chain comes for it. Where rank order matters, what is
 * inside comes before all else. */
static int64_t is_due(const tt_walk *walk, const visit *at, const tt_tree *tree, int64_t v) {
  if (tree->level->shape != TT_CHAIN || walk->shared || walk->ordered || tree->f < 2)
    return 0;
  return rounds_of(walk, at, tree) - 1 - (v < tree->f - 1 ? v : v - 1);
}

static void visit_away(tt_walk *walk, int64_t me, const visit *at, int64_t home, int64_t mine, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t leader = representative(walk, at, home), v = tt_shape_label(tree, mine, home);
  int64_t deep = walk->stage->time[at->level + 1], up = level->fold || level->striped ? deep : 0;
  bool gives_up = leader != at->root && mine == home;
  if (gives_up)
    home_way(walk, me, at, home, at->root, leader, at->base);
  if (v != 0 && !needed(walk, at, tree, home, v))
    return;
  visit inner = inside(at, level, mine, representative(walk, at, mine), at->base + up + comes(level, tree, v));
  if (gives_up)
    add_holder(walk, at, home, &inner.ends);
  drop_holder(walk, at, mine, &inner);
  if (me == inner.root)
    tree_edges(walk, me, at, tree, home, v);
  walk_visit(walk, me, inner);
}

static void visit_toward(tt_walk *walk, int64_t me, const visit *at, int64_t home, int64_t mine, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t leader = representative(walk, at, home), v = tt_shape_label(tree, mine, home);
  int64_t mine_leader = representative(walk, at, mine), deep = walk->stage->time[at->level + 1];
  if (v == 0 || needed(walk, at, tree, home, v)) {
    walk_visit(walk, me, inside(at, level, mine, mine_leader, at->base + is_due(walk, at, tree, v)));
    if (me == mine_leader)
      tree_edges(walk, me, at, tree, home, v);
  }
  if (leader != at->root && mine == home)
    home_way(walk, me, at, home, leader, at->root, at->base + deep + level->rounds);
}

/* Whether root and end lie together where another rank represents them: they do without it. */
static bool stays_home(const tt_walk *walk, const visit *at, int64_t home) {
  const tt_lower_level *level = &walk->stage->level[at->level], *in = level->fold ? level + 1 : level;
  const int32_t *position = walk->stage->position;
  return in->group_at[position[at->root]] == in->group_at[position[at->ends.one]] &&
         representative(walk, at, home) != at->root;
}

/* In the round in which others go to the representative, if it is the end, or in which it goes on inside. */
static void visit_home(tt_walk *walk, int64_t me, const visit *at, int64_t home) {
  const tt_lower_stage *stage = walk->stage;
  bool early = at->kind == TT_PAYLOAD_PARTIAL || at->ends.one == representative(walk, at, home);
  int64_t base = early ? at->base : at->base + stage->time[at->level] - stage->time[at->level + 1];
  if (home_of(walk, at, me) == home)
    walk_visit(walk, me, inside(at, &stage->level[at->level], home, at->root, base));
}

/* Whether the group has an end: its root's need not. */
static bool has_end(const tt_walk *walk, const visit *at) {
  if (at->ends.every || at->ends.upto >= 0)
    return at->ends.every || at->reached > 0;
  if (at->ends.one >= 0)
    return at->ends.one != at->root && in_group(walk, at, at->ends.one);
  for (int64_t n = 0; n < walk->family->ends.list_count; n++)
    if (in_group(walk, at, walk->family->ends.list[n]))
      return true;
  return false;
}

static void walk_visit(tt_walk *walk, int64_t me, visit at) {
  if (at.level == walk->stage->level_count)
    return;
  bool one = !at.ends.every && at.ends.upto < 0 && at.ends.one >= 0;
  at.reached = at.ends.upto < 0 ? 0 : count_reached(walk, &at);
  if (!has_end(walk, &at))
    return;
  int64_t home = home_of(walk, &at, at.root), mine = home_of(walk, &at, me);
  tt_tree tree = tree_of(walk, &at, home);
  if (mine >= tree.f)
    return;
  if (one && stays_home(walk, &at, home))
    visit_home(walk, me, &at, home);
  else if (at.kind == TT_PAYLOAD_PARTIAL)
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

#define FEW 8

static void sort_edges(tt_edge *edge, int64_t count) {
  if (count > FEW) {
    qsort(edge, (size_t)count, sizeof *edge, by_time);
    return;
  }
  for (int64_t n = 1; n < count; n++)
    for (int64_t at = n; at > 0 && by_time(&edge[at - 1], &edge[at]) > 0; at--) {
      tt_edge other = edge[at];
      edge[at] = edge[at - 1];
      edge[at - 1] = other;
    }
}

bool tt_walk_edges(tt_walk *walk, int64_t me) {
  tt_ends_kind kind = walk->family->ends.kind;
  visit at = {.root = walk->root,
              .ends = {.every = kind == TT_ENDS_ALL,
                       .upto = kind == TT_ENDS_RANGE ? walk->one : -1,
                       .one = kind == TT_ENDS_ONE ? walk->one : -1,
                       .except = -1},
              .kind = walk->family->primitive == TT_REDUCTION ? TT_PAYLOAD_PARTIAL : TT_PAYLOAD_BLOCK};
  walk->edge_count = 0;
  walk_visit(walk, me, at);
  sort_edges(walk->edge, walk->edge_count);
  return !walk->arena->failed;
}
