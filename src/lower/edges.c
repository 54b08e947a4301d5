/* lower/edges.c - one primitive -> its tree, level by level, as far as it touches one rank.
 *
 * A multicast enters a level at its root's group (home), goes over the tree to the other groups' representatives, and
 * continues inside each group from there. Where another rank than the root represents home, the block first goes to it:
 *
 *     root --up--> representative of home ==tree==> representatives --inner level--> everyone else
 *
 * A reduction is the same backwards: inner level, tree toward home, and its representative hands the complete result
 * down to the root. Costs a rank O(levels + own edges) for each primitive. */
#include "lower/edges.h"

#include "lower/visit.h"

#include <assert.h>
#include <stdlib.h>

static void walk_visit(tt_walk *walk, int64_t me, tt_visit at);

/* ---- which subgroups the tree must reach ---- */

/* Of the subgroups, the first ones with ranks up to ends.upto; groups stand in the order of their lowest ranks. */
static int64_t count_reached(const tt_walk *walk, const tt_visit *at) {
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
static tt_tree tree_of(const tt_walk *walk, const tt_visit *at, int64_t home) {
  tt_tree tree = tt_lower_tree(walk->stage, at->level, at->group);
  tree.backward = walk->backward;
  if (at->ends.upto >= 0 && tree.level->labelling == TT_REFLECT && at->reached <= home + 1)
    tree.f = home + 1;
  return tree;
}

/* ---- visits ---- */

static tt_visit inside(const tt_visit *at, const tt_lower_level *level, int64_t index, int64_t root, int64_t base) {
  tt_visit inner = *at;
  inner.level++;
  inner.group = level->first[at->group] + index;
  assert(index >= 0 && inner.group < level->first[at->group + 1]);
  inner.root = root;
  inner.base = base;
  if (at->ends.upto >= 0 && level->highest[inner.group] <= at->ends.upto) {
    inner.ends.every = true;
    inner.ends.upto = -1;
  }
  return inner;
}

/* Between the root and another rank that represents its group. */
static void home_path(tt_walk *walk, int64_t me, const tt_visit *at, int64_t home, int64_t from, int64_t to,
                      int64_t base) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  tt_visit path = inside(at, level, home, from, base);
  path.ends = (tt_reach){.upto = -1, .one = to, .except = -1};
  if (at->kind == TT_PAYLOAD_PARTIAL) {
    path.kind = TT_PAYLOAD_COMPLETE;
    path.complete_level = at->level;
    path.complete_group = at->group;
  }
  walk_visit(walk, me, path);
}

/* The root gave its block to another rank that represents its group, and has it no less. */
static void add_holder(const tt_walk *walk, const tt_visit *at, int64_t home, tt_reach *ends) {
  bool here = ends->except >= 0 && tt_visit_home(walk, at, ends->except) == home;
  ends->others = ends->others || here;
  if (!here)
    ends->except = at->root;
}

/* Inside subgroup `sub` it matters who holds the block there, besides the rank that goes on with it. */
static void drop_holder(const tt_walk *walk, const tt_visit *at, int64_t sub, tt_visit *inner) {
  int64_t holder = inner->ends.except;
  if (!inner->ends.others && holder >= 0 && (holder == inner->root || tt_visit_home(walk, at, holder) != sub))
    inner->ends.except = -1;
}

/* Along a chain, blocks reach a group one after the other. Each goes on inside as it comes, so that inner levels work
 * beside the chain and not behind it; other shapes need few rounds, and blocks that come in any of them go on together.
 * Rounds after the tree's beginning. */
static int64_t comes(const tt_lower_level *level, const tt_tree *tree, int64_t v) {
  if (!level->params.shape->line)
    return level->rounds;
  return v > 0 ? tt_shape_round(tree, v) + 1 : 0;
}

/* The same backwards: inside, a partial result is made when the chain comes for it. Where rank order matters, what is
 * inside comes before all else. */
static int64_t is_due(const tt_walk *walk, const tt_visit *at, const tt_tree *tree, int64_t v) {
  if (!tree->level->shape->line || walk->shared || walk->ordered || tree->f < 2)
    return 0;
  return tt_visit_rounds(walk, at, tree) - 1 - (v < tree->f - 1 ? v : v - 1);
}

static void visit_away(tt_walk *walk, int64_t me, const tt_visit *at, int64_t home, int64_t mine, const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t leader = tt_visit_representative(walk, at, home), v = tt_shape_label(tree, mine, home);
  int64_t deep = walk->stage->time[at->level + 1], up = level->fold || level->striped ? deep : 0;
  bool gives_up = leader != at->root && mine == home;
  if (gives_up)
    home_path(walk, me, at, home, at->root, leader, at->base);
  if (v != 0 && !tt_visit_needs(walk, at, tree, home, v))
    return;
  tt_visit inner =
      inside(at, level, mine, tt_visit_representative(walk, at, mine), at->base + up + comes(level, tree, v));
  if (gives_up)
    add_holder(walk, at, home, &inner.ends);
  drop_holder(walk, at, mine, &inner);
  if (me == inner.root)
    tt_visit_edges(walk, me, at, tree, home, v);
  walk_visit(walk, me, inner);
}

static void visit_toward(tt_walk *walk, int64_t me, const tt_visit *at, int64_t home, int64_t mine,
                         const tt_tree *tree) {
  const tt_lower_level *level = &walk->stage->level[at->level];
  int64_t leader = tt_visit_representative(walk, at, home), v = tt_shape_label(tree, mine, home);
  int64_t mine_leader = tt_visit_representative(walk, at, mine), deep = walk->stage->time[at->level + 1];
  if (v == 0 || tt_visit_needs(walk, at, tree, home, v)) {
    walk_visit(walk, me, inside(at, level, mine, mine_leader, at->base + is_due(walk, at, tree, v)));
    if (me == mine_leader)
      tt_visit_edges(walk, me, at, tree, home, v);
  }
  if (leader != at->root && mine == home)
    home_path(walk, me, at, home, leader, at->root, at->base + deep + level->rounds);
}

/* Whether root and end lie together where another rank represents them: they do without it. */
static bool stays_home(const tt_walk *walk, const tt_visit *at, int64_t home) {
  const tt_lower_level *level = &walk->stage->level[at->level], *in = level->fold ? level + 1 : level;
  const int32_t *position = walk->stage->position;
  return in->group_at[position[at->root]] == in->group_at[position[at->ends.one]] &&
         tt_visit_representative(walk, at, home) != at->root;
}

/* In the round in which others go to the representative, if it is the end, or in which it goes on inside. */
static void visit_home(tt_walk *walk, int64_t me, const tt_visit *at, int64_t home) {
  const tt_lower_stage *stage = walk->stage;
  bool early = at->kind == TT_PAYLOAD_PARTIAL || at->ends.one == tt_visit_representative(walk, at, home);
  int64_t base = early ? at->base : at->base + stage->time[at->level] - stage->time[at->level + 1];
  if (tt_visit_home(walk, at, me) == home)
    walk_visit(walk, me, inside(at, &stage->level[at->level], home, at->root, base));
}

/* Whether the group has an end: its root's need not. */
static bool has_end(const tt_walk *walk, const tt_visit *at) {
  if (at->ends.every || at->ends.upto >= 0)
    return at->ends.every || at->reached > 0;
  if (at->ends.one >= 0)
    return at->ends.one != at->root && tt_visit_has(walk, at, at->ends.one);
  for (int64_t n = 0; n < walk->family->ends.list_count; n++)
    if (tt_visit_has(walk, at, walk->family->ends.list[n]))
      return true;
  return false;
}

static void walk_visit(tt_walk *walk, int64_t me, tt_visit at) {
  if (at.level == walk->stage->level_count)
    return;
  bool one = !at.ends.every && at.ends.upto < 0 && at.ends.one >= 0;
  at.reached = at.ends.upto < 0 ? 0 : count_reached(walk, &at);
  if (!has_end(walk, &at))
    return;
  int64_t home = tt_visit_home(walk, &at, at.root), mine = tt_visit_home(walk, &at, me);
  tt_tree tree = tree_of(walk, &at, home);
  assert(home >= 0 && home < tree.f && mine >= 0); /* both are in the group that is visited */
  if (mine >= tree.f)
    return;
  if (one && stays_home(walk, &at, home))
    visit_home(walk, me, &at, home);
  else if (at.kind == TT_PAYLOAD_PARTIAL)
    visit_toward(walk, me, &at, home, mine, &tree);
  else
    visit_away(walk, me, &at, home, mine, &tree);
}

/* ---- all of it ---- */

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
  assert(walk->stage->position[me] >= 0 && walk->stage->position[walk->root] >= 0); /* both take part */
  tt_ends_kind kind = walk->family->ends.kind;
  tt_visit at = {.root = walk->root,
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
